package sidecar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testdata(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// describe prints all of a Sidecar, for golden files.
func describe(t *testing.T, s Sidecar) string {
	t.Helper()
	var b strings.Builder
	for _, in := range s.Inbounds {
		fmt.Fprintf(&b, "inbound %s / %s\n  %s %s %s stat %q", in.Listener, in.Chain, in.Address, in.Protocol, in.Transport, in.StatPrefix)
		for _, flag := range []struct {
			set  bool
			name string
		}{{in.Permissive, "permissive"}, {in.Incomplete, "incomplete"}, {in.Unguarded(), "unguarded"}, {in.UseRemoteAddress, "use_remote_address"}} {
			if flag.set {
				b.WriteString(" " + flag.name)
			}
		}
		b.WriteString("\n")
		if in.Protocol != policy.TCP {
			fmt.Fprintf(&b, "  normalization %+v, XFCC %s\n", in.Normalization, in.ForwardClientCert)
		}
		if in.Match != nil {
			fmt.Fprintf(&b, "  match %s\n", compact(t, in.Match))
		}
		for _, g := range in.Guards {
			fmt.Fprintf(&b, "  guard %+v\n", g)
		}
		for _, m := range in.Filters.Messages() {
			fmt.Fprintf(&b, "  %s %s\n", m.ProtoReflect().Descriptor().FullName(), compact(t, m))
		}
	}
	for _, u := range s.Unknown {
		fmt.Fprintf(&b, "%s %s\n", u.Kind, u)
	}
	for _, skipped := range s.Skipped {
		fmt.Fprintf(&b, "skipped %s/%s: %s\n", skipped.Listener, skipped.Chain, skipped.Reason)
	}
	return b.String()
}

// compact prints a message on one line, without protojson's random white space.
func compact(t *testing.T, m proto.Message) string {
	t.Helper()
	raw, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func readDump(t *testing.T, data []byte) Sidecar {
	t.Helper()
	s, err := Dump(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Dumps in the forms that released control planes make, written by hand.
func TestDumpOfOtherMeshes(t *testing.T) {
	t.Parallel()
	for _, mesh := range []string{"kuma", "istio"} {
		t.Run(mesh, func(t *testing.T) {
			t.Parallel()
			golden.Compare(t, mesh+".golden", describe(t, readDump(t, testdata(t, mesh+".json"))))
		})
	}
}

// packable holds that a filter can be sent.
func packable(t *testing.T, m proto.Message) {
	t.Helper()
	if _, err := proto.Marshal(m); err != nil {
		t.Error(err)
	}
}

const prefix = "type.googleapis.com/"

// filter is a filter with its typed configuration; the fields may be empty.
func filter(name, message, fields string) string {
	if fields != "" {
		fields = ", " + fields
	}
	return fmt.Sprintf(`{"name": %q, "typed_config": {"@type": %q%s}}`, name, prefix+message, fields)
}

func discovered(name, message string) string {
	return fmt.Sprintf(`{"name": %q, "config_discovery": {"config_source": {"ads": {}}, "type_urls": [%q]}}`, name, prefix+message)
}

func l4(fields string) string { return filter("rbac", networkRBAC, `"stat_prefix": "s", `+fields) }

func l7(fields string) string { return filter("rbac", httpRBAC, fields) }

// manager is a connection manager with the filters and a router, and the other
// fields given.
func manager(fields string, filters ...string) string {
	filters = append(filters, filter("router", router, ""))
	return filter("hcm", httpManager, fmt.Sprintf(`"stat_prefix": "h", %s "http_filters": [%s]`, fields, strings.Join(filters, ",")))
}

// serving is an inbound listener with one chain of filters.
func serving(filters ...string) string { return listening("", "", filters...) }

func listening(listener, chain string, filters ...string) string {
	return fmt.Sprintf(`{"@type": "type.googleapis.com/envoy.config.listener.v3.Listener", "name": "in", "traffic_direction": "INBOUND",
		"address": {"socket_address": {"address": "10.0.0.1", "port_value": 80}}, %s "filter_chains": [{"name": "c", %s "filters": [%s]}]}`,
		listener, chain, strings.Join(filters, ","))
}

// wholeDump is a dump with the listener, its cluster and the other parts.
func wholeDump(listener string, parts ...string) string {
	parts = append(parts, `{"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "static_clusters": [{"cluster": {"name": "c",
		"load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 80}}}}]}]}}}]}`)
	parts = append(parts, fmt.Sprintf(`{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump",
		"dynamic_listeners": [{"name": "in", "active_state": {"listener": %s}}]}`, listener))
	return fmt.Sprintf(`{"configs": [%s]}`, strings.Join(parts, ","))
}

const (
	anybody   = `{"any": true}`
	identity  = `{"input": {"name": "san", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput"}}, "value_match": {"exact": "spiffe://a/b"}}`
	onMatch   = `"on_match": {"action": {"name": "act", "typed_config": {"@type": "type.googleapis.com/envoy.config.rbac.v3.Action", "name": "p"}}}`
	denyAll   = `"rules": {}`
	permitAll = `"rules": {"policies": {"p": {"permissions": [{"any": true}], "principals": [{"any": true}]}}}`
)

func policies(permission, principal, more string) string {
	return fmt.Sprintf(`"rules": {"policies": {"p": {"permissions": [%s], "principals": [%s]%s}}}`, permission, principal, more)
}

func matching(predicate, outcome string) string {
	return fmt.Sprintf(`"matcher": {"matcher_list": {"matchers": [{"predicate": {"single_predicate": %s}, %s}]}}`, predicate, outcome)
}

func asking(message, fields string) string {
	return strings.Replace(identity, "envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput\"", message+"\""+fields, 1)
}

// BenchmarkDump reads a dump of a thousand inbounds with a matcher of a hundred
// identities each.
func BenchmarkDump(b *testing.B) {
	var matchers []string
	for i := range 100 {
		matchers = append(matchers, fmt.Sprintf(`{"predicate": {"single_predicate": %s}, %s}`, strings.Replace(identity, "spiffe://a/b", fmt.Sprintf("spiffe://a/%d", i), 1), onMatch))
	}
	listener := serving(l4(`"matcher": {"matcher_list": {"matchers": [` + strings.Join(matchers, ",") + `]}}`))
	var listeners []string
	for i := range 1000 {
		listeners = append(listeners, fmt.Sprintf(`{"name": "in%d", "active_state": {"listener": %s}}`, i, strings.Replace(listener, `"in"`, fmt.Sprintf(`"in%d"`, i), 1)))
	}
	data := []byte(`{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamic_listeners": [` + strings.Join(listeners, ",") + `]}]}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Dump(data)
		if err != nil || len(s.Inbounds) != 1000 {
			b.Fatalf("%d inbounds, %v", len(s.Inbounds), err)
		}
	}
}
