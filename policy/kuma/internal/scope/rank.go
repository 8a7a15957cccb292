package scope

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// Rank orders the policies that apply to a proxy: by the kind of the target, then by how the target
// selects a Dataplane, then by the weights, the stronger policy has the greater one, then by name.
type Rank struct {
	resource *resource.Resource
	kind     target.Kind
	form     form
	weight   [3]uint8
}

// form is how a target of kind Dataplane selects.
type form uint8

const (
	// everyDataplane names no Dataplane and no label. It is neither stronger nor weaker than the others.
	everyDataplane form = iota
	byLabels
	byName
)

func formOf(t *target.Target) form {
	switch {
	case t.Kind != target.Dataplane:
		return everyDataplane
	case t.Name != "":
		return byName
	case t.Labels != nil:
		return byLabels
	}
	return everyDataplane
}

// Rank returns how strong the policy is: by the kind of its target, by how the target selects a Dataplane, by its
// section, its origin and its role.
func (s Selector) Rank() Rank {
	r := Rank{resource: s.Resource, kind: s.Target.Kind, form: formOf(s.Target)}
	if s.Target.Section != "" {
		r.weight[0] = 1
	}
	switch s.Resource.Labels[resource.LabelOrigin] {
	case resource.OriginGlobal:
	case resource.OriginZone:
		r.weight[1] = 2
	default:
		r.weight[1] = 1
	}
	r.weight[2] = uint8(slices.Index(resource.Roles, s.Role))
	return r
}

// Compare orders the weakest first. Of two policies of one weight, the one whose
// display name sorts first is stronger. The identifier decides where the names are
// equal too.
func (r Rank) Compare(s Rank) int {
	if c := r.CompareWeight(s); c != 0 {
		return c
	}
	return r.CompareName(s)
}

// CompareWeight is [Rank.Compare] without the names.
//
// As in Kuma, a name is stronger than labels, and a target of every Dataplane is as strong as either. So three
// policies may each be stronger than the next one, see [IsCircle].
func (r Rank) CompareWeight(s Rank) int {
	c := cmp.Compare(r.kind, s.kind)
	if c == 0 && r.form != everyDataplane && s.form != everyDataplane {
		c = cmp.Compare(r.form, s.form)
	}
	return cmp.Or(c, bytes.Compare(r.weight[:], s.weight[:]))
}

// IsCircle reports whether the ranks have targets by name, by labels and of every Dataplane. Then the order of
// the policies depends on how a control plane sorts them.
func IsCircle(ranks []Rank) bool {
	var forms [3]bool
	for _, r := range ranks {
		if r.kind == target.Dataplane {
			forms[r.form] = true
		}
	}
	return forms == [3]bool{true, true, true}
}

// IsOfEveryDataplane reports whether the target is of kind Dataplane, and names none and no label.
func (r Rank) IsOfEveryDataplane() bool {
	return r.kind == target.Dataplane && r.form == everyDataplane
}

// CompareName is [Rank.Compare] for two policies of one weight.
func (r Rank) CompareName(s Rank) int {
	if c := strings.Compare(s.resource.ID.Name, r.resource.ID.Name); c != 0 {
		return c
	}
	return strings.Compare(r.resource.Origin, s.resource.Origin)
}
