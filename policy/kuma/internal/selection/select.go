// Package selection finds the MeshTrafficPermissions that apply to one inbound, and
// their order.
//
// It guarantees that the result does not depend on the order of the policies, and
// that each policy that does not apply has its reason. It reads no rule: what a
// policy says of a request is no concern of it.
package selection

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
)

// Selection is what applies to one inbound, and what does not.
type Selection struct {
	// Policies are in the order of concatenation, the weakest first.
	Policies []permission.Policy
	Ignored  []Ignored
}

// Ignored is a policy that does not apply, with the reason.
type Ignored struct {
	Policy permission.Policy
	Reason string
	// Overridden says that the policy selects the inbound, and has no effect beside others.
	Overridden bool
}

// Select returns the policies that apply to the inbound. Ignored keeps the order of
// ps; nothing else of the result depends on it.
func Select(ps []permission.Policy, in policy.Inbound, opts permission.Options) Selection {
	reasons := make([]string, len(ps))
	ranks := make([]rank, 0, len(ps))
	for i := range ps {
		s := selector(&ps[i], opts)
		if reasons[i] = s.Miss(&in).String(); reasons[i] == "" {
			ranks = append(ranks, rank{&ps[i], s.Rank()})
		}
	}
	ranks, overridden := withoutFrom(ranks, ps, reasons)
	sel := Selection{Policies: make([]permission.Policy, len(ranks)), Ignored: make([]Ignored, 0, len(ps)-len(ranks))}
	for i, k := range weakestFirst(ranks) {
		sel.Policies[i] = *ranks[k].policy
	}
	for i, reason := range reasons {
		if reason != "" {
			sel.Ignored = append(sel.Ignored, Ignored{Policy: ps[i], Reason: reason, Overridden: reason == overridden})
		}
	}
	return sel
}

// rank is a policy that applies, and how strong it is.
type rank struct {
	policy *permission.Policy
	scope.Rank
}

// weakestFirst returns the order of the ranks. It sorts numbers: the garbage collector follows each pointer that is moved.
func weakestFirst(ranks []rank) []int32 {
	order := make([]int32, len(ranks))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := ranks[a].Compare(ranks[b].Rank); c != 0 {
			return c
		}
		return cmp.Compare(a, b)
	})
	return order
}

// hasMatcher reports whether a rule of the policy has a matcher.
func hasMatcher(p *permission.Policy) bool {
	return slices.ContainsFunc(p.Rules, func(r permission.Rule) bool {
		return len(r.Lists[permission.Deny])+len(r.Lists[permission.AllowWithShadowDeny])+len(r.Lists[permission.Allow]) > 0
	})
}

// withoutFrom drops the legacy policies where a policy with rules applies, for a
// filter takes one form. It returns their reason, and writes it into reasons.
func withoutFrom(ranks []rank, ps []permission.Policy, reasons []string) ([]rank, string) {
	i := slices.IndexFunc(ranks, func(r rank) bool { return hasMatcher(r.policy) })
	if i < 0 {
		return ranks, ""
	}
	reason := fmt.Sprintf("its from has no effect beside the rules of %s: an inbound is governed by rules or by from", ranks[i].policy)
	for k := range ps {
		if reasons[k] == "" && ps[k].IsFrom() {
			reasons[k] = reason
		}
	}
	return slices.DeleteFunc(ranks, func(r rank) bool { return r.policy.IsFrom() }), reason
}

// IsFrom reports whether the legacy form governs the inbound.
func (s Selection) IsFrom() bool {
	return slices.ContainsFunc(s.Policies, func(p permission.Policy) bool { return len(p.From) > 0 })
}

// Targets returns the target of each policy, in order.
func Targets(ps []permission.Policy, opts permission.Options) []capability.Target {
	out := make([]capability.Target, len(ps))
	for i := range ps {
		out[i] = selector(&ps[i], opts).AsTarget()
	}
	return out
}
