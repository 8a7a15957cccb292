package draw_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// TestEveryCellIsDrawn shows that every kind of match that a form can say of an attribute is
// drawn, that requests meet it, and that requests do not.
func TestEveryCellIsDrawn(t *testing.T) {
	t.Parallel()
	type cell struct {
		form      policy.Form
		attribute string
		kind      policy.MatchKind
	}
	met, missed := map[cell]bool{}, map[cell]bool{}
	compiles := func(p policy.Program) error { _, err := xds.Compile(p); return err }
	requests := make([]policy.Request, 200)
	for i := range requests {
		requests[i] = draw.Request().Example(i)
	}
	for _, form := range []policy.Form{policy.Ordered, policy.Named} {
		for _, leaf := range draw.Leaves(policy.L7, form) {
			is := leaf.(policy.Is)
			if err := compiles((programtest.Cell{Form: form, Is: is}).Allowing()); err != nil {
				t.Fatal(err)
			}
			key := cell{form, programtest.Family(is.Attribute), is.Match.Kind}
			for _, r := range requests {
				met[key], missed[key] = met[key] || is.Holds(&r), missed[key] || !is.Holds(&r)
			}
		}
	}
	for c := range programtest.Cells(compiles) {
		key := cell{c.Form, programtest.Family(c.Attribute), c.Match.Kind}
		if !met[key] || !missed[key] && c.Match.Kind != policy.Present {
			t.Errorf("%s of %s by %s rules: drawn and met: %t, drawn and missed: %t", key.kind, key.attribute, key.form, met[key], missed[key])
		}
	}
}
