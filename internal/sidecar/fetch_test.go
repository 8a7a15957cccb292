package sidecar

import (
	"net"
	"strings"
	"testing"

	xdstypev3 "github.com/cncf/xds/go/xds/type/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// Fetch gets everything that the listeners refer to, and reads it like a dump.
func TestFetch(t *testing.T) {
	t.Parallel()
	listener := serving(discovered("four", networkRBAC), manager(rds, discovered("rbac", httpRBAC)))
	config := routes("r", "*", routeTo("/admin", ", "+perRoute("")))
	four, seven := filter("four", networkRBAC, `"stat_prefix": "s", `+denyAll), l7(permitAll)
	p := serve(t, map[resource.Type][]types.Resource{
		resource.ListenerType: {decodeAs(t, listener, &listenerv3.Listener{})},
		resource.RouteType:    {decodeAs(t, config, &routev3.RouteConfiguration{})},
		resource.ExtensionConfigType: {
			decodeAs(t, four, &corev3.TypedExtensionConfig{}), decodeAs(t, seven, &corev3.TypedExtensionConfig{}),
		},
	})
	s, err := fetchFrom(t, p.target)
	if err != nil {
		t.Fatal(err)
	}
	want := readDump(t, []byte("["+strings.Join([]string{
		listener, typed("envoy.config.route.v3.RouteConfiguration", config),
		typed("envoy.config.core.v3.TypedExtensionConfig", four), typed("envoy.config.core.v3.TypedExtensionConfig", seven),
	}, ",")+"]"))
	if want.Inbounds[0].Incomplete || len(want.Inbounds[0].Filters.Messages()) != 3 {
		t.Fatalf("the dump has %+v", want)
	}
	if diff := cmp.Diff(describe(t, want), describe(t, s)); diff != "" {
		t.Errorf("(-dump +fetched):\n%s", diff)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if diff := cmp.Diff([]string{"Bearer t0ken"}, p.tokens); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
	for _, typeURL := range []string{resource.ListenerType, resource.RouteType, resource.ExtensionConfigType} {
		if p.acks[typeURL] == 0 {
			t.Errorf("%s was not acknowledged: %v", typeURL, p.acks)
		}
	}
}

func TestFetchErrors(t *testing.T) {
	t.Parallel()
	empty := serve(t, map[resource.Type][]types.Resource{resource.ListenerType: {}})
	partly := serve(t, map[resource.Type][]types.Resource{
		resource.ListenerType: {decodeAs(t, serving(discovered("four", networkRBAC), manager(rds)), &listenerv3.Listener{})},
	})
	absent := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	if err := absent.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ target, want string }{
		"no server":       {absent.Addr().String(), "connection refused"},
		"nothing missing": {empty.target, ""},
		"something missing": {
			partly.target,
			`waiting for route configuration "r", extension configuration "four": out of patience`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fetchFrom(t, tt.target)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "sidecar: fetch from control plane "+tt.target+": ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	_, err := Fetch(t.Context(), "plane:1", dump.FetchOptions{Transport: insecure.NewCredentials()})
	if err == nil || err.Error() != "sidecar: fetch from control plane plane:1: the node has no ID: say which proxy is asked for" {
		t.Errorf("without a node: %v", err)
	}
}

// The error about a control plane that misbehaves has its name.
func TestFetchFromOddControlPlanes(t *testing.T) {
	t.Parallel()
	garbage := &anypb.Any{TypeUrl: resource.ListenerType, Value: []byte{0xff}}
	for name, tt := range map[string]struct {
		script  *script
		want    string
		refuses bool
	}{
		"garbage":       {&script{answers: answer(t, resource.ListenerType, garbage)}, `version "v1" of envoy.config.listener.v3.Listener: resource 0: proto: cannot parse invalid wire-format data`, true},
		"not asked for": {&script{answers: answer(t, resource.ClusterType)}, `it sent envoy.config.cluster.v3.Cluster, which was not asked for`, false},
		"an end":        {&script{ends: true}, "waiting for listeners: it ended the stream", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.script.refused = make(chan string, 1)
			var p plane
			p.serve(t, tt.script)
			_, err := fetchFrom(t, p.target)
			// The protobuf runtime varies its white space on purpose.
			if err == nil || oneLine(err.Error()) != "sidecar: fetch from control plane "+p.target+": "+tt.want {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if tt.refuses {
				if got := oneLine(<-tt.script.refused); got != tt.want {
					t.Errorf("refused with %q, want %q", got, tt.want)
				}
			}
		})
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// The report names fields of a binary resource that its definition does not have, in the
// RBAC filter and around it.
func TestFetchOfALaterAPI(t *testing.T) {
	t.Parallel()
	rbac := &networkrbacv3.RBAC{StatPrefix: "s"}
	// Field 99, a varint.
	rbac.ProtoReflect().SetUnknown([]byte{0x98, 0x06, 0x01})
	listener := decodeAs(t, serving(), &listenerv3.Listener{})
	listener.FilterChains[0].Filters = []*listenerv3.Filter{{
		Name: "rbac", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: must[*anypb.Any](t)(anypb.New(rbac))},
	}}
	listener.DrainType = 7
	wrapped := must[*anypb.Any](t)(anypb.New(&discoveryv3.Resource{Name: "in", Resource: must[*anypb.Any](t)(anypb.New(listener))}))
	var p plane
	p.serve(t, &script{answers: answer(t, resource.ListenerType, wrapped)})
	s, err := fetchFrom(t, p.target)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{
		`listener "in": drain_type: 7 is none that DrainType has here`,
		`listener "in": filter chain "c": filter_chains[0].filters[0].typed_config: field 99 is none that RBAC has here`,
	}, lines(s.Unknown)); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
	if !s.Inbounds[0].Incomplete || s.Unknown[0].Kind != dump.BesideRBAC || s.Unknown[1].Kind != dump.Lost {
		t.Errorf("incomplete is %t: %+v", s.Inbounds[0].Incomplete, s.Unknown)
	}
}

// A filter in the form of a TypedStruct is read in binary form too. The report names its
// unknown fields.
func TestFetchOfTypedStructs(t *testing.T) {
	t.Parallel()
	wrap := func(name, message string, fields map[string]any) *listenerv3.Filter {
		value := must[*structpb.Struct](t)(structpb.NewStruct(fields))
		packed := must[*anypb.Any](t)(anypb.New(&xdstypev3.TypedStruct{TypeUrl: prefix + message, Value: value}))
		return &listenerv3.Filter{Name: name, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed}}
	}
	listener := decodeAs(t, serving(), &listenerv3.Listener{})
	listener.FilterChains[0].Filters = []*listenerv3.Filter{
		wrap("rbac", networkRBAC, map[string]any{"stat_prefix": "s", "rules": map[string]any{}}),
		wrap("custom", "acme.Filter", nil),
		wrap("later", networkRBAC, map[string]any{"exempt": true}),
		wrap("broken", networkRBAC, map[string]any{"rules": 7}),
	}
	var p plane
	p.serve(t, &script{answers: answer(t, resource.ListenerType, must[*anypb.Any](t)(anypb.New(listener)))})
	s, err := fetchFrom(t, p.target)
	if err != nil {
		t.Fatal(err)
	}
	got := lines(s.Unknown)
	at := `listener "in": filter chain "c": `
	for i, want := range []struct {
		kind dump.Kind
		text string
	}{
		{dump.Lost, `filter_chains[0].filters[2].typed_config: field "exempt" is none that RBAC has here`},
		{dump.BesideRBAC, `filter "custom": type.googleapis.com/acme.Filter: meshproof does not know what this filter does; it stands in front of RBAC`},
		{dump.Lost, `filter "broken": type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC: it is no RBAC: proto: `},
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], at+want.text) || s.Unknown[i].Kind != want.kind {
			t.Fatalf("unknown: %q, want %s %q", got, want.kind, want.text)
		}
	}
	if in := s.Inbounds[0]; len(in.Guards) != 2 || !in.Incomplete {
		t.Errorf("read %+v", in)
	}
}

// Fetch asks for all scopes, and then for the route configurations that they name.
func TestFetchOfScopes(t *testing.T) {
	t.Parallel()
	pack := func(m proto.Message) *anypb.Any { return must[*anypb.Any](t)(anypb.New(m)) }
	answers := answer(t, resource.ListenerType, pack(decodeAs(t, serving(manager(srds, l7(denyAll))), &listenerv3.Listener{})))
	for typeURL, m := range map[string]proto.Message{
		resource.ScopedRouteType: &routev3.ScopedRouteConfiguration{Name: "s", RouteConfigurationName: "r"},
		resource.RouteType:       decodeAs(t, routes("r", "*", routeTo("/admin", ", "+perRoute(""))), &routev3.RouteConfiguration{}),
	} {
		answers[typeURL] = &discoveryv3.DiscoveryResponse{TypeUrl: typeURL, VersionInfo: "v1", Nonce: "1", Resources: []*anypb.Any{pack(m)}}
	}
	var p plane
	p.serve(t, &script{answers: answers})
	s, err := fetchFrom(t, p.target)
	if err != nil || s.Unknown != nil || len(s.Inbounds[0].Filters.Routes) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// A hostile resource ends in a report too.
func FuzzResource(f *testing.F) {
	for _, text := range []string{
		serving(manager(rds, discovered("x", httpRBAC), l7(permitAll))),
		serving(l4(matching(identity, onMatch))),
	} {
		var listener listenerv3.Listener
		if _, err := messages.Decode(must[any](f)(messages.Parse([]byte(strings.Replace(text, `"@type": "`+resource.ListenerType+`",`, "", 1)))), &listener); err != nil {
			f.Fatal(err)
		}
		f.Add(must[[]byte](f)(proto.Marshal(&listener)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var listener listenerv3.Listener
		if err := proto.Unmarshal(data, &listener); err != nil {
			return
		}
		s, _ := read(&dump.Resources{Listeners: []dump.Decoded[*listenerv3.Listener]{{Message: &listener, Faults: messages.Unread(listener.ProtoReflect())}}}, nil)
		for _, u := range s.Unknown {
			if u.Reason == "" || strings.Contains(u.String(), "\n") {
				t.Errorf("unknown %q", u.String())
			}
		}
	})
}
