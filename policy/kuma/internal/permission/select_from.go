package permission

import (
	"fmt"
	"slices"
)

// isFrom reports whether the policy is of the legacy form, be its list empty.
func (p *Policy) isFrom() bool { return p.from != nil }

// hasMatcher reports whether a rule says anything at all.
func (p *Policy) hasMatcher() bool {
	return slices.ContainsFunc(p.rules, func(r rule) bool {
		return len(r.lists[deny])+len(r.lists[allowWithShadowDeny])+len(r.lists[allow]) > 0
	})
}

// withoutFrom drops the legacy policies where one with rules applies: a filter
// takes one form. It gives each of them its reason.
func withoutFrom(ranks []rank, ps []Policy, reasons []string) []rank {
	i := slices.IndexFunc(ranks, func(r rank) bool { return r.policy.hasMatcher() })
	if i < 0 {
		return ranks
	}
	reason := fmt.Sprintf("its from has no effect beside the rules of %s: an inbound is governed by rules or by from", ranks[i].policy)
	for k := range ps {
		if reasons[k] == "" && ps[k].isFrom() {
			reasons[k] = reason
		}
	}
	return slices.DeleteFunc(ranks, func(r rank) bool { return r.policy.isFrom() })
}

// isFrom reports whether the legacy form governs the inbound.
func (s Selection) isFrom() bool {
	return slices.ContainsFunc(s.Policies, func(p Policy) bool { return len(p.from) > 0 })
}
