package selection

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// hasMatcher reports whether a rule of the policy has a matcher.
func hasMatcher(p *permission.Policy) bool {
	return slices.ContainsFunc(p.Rules, func(r permission.Rule) bool {
		return len(r.Lists[permission.Deny])+len(r.Lists[permission.AllowWithShadowDeny])+len(r.Lists[permission.Allow]) > 0
	})
}

// withoutFrom drops the legacy policies where a policy with rules applies, for a
// filter takes one form. It writes the reason of each dropped policy into reasons.
func withoutFrom(ranks []rank, ps []permission.Policy, reasons []string) []rank {
	i := slices.IndexFunc(ranks, func(r rank) bool { return hasMatcher(r.policy) })
	if i < 0 {
		return ranks
	}
	reason := fmt.Sprintf("its from has no effect beside the rules of %s: an inbound is governed by rules or by from", ranks[i].policy)
	for k := range ps {
		if reasons[k] == "" && ps[k].IsFrom() {
			reasons[k] = reason
		}
	}
	return slices.DeleteFunc(ranks, func(r rank) bool { return r.policy.IsFrom() })
}

// IsFrom reports whether the legacy form governs the inbound.
func (s Selection) IsFrom() bool {
	return slices.ContainsFunc(s.Policies, func(p permission.Policy) bool { return len(p.From) > 0 })
}
