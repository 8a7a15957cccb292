package selection

import (
	"cmp"
	"slices"

	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
)

// selector is what of a policy decides whether it applies.
func selector(p *permission.Policy, opts permission.Options) scope.Selector {
	return scope.Selector{Resource: &p.Resource, Target: &p.Target, Role: p.Role(opts)}
}

// Nearest returns the inbound that the policy comes nearest to, and the first requirement
// that the inbound does not meet. It misses the fewest requirements; of several, what it has
// is closest to what the policy asks for.
func Nearest(p *permission.Policy, inbounds []policy.Inbound, opts permission.Options) (nearest policy.Inbound, reason string) {
	var least [2]int
	for i := range inbounds {
		var own [2]int
		first := ""
		selector(p, opts).EachMiss(&inbounds[i], func(m scope.Miss) bool {
			own[0]++
			own[1] += spelling.Distance(m.Want, m.Got)
			first = cmp.Or(first, m.Reason)
			return true
		})
		if i == 0 || slices.Compare(own[:], least[:]) < 0 {
			nearest, reason, least = inbounds[i], first, own
		}
	}
	return nearest, reason
}
