package classes_test

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// TestMethodPrefix finds the methods that begin with a text, and that there are none.
func TestMethodPrefix(t *testing.T) {
	t.Parallel()
	for _, protocol := range []policy.Protocol{policy.HTTP, policy.HTTP2} {
		for prefix, want := range map[string][]policy.Effect{
			"P":   {policy.Allow, policy.Deny},
			"GET": {policy.Allow, policy.Deny},
			"POS": {policy.Allow, policy.Deny},
		} {
			p := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: []policy.Rule{
				{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: attribute.Method.Prefix(prefix)},
			}}}}
			cover := classes.Cut(classes.Surface{Protocol: protocol}, p)
			var got []policy.Effect
			for _, class := range cover.Classes {
				got = append(got, policy.Decide(p, class.Witness).Effect)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || !cover.Complete() {
				t.Errorf("%s, methods with %s: %v, want %v, of %s", protocol, prefix, got, want, cover)
			}
		}
	}
}
