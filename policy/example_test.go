package policy_test

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// A program is what a dialect lowers its policies to. Its gate has rules: the first rule that
// matches a request decides. Where none does, the default decides. Here everybody in the mesh may
// read the metrics, but the stranger may not.
func Example() {
	program := policy.Program{Gates: []policy.Gate{{
		Layer: policy.L7,
		Rules: []policy.Rule{
			{
				Verdict: policy.Verdict{Effect: policy.Deny, Origin: "no-stranger"},
				When:    attribute.Identity.Exact("spiffe://mesh/ns/shop/sa/stranger"),
			},
			{
				Verdict: policy.Verdict{Effect: policy.Allow, Origin: "metrics"},
				When:    policy.And{attribute.Identity.Prefix("spiffe://mesh/"), attribute.Path.Segments("/metrics")},
			},
		},
		Default: policy.Verdict{Effect: policy.Deny, Origin: "default"},
	}}}

	for _, request := range []policy.Request{
		{URIs: []string{"spiffe://mesh/ns/shop/sa/cart"}, Method: "GET", Path: "/metrics/cpu"},
		{URIs: []string{"spiffe://mesh/ns/shop/sa/cart"}, Method: "GET", Path: "/orders"},
		{URIs: []string{"spiffe://mesh/ns/shop/sa/stranger"}, Method: "GET", Path: "/metrics"},
		{Method: "GET", Path: "/metrics"}, // a caller without a certificate
	} {
		decision := policy.Decide(program, request)
		fmt.Printf("%q %s: %s by %s\n", request.Identity(), request.Path, decision.Effect, decision.Origin)
	}
	// Output:
	// "spiffe://mesh/ns/shop/sa/cart" /metrics/cpu: allow by metrics
	// "spiffe://mesh/ns/shop/sa/cart" /orders: deny by default
	// "spiffe://mesh/ns/shop/sa/stranger" /metrics: deny by no-stranger
	// "" /metrics: deny by default
}

// Explain shows how each gate came to its verdict. All rules are judged, so a reader also sees
// the rule that a decisive rule hides.
func ExampleExplain() {
	everybody := policy.Rule{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "closed"}, When: policy.Always}
	reading := policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "readers"}, When: attribute.Method.Exact("GET")}
	program := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: []policy.Rule{everybody, reading}}}}

	decision, traces := policy.Explain(program, policy.Request{Method: "GET", Path: "/"})
	fmt.Println(decision.Effect)
	for _, trace := range traces {
		for i, rule := range trace.Gate.Rules {
			fmt.Printf("%s if %s: matches %t, decides %t\n", rule.Origin, rule.When, trace.Matched[i], i == trace.Decisive)
		}
	}
	// Output:
	// deny
	// closed if always: matches true, decides true
	// readers if method = "GET": matches true, decides false
}

// Walk goes through a condition and all conditions in it. Here it lists what a rule looks at.
func ExampleWalk() {
	when := policy.And{
		attribute.Identity.Prefix("spiffe://mesh/"),
		policy.Not{Condition: policy.Or{attribute.Path.Exact("/admin"), attribute.Method.Exact("POST")}},
	}
	for condition := range policy.Walk(when) {
		if is, ok := condition.(policy.Is); ok {
			fmt.Println(is)
		}
	}
	// Output:
	// identity starts with "spiffe://mesh/"
	// path = "/admin"
	// method = "POST"
}
