package harness

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// TestEveryCellIsAsked shows that the tests of this package ask Envoy by every kind of match
// that a form can say of an attribute: those of the table in docs/attributes.md.
func TestEveryCellIsAsked(t *testing.T) {
	t.Parallel()
	for _, form := range []policy.Form{policy.Ordered, policy.Named} {
		type cell struct {
			attribute string
			kind      policy.MatchKind
		}
		asked := map[cell]bool{}
		for _, when := range slices.Concat(regularMatches(form), headerMatches(form), claimMatches(form), endpointMatches()) {
			for c := range policy.Walk(when) {
				if is, ok := c.(policy.Is); ok {
					asked[cell{familyOf(is.Attribute), is.Match.Kind}] = true
				}
			}
		}
		for _, a := range attribute.All() {
			for _, kind := range a.Kinds {
				if !asked[cell{familyOf(a), kind}] && canSay(form, policy.Is{Attribute: a, Match: programtest.Match(a, kind)}) {
					t.Errorf("no test asks Envoy for a match %s of %s by %s rules", kind, familyOf(a), form)
				}
			}
		}
	}
}

// familyOf is the name of an attribute, or of its family.
func familyOf(a *policy.Attribute) string {
	if a.Family != "" {
		return a.Family
	}
	return a.Name
}

// canSay reports whether a gate of the form compiles.
func canSay(form policy.Form, when policy.Condition) bool {
	p := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Form: form, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "rule"}, When: when}}}}}
	if p.Check() != nil {
		return false
	}
	_, err := xds.Compile(p)
	return err == nil
}
