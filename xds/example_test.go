package xds_test

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// A gate on L4 becomes a filter of the network, and a gate on L7 one of HTTP. Messages
// returns the filters in the order of Envoy.
func Example() {
	verdict := func(effect policy.Effect, origin string) policy.Verdict {
		return policy.Verdict{Effect: effect, Origin: origin}
	}
	program := policy.Program{Gates: []policy.Gate{
		{
			Layer:   policy.L4,
			Rules:   []policy.Rule{{Verdict: verdict(policy.Allow, "mesh"), When: attribute.Identity.Prefix("spiffe://mesh/")}},
			Default: verdict(policy.Deny, "strangers"),
		},
		{
			Layer:   policy.L7,
			Rules:   []policy.Rule{{Verdict: verdict(policy.Deny, "admin"), When: attribute.Path.Segments("/admin")}},
			Default: verdict(policy.Allow, "rest"),
		},
	}}

	filters, err := xds.Compile(program)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, message := range filters.Messages() {
		fmt.Println(message.ProtoReflect().Descriptor().FullName())
	}
	// Output:
	// envoy.extensions.filters.network.rbac.v3.RBAC
	// envoy.extensions.filters.http.rbac.v3.RBAC
}

// Compile refuses what no filter can say, and names it: a connection has no path, so a gate on L4
// cannot ask for one.
func ExampleCompile() {
	_, err := xds.Compile(policy.Program{Gates: []policy.Gate{{
		Layer: policy.L4,
		Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "reports"}, When: attribute.Path.Exact("/reports")}},
	}}})
	fmt.Println(err)
	// Output:
	// xds: compile: policy: rule allow by reports: condition "path = \"/reports\"" cannot be judged by an L4 gate
}
