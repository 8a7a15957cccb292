package harness

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// TestEveryCellIsAsked shows that the tests of this package ask Envoy by every kind of match
// that a form can say of an attribute: those of the table in docs/attributes.md. Packages
// mutation, draw and policyset have a like test each.
func TestEveryCellIsAsked(t *testing.T) {
	t.Parallel()
	type cell struct {
		form      policy.Form
		attribute string
		kind      policy.MatchKind
	}
	asked := map[cell]bool{}
	for _, form := range []policy.Form{policy.Ordered, policy.Named} {
		for _, when := range slices.Concat(regularMatches(form), headerMatches(form), claimMatches(form), endpointMatches()) {
			for c := range policy.Walk(when) {
				if is, ok := c.(policy.Is); ok {
					asked[cell{form, programtest.Family(is.Attribute), is.Match.Kind}] = true
				}
			}
		}
	}
	compiles := func(p policy.Program) error { _, err := xds.Compile(p); return err }
	for c := range programtest.Cells(compiles) {
		if !asked[cell{c.Form, programtest.Family(c.Attribute), c.Match.Kind}] {
			t.Errorf("no test asks Envoy for a match %s of %s by %s rules", c.Match.Kind, programtest.Family(c.Attribute), c.Form)
		}
	}
}
