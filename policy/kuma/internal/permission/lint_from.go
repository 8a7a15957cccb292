package permission

import "github.com/meshproof/meshproof/policy"

// lintFrom warns of a list without items, and of items that decide about nobody:
// a later one of the same list names all of their clients.
func (p *Policy) lintFrom() []policy.Warning {
	if len(p.from) == 0 {
		return []policy.Warning{p.warn("spec.from", "the list is empty: the policy has no effect")}
	}
	var out []policy.Warning
	for i, item := range p.from {
		for k := len(p.from) - 1; k > i; k-- {
			if later := p.from[k]; later.covers(item) {
				out = append(out, p.warn(item.field, "decides about nobody: from[%d] comes later, wins, and names all of these clients", k))
				break
			}
		}
	}
	return out
}

// covers reports whether every client that the other item names is named by this
// one too.
func (i fromItem) covers(other fromItem) bool {
	for _, tag := range i.tags {
		if value, ok := other.tag(tag.key); !ok || value != tag.value {
			return false
		}
	}
	switch {
	case i.service != "":
		return i.service == other.service && i.serviceMesh == other.serviceMesh
	case i.mesh == "":
		return true
	case other.service != "":
		return i.mesh == other.serviceMesh
	default:
		return i.mesh == other.mesh
	}
}

func (i fromItem) tag(key string) (value string, ok bool) {
	for _, tag := range i.tags {
		if tag.key == key {
			return tag.value, true
		}
	}
	return "", false
}
