package lint

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// lintFrom warns of an empty list, and of each item whose clients are all named by
// a later item of the same list: the later item decides.
func lintFrom(p *permission.Policy) []policy.Warning {
	if len(p.From) == 0 {
		return []policy.Warning{p.Warn("spec.from", "the list is empty: the policy has no effect")}
	}
	var out []policy.Warning
	for i, item := range p.From {
		for k := len(p.From) - 1; k > i; k-- {
			if later := p.From[k]; coversItem(later, item) {
				out = append(out, p.Warn(item.Field, "decides about nobody: from[%d] comes later, wins, and names all of these clients", k))
				break
			}
		}
	}
	return out
}

// coversItem reports whether the item names every client that the other item names.
func coversItem(i, other permission.FromItem) bool {
	for _, tag := range i.Tags {
		if !slices.Contains(other.Tags, tag) {
			return false
		}
	}
	switch {
	case i.Service != "":
		return i.Service == other.Service && i.ServiceMesh == other.ServiceMesh
	case i.Mesh == "":
		return true
	case other.Service != "":
		return i.Mesh == other.ServiceMesh
	default:
		return i.Mesh == other.Mesh
	}
}
