package routingconfig_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func afterMillis(ms int) routing.Limit {
	return routing.Limit{Time: time.Duration(ms) * time.Millisecond}
}

func limits(of map[routing.Bound]int) (out routing.Limits) {
	for bound, ms := range of {
		out[bound] = afterMillis(ms)
	}
	return out
}

var (
	header = func(name string, m policy.Match) policy.Is {
		return policy.Is{Attribute: attribute.Header(name), Match: m}
	}
	toShop   = []routing.Backend{{Cluster: "kri_shop", Weight: 1}}
	programs = map[string]routing.Proxy{
		// Each condition that a route can have.
		"conditions": {Outbounds: []routing.Outbound{{Name: "kri_shop", Port: 80, Routes: []routing.Route{
			{Name: "kri_exact", When: attribute.Path.Exact("/a"), Backends: toShop, Request: afterMillis(200), StreamIdle: afterMillis(1000)},
			{Name: "kri_under", When: policy.And{policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Segments, Value: "/a/b"}}, attribute.Method.Exact("POST")}, Backends: toShop},
			{Name: "kri_regex", When: policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Regex, Value: "/a.*"}}, Backends: toShop},
			{Name: "kri_headers", When: policy.And{
				header("x-exact", policy.Match{Value: "1"}), header("x-prefix", policy.Match{Kind: policy.Prefix, Value: "1"}),
				header("x-regex", policy.Match{Kind: policy.Regex, Value: "[12]"}), header("x-there", policy.Match{Kind: policy.Present}),
				policy.Not{Condition: header("x-gone", policy.Match{Kind: policy.Present})},
			}, Backends: toShop},
			{Name: "kri_query", When: policy.Is{Attribute: attribute.QueryParameter("q"), Match: policy.Match{Value: "1"}}, Backends: toShop},
			{Name: "kri_shop", Backends: toShop},
		}}}},
		// Each bound at its level, and a proxy without any.
		"bounds": {
			Outbounds: []routing.Outbound{
				{Name: "kri_shop", Port: 80, Headers: afterMillis(300), Routes: []routing.Route{{Name: "kri_shop", Backends: toShop, Request: afterMillis(200), StreamIdle: afterMillis(150)}}},
				{Name: "kri_tcp", Port: 81, Protocol: policy.TCP, Routes: []routing.Route{{Name: "kri_tcp", Backends: []routing.Backend{{Cluster: "kri_tcp", Weight: 1}}, Idle: afterMillis(250)}}},
			},
			Clusters: []routing.Cluster{
				{Name: "kri_shop", Limits: limits(map[routing.Bound]int{routing.Connection: 100, routing.Idle: 110, routing.MaxStream: 120, routing.MaxConnection: 130})},
				{Name: "kri_tcp", Protocol: policy.TCP, Limits: limits(map[routing.Bound]int{routing.Connection: 140})},
			},
		},
		"no bounds": {
			Outbounds: []routing.Outbound{
				{Name: "kri_shop", Port: 80, Protocol: policy.GRPC, Routes: []routing.Route{{Name: "kri_shop", Backends: toShop}}},
				{Name: "kri_tcp", Port: 81, Protocol: policy.TCP, Routes: []routing.Route{{Name: "kri_tcp", Backends: []routing.Backend{{Cluster: "kri_tcp", Weight: 1}}}}},
			},
			Clusters: []routing.Cluster{{Name: "kri_shop", Protocol: policy.GRPC}, {Name: "kri_tcp", Protocol: policy.TCP}},
		},
		// Backends with weights, one that does not exist, and none.
		"backends": {Outbounds: []routing.Outbound{
			{Name: "kri_shop", Port: 80, Routes: []routing.Route{
				{Name: "kri_shared", When: attribute.Path.Exact("/shared"), Backends: []routing.Backend{{Cluster: "kri_shop", Weight: 80}, {Cluster: "kri_new", Weight: 20}, {Weight: 5}}},
				{Name: "kri_nobody", When: attribute.Path.Exact("/nobody")},
				{Name: "kri_gone", When: attribute.Path.Exact("/gone"), Backends: []routing.Backend{{Weight: 1}}},
				{Name: "kri_shop", Backends: toShop},
			}},
			{Name: "kri_tcp", Port: 81, Protocol: policy.TCP, Routes: []routing.Route{{Name: "kri_tcp", Backends: []routing.Backend{{Cluster: "kri_a", Weight: 3}, {Weight: 1}, {Cluster: "kri_b"}}}}},
			{Name: "kri_tcp_nobody", Port: 82, Protocol: policy.TCP, Routes: []routing.Route{{Name: "kri_tcp_nobody"}}},
		}},
	}
)

// TestCompile holds the messages of each shape, and that they keep the rules of their own
// definitions.
func TestCompile(t *testing.T) {
	t.Parallel()
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := routingconfig.Compile(program, "web/", routingconfig.Sentinels{"kri_shop": 300 * time.Millisecond, "kri_tcp": 350 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			add := func(kind string, m proto.Message) {
				if err := messages.Validate(m); err != nil {
					t.Errorf("%s: %v", kind, err)
				}
				out.WriteString("-- " + kind + " --\n" + golden.YAML(t, m))
			}
			for _, o := range config.Outbounds {
				if o.HTTP != nil {
					add(o.Name+" routes", o.Routes)
					add(o.Name+" http", o.HTTP)
				} else {
					add(o.Name+" tcp", o.TCP)
				}
			}
			for _, c := range config.Clusters {
				add(c.Name+" cluster", c)
			}
			golden.Compare(t, strings.ReplaceAll(name, " ", "-")+".txtar", out.String())
		})
	}
}

// TestRefuse shows what no route can say.
func TestRefuse(t *testing.T) {
	t.Parallel()
	route := func(r routing.Route) routing.Proxy {
		r.Name = "kri_r"
		return routing.Proxy{Outbounds: []routing.Outbound{{Name: "kri_shop", Routes: []routing.Route{r}}}}
	}
	for want, program := range map[string]routing.Proxy{
		`outbound kri_shop: route kri_r: condition "source address = \"10.0.0.1\"": no route can ask Envoy for the attribute source-address`: route(routing.Route{When: attribute.SourceAddress.Exact("10.0.0.1")}),
		`outbound kri_shop: route kri_r: condition "not path = \"/a\"": no route can ask Envoy about this`:                                   route(routing.Route{When: policy.Not{Condition: attribute.Path.Exact("/a")}}),
		`outbound kri_shop: route kri_r: condition "path = \"/b\"": a route asks Envoy for the path once`:                                    route(routing.Route{When: policy.And{attribute.Path.Exact("/a"), attribute.Path.Exact("/b")}}),
		`outbound kri_shop: route kri_r: all weights are 0: Envoy needs a backend that has a share`:                                          route(routing.Route{Backends: []routing.Backend{{Cluster: "a"}, {Cluster: "b"}}}),
		`outbound kri_shop: route kri_r: the weights add up to 4294967296, more than Envoy's 4294967295`:                                     route(routing.Route{Backends: []routing.Backend{{Cluster: "a", Weight: 1 << 31}, {Cluster: "b", Weight: 1 << 31}}}),
		`outbound kri_shop: a tcp outbound has one route, which takes every connection, not 2`:                                               {Outbounds: []routing.Outbound{{Name: "kri_shop", Protocol: policy.TCP, Routes: make([]routing.Route, 2)}}},
	} {
		if _, err := routingconfig.Compile(program, "web/", nil); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
