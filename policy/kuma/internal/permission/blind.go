package permission

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
)

// blindSpots warns of every matcher that asks for what a tcp inbound cannot see.
func blindSpots(ps []Policy, in policy.Inbound) []policy.Warning {
	if in.Protocol.Layer() != policy.L4 {
		return nil
	}
	var out []policy.Warning
	for i := range ps {
		for _, r := range ps[i].rules {
			for l, matchers := range r.lists {
				for _, m := range matchers {
					if m.needsL7() {
						out = append(out, ps[i].warn(m.field, "tcp inbound %s sees neither path nor method: %s", in, blindly(list(l), m)))
					}
				}
			}
		}
	}
	return out
}

func blindly(l list, m matcher) string {
	switch {
	case l == allow:
		return "there this allows nothing"
	case l == allowWithShadowDeny:
		return "there this allows nothing, and denies nothing in the shadow"
	case m.identity == nil:
		return "there this denies everybody"
	default:
		return "there this denies the identity whatever it asks for"
	}
}

func (p *Policy) warn(field, format string, a ...any) policy.Warning {
	return policy.Warning{Place: p.doc.Place(field), Policy: p.origin, Message: fmt.Sprintf(format, a...)}
}
