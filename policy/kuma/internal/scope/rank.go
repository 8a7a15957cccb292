package scope

import (
	"bytes"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// Rank orders the policies that apply to a proxy: first by the weights, the stronger
// policy has the greater one, then by name.
type Rank struct {
	resource *resource.Resource
	weight   [5]uint8
}

// Rank returns how strong the policy is: by the kind of its target, by whether the target names
// one Dataplane, by its section, its origin and its role.
func (s Selector) Rank() Rank {
	r := Rank{resource: s.Resource}
	r.weight[0] = uint8(s.Target.Kind)
	if s.Target.Kind == target.Dataplane && s.Target.Name != "" {
		r.weight[1] = 1
	}
	if s.Target.Section != "" {
		r.weight[2] = 1
	}
	switch s.Resource.Labels[resource.LabelOrigin] {
	case resource.OriginGlobal:
	case resource.OriginZone:
		r.weight[3] = 2
	default:
		r.weight[3] = 1
	}
	r.weight[4] = uint8(slices.Index(resource.Roles, s.Role))
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
func (r Rank) CompareWeight(s Rank) int { return bytes.Compare(r.weight[:], s.weight[:]) }

// CompareName is [Rank.Compare] for two policies of one weight.
func (r Rank) CompareName(s Rank) int {
	if c := strings.Compare(s.resource.ID.Name, r.resource.ID.Name); c != 0 {
		return c
	}
	return strings.Compare(r.resource.Origin, s.resource.Origin)
}
