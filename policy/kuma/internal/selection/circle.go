package selection

import (
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
)

// Circle returns the policy of every Dataplane whose place among the legacy policies depends on how a control plane
// sorts them, see [scope.IsCircle]; nil where the order is known. Without the legacy form the order decides nothing.
func (s Selection) Circle(opts permission.Options) *permission.Policy {
	if !s.IsFrom() {
		return nil
	}
	var ranks []scope.Rank
	var every *permission.Policy
	for i := range s.Policies {
		rank := selector(&s.Policies[i], opts).Rank()
		ranks = append(ranks, rank)
		if rank.IsOfEveryDataplane() {
			every = &s.Policies[i]
		}
	}
	if !scope.IsCircle(ranks) {
		return nil
	}
	return every
}
