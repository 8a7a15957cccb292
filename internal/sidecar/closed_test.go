package sidecar

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/adaptive_concurrency/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/admission_control/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/bandwidth_limit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/buffer/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cors/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/csrf/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/health_check/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/mongo_proxy/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/messages"
)

var closedLists = []messages.Closed{known, passing, knownCluster, knownTLS, knownAgent, knownKuma, knownHealthCheck}

func TestClosedListsNameFields(t *testing.T) {
	t.Parallel()
	// What the list of refusals reads is let pass unread behind RBAC.
	for _, list := range append(slices.Clip(closedLists), knownRefusals, knownState, knownAnonymous, knownReaching, knownTunnels, knownTunnelEnd, knownTunneled, tunneledChain) {
		if err := list.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestFieldsThatNoListReads writes the fields of all messages that stand in fields which the lists let pass unread, and of the
// filters that are notes behind RBAC. A field that is not on a list is told, but a new field of one of these messages would pass: ask of it who gets to the workload, as
// whom, and with which path, host and headers, before the golden file is written again.
func TestFieldsThatNoListReads(t *testing.T) {
	t.Parallel()
	listed := map[protoreflect.FullName]bool{}
	for _, list := range closedLists {
		for message := range list {
			listed[protoreflect.FullName(message)] = true
		}
	}
	unread := map[protoreflect.FullName]string{}
	var walk func(d protoreflect.MessageDescriptor)
	walk = func(d protoreflect.MessageDescriptor) {
		if d == nil || unread[d.FullName()] != "" || listed[d.FullName()] || d.ParentFile().Package() == "google.protobuf" {
			return
		}
		fields := make([]string, d.Fields().Len())
		for i := range fields {
			fields[i] = string(d.Fields().Get(i).Name())
		}
		unread[d.FullName()] = " " + strings.Join(fields, " ")
		for i := range fields {
			walk(messageOf(d.Fields().Get(i)))
		}
	}
	for name := range containedFilters {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
		if err != nil {
			t.Fatal(err)
		}
		walk(d.(protoreflect.MessageDescriptor))
	}
	for _, list := range closedLists {
		for name, reasons := range list {
			d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
			if err != nil {
				t.Fatal(err)
			}
			for reason, names := range reasons {
				for _, field := range strings.Fields(names) {
					if reason != messages.Read {
						walk(messageOf(d.(protoreflect.MessageDescriptor).Fields().ByName(protoreflect.Name(field))))
					}
				}
			}
		}
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(unread)) {
		fmt.Fprintf(&out, "%s:%s\n", name, unread[name])
	}
	golden.Compare(t, "unread-messages.golden", out.String())
}

// messageOf returns the message that a field holds, nil for none. An entry of a map holds its value.
func messageOf(field protoreflect.FieldDescriptor) protoreflect.MessageDescriptor {
	if field.IsMap() {
		field = field.MapValue()
	}
	return field.Message()
}
