package lint

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// BlindSpots warns of each matcher that asks for a path or a method on a tcp
// inbound, where neither can be seen.
func BlindSpots(ps []permission.Policy, in policy.Inbound) []policy.Warning {
	if in.Protocol.Layer() != policy.L4 {
		return nil
	}
	var out []policy.Warning
	for i := range ps {
		for _, r := range ps[i].Rules {
			for l, matchers := range r.Lists {
				for _, m := range matchers {
					if m.NeedsL7() {
						out = append(out, ps[i].Warn(m.Field, "tcp inbound %s sees neither path nor method: %s", in, blindEffect(permission.List(l), m)))
					}
				}
			}
		}
	}
	return out
}

func blindEffect(l permission.List, m permission.Matcher) string {
	switch {
	case l == permission.Allow:
		return "there this allows nothing"
	case l == permission.AllowWithShadowDeny:
		return "there this allows nothing, and denies nothing in the shadow"
	case m.Identity == nil:
		return "there this denies everybody"
	default:
		return "there this denies the identity whatever it asks for"
	}
}
