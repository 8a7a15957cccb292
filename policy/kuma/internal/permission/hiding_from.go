package permission

import "github.com/meshproof/meshproof/policy"

// overriding is [hiding] for the legacy form: it counts, for each item of from, the
// inbounds it applies to and those on which a stronger policy leaves it nobody to
// decide about. An item that its own policy overrides is left to lintFrom.
type overriding struct{ tally[placedItem] }

// placedItem is an item of from with its place in the concatenation.
type placedItem struct {
	fromItem
	policy *Policy
	index  int
}

// observe takes in the policies of one inbound. The items of a route override no
// others, for those of the proxy govern the requests of all routes.
func (o *overriding) observe(ps []Policy) {
	scopes := make(map[string][]placedItem)
	var names []string
	for i := range ps {
		p, scope := &ps[i], ""
		if p.target.kind == route {
			scope = p.target.name
		}
		if len(p.from) > 0 && scopes[scope] == nil {
			names = append(names, scope)
		}
		for k, item := range p.from {
			scopes[scope] = append(scopes[scope], placedItem{fromItem: item, policy: p, index: k})
		}
	}
	for _, name := range names {
		items := scopes[name]
		for i, item := range items {
			by, ok := overrider(item, items[i+1:])
			if !ok || by.policy != item.policy {
				o.count(item.policy, item.field, by, ok)
			}
		}
	}
}

// overrider finds an item that wins and names all clients of the given one; one of
// the same policy comes before all others.
func overrider(item placedItem, later []placedItem) (by placedItem, ok bool) {
	for _, l := range later {
		switch {
		case !l.covers(item.fromItem):
		case l.policy == item.policy:
			return l, true
		default:
			// The strongest is the one that decides.
			by, ok = l, true
		}
	}
	return by, ok
}

func (o *overriding) warnings() []policy.Warning {
	return o.tally.warnings(func(e *tallied[placedItem]) policy.Warning {
		return e.policy.warn(e.field, "decides about nobody: from[%d] of %s comes later, wins, and names all of these clients", e.by.index, e.by.policy)
	})
}
