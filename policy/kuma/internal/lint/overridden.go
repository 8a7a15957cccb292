package lint

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// overriddenItems counts, for each item of from, the inbounds on which it applies,
// and those on which an item of a stronger policy names all of its clients. Items
// that their own policy overrides are left to lintFrom.
type overriddenItems struct{ tally[placedItem] }

// placedItem is an item of from, with its policy and its index there.
type placedItem struct {
	permission.FromItem
	policy *permission.Policy
	index  int
}

// add counts the policies of one inbound. Items of a route override items of the
// same route only: the items of the proxy govern the requests of all routes.
func (o *overriddenItems) add(ps []permission.Policy) {
	scopes := make(map[string][]placedItem)
	var names []string
	for i := range ps {
		p, scope := &ps[i], ""
		if p.Target.Kind == permission.Route {
			scope = p.Target.Name
		}
		if len(p.From) > 0 && scopes[scope] == nil {
			names = append(names, scope)
		}
		for k, item := range p.From {
			scopes[scope] = append(scopes[scope], placedItem{FromItem: item, policy: p, index: k})
		}
	}
	for _, name := range names {
		items := scopes[name]
		for i, item := range items {
			by, ok := findOverriding(item, items[i+1:])
			if !ok || by.policy != item.policy {
				o.count(item.policy, item.Field, by, ok)
			}
		}
	}
}

// findOverriding finds a later item that names all clients of the given item. An
// item of the same policy is preferred.
func findOverriding(item placedItem, later []placedItem) (by placedItem, ok bool) {
	for _, l := range later {
		switch {
		case !coversItem(l.FromItem, item.FromItem):
		case l.policy == item.policy:
			return l, true
		default:
			// The last item is the strongest: it decides.
			by, ok = l, true
		}
	}
	return by, ok
}

func (o *overriddenItems) warnings() []policy.Warning {
	return o.tally.warnings(func(e *counted[placedItem]) policy.Warning {
		return e.policy.Warn(e.field, "decides about nobody: from[%d] of %s comes later, wins, and names all of these clients", e.by.index, e.by.policy)
	})
}
