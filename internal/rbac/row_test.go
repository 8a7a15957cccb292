package rbac

import (
	"slices"
	"testing"

	"golang.org/x/mod/semver"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestEveryAttributeHasARow names each attribute that lacks a row or a column here. The
// forms of a row are the forms that package policy lets ask for the attribute.
func TestEveryAttributeHasARow(t *testing.T) {
	t.Parallel()
	for _, a := range attribute.All() {
		r := rows[a]
		if r == nil {
			t.Errorf("attribute %s has no row in package xds: how does Envoy ask for it?", a.Name)
			continue
		}
		for column, wrong := range map[string]bool{
			"since":     !semver.IsValid("v" + r.since),
			"predicate": (r.predicate != nil) != slices.Contains(a.Forms, policy.Ordered),
			"principal": (r.principal != nil) != slices.Contains(a.Forms, policy.Named),
			"route":     (r.route != nil) != a.Routable,
		} {
			if wrong {
				t.Errorf("attribute %s: its row in package xds says otherwise than the attribute in the column %s, or lacks it", a.Name, column)
			}
		}
	}
	if len(rows) != len(attribute.All()) {
		t.Errorf("package xds has %d rows for %d attributes", len(rows), len(attribute.All()))
	}
}
