package classes

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestEveryAttributeHasARow names each attribute that lacks a row or a column here.
func TestEveryAttributeHasARow(t *testing.T) {
	t.Parallel()
	names := map[int]string{}
	for _, a := range attribute.All() {
		r := rowOf(a)
		if r != nil && r.space != nil {
			name := r.space(Surface{}).name()
			if other := names[r.rank]; other != "" && other != name {
				t.Errorf("attribute %s: its rank is that of the %s, but it cuts the %s", a.Name, other, name)
			}
			names[r.rank] = name
		}
		switch {
		case r == nil:
			t.Errorf("attribute %s has no row in package classes: which values can be sent?", a.Name)
		case r.pattern == nil:
			t.Errorf("attribute %s: its row in package classes lacks the column pattern", a.Name)
		case r.space == nil && r.rank != callers:
			t.Errorf("attribute %s: its row in package classes lacks the column space", a.Name)
		}
	}
	if n := len(rows) + len(families); n != len(attribute.All()) {
		t.Errorf("package classes has %d rows for %d attributes", n, len(attribute.All()))
	}
}

// UpTo is Of with another limit on the number of classes.
func UpTo(limit int, on Surface, programs ...policy.Program) *Cover {
	return cut(limit, on, programs)
}
