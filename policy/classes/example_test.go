package classes_test

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// Two versions of a policy set are compared class by class. If they agree on every class,
// they agree on every request.
func ExampleCut() {
	prometheus := policy.And{
		attribute.Identity.Prefix("spiffe://trust-domain.mesh/ns/observability/"),
		attribute.Path.Segments("/metrics"),
	}
	legacy := attribute.Identity.Exact("spiffe://trust-domain.mesh/ns/legacy/sa/legacy")
	allow := func(rules ...policy.Condition) policy.Program {
		gate := policy.Gate{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}}
		for _, when := range rules {
			gate.Rules = append(gate.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow}, When: when})
		}
		return policy.Program{Gates: []policy.Gate{gate}}
	}
	before, after := allow(prometheus, legacy), allow(prometheus)

	cover := classes.Cut(classes.Surface{Protocol: policy.HTTP}, before, after)
	fmt.Println(cover)
	for _, class := range cover.Classes {
		was, is := policy.Decide(before, class.Witness), policy.Decide(after, class.Witness)
		if was != is {
			fmt.Printf("%s was %s, is %s\n", class, was.Effect, is.Effect)
		}
	}
	// Output:
	// 4 classes of requests (cells by caller: 3, by path: 2)
	// identity spiffe://trust-domain.mesh/ns/legacy/sa/legacy was allow, is deny
}
