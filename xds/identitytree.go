package xds

import (
	"slices"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
)

const (
	// identityTreeMin is the number of exactly compared identities from which on a
	// gate is compiled to a map. Below it a linear scan costs less than a
	// microsecond and the filter keeps the shape in which the rules were written.
	identityTreeMin = 8
	// residueMax bounds the rules repeated under one identity of the map. An
	// identity with a longer residue stays in the list, so that the size of the
	// filter stays linear in the size of the program.
	residueMax = 8
)

// identityTree compiles a gate into a matcher_tree: an exact_match_map from
// identity to verdict, and behind it, as on_no_match, the list of all rules that
// do not ask for an identity exactly. A list of 10,000 identities costs a linear
// scan for each request; the map costs nothing.
//
// The order of the decision is kept because each identity's entry holds what the
// whole gate, evaluated for that identity, comes down to: the first verdict that
// stands whatever else the request says, preceded by the rules before it that
// still ask for method or path. It returns nil where the map would not pay, and
// for rules that nest others, which keep the shape in which they were written.
func (as actions) identityTree(rules []policy.Rule, fallback policy.Verdict) *matcherv3.Matcher {
	if slices.ContainsFunc(rules, func(r policy.Rule) bool { return len(r.Then) > 0 }) {
		return nil
	}
	index := newIdentityIndex(rules)
	if len(index.exact) < identityTreeMin {
		return nil
	}
	entries := make(map[string]*matcherv3.Matcher_OnMatch, len(index.exact))
	for identity := range index.exact {
		if residue, end, ok := index.residue(identity, fallback); ok {
			entries[identity] = as.outcome(residue, end)
		}
	}
	if len(entries) < identityTreeMin {
		return nil
	}
	return &matcherv3.Matcher{
		MatcherType: &matcherv3.Matcher_MatcherTree_{MatcherTree: &matcherv3.Matcher_MatcherTree{
			Input:    uriSAN,
			TreeType: &matcherv3.Matcher_MatcherTree_ExactMatchMap{ExactMatchMap: &matcherv3.Matcher_MatcherTree_MatchMap{Map: entries}},
		}},
		OnNoMatch: as.outcome(index.without(entries), fallback),
	}
}

// outcome is an action where no rule is left to ask, otherwise a nested matcher.
func (as actions) outcome(rules []policy.Rule, fallback policy.Verdict) *matcherv3.Matcher_OnMatch {
	if len(rules) == 0 && fallback.Origin != "" {
		return as.of(fallback)
	}
	return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Matcher{Matcher: as.list(rules, fallback)}}
}

// alternative is one way in which a rule can match: an operand of its outermost
// Or. Its guard, where it has one, is an identity it cannot match without.
type alternative struct {
	rule    int
	guarded bool
	guard   policy.Identity
	// rest is what remains to be asked once the guard is met.
	rest policy.Condition
}

// identityIndex finds the alternatives that an identity can meet without a scan
// over the rules.
type identityIndex struct {
	rules        []policy.Rule
	alternatives []alternative
	exact        map[string][]int
	prefix       map[string][]int
	// lengths are those of the prefixes, ascending.
	lengths []int
	open    []int
}

func newIdentityIndex(rules []policy.Rule) *identityIndex {
	n := 0
	for _, rule := range rules {
		n++
		if or, ok := rule.When.(policy.Or); ok {
			n += len(or) - 1
		}
	}
	x := &identityIndex{rules: rules, alternatives: make([]alternative, 0, n), exact: make(map[string][]int, n), prefix: map[string][]int{}}
	for i, rule := range rules {
		operands, ok := rule.When.(policy.Or)
		if !ok {
			operands = policy.Or{rule.When}
		}
		for _, operand := range operands {
			x.add(i, operand)
		}
	}
	slices.Sort(x.lengths)
	x.lengths = slices.Compact(x.lengths)
	return x
}

func (x *identityIndex) add(rule int, c policy.Condition) {
	at := len(x.alternatives)
	guard, rest, guarded := splitGuard(c)
	x.alternatives = append(x.alternatives, alternative{rule: rule, guarded: guarded, guard: guard, rest: rest})
	switch {
	case !guarded:
		x.open = append(x.open, at)
	case guard.Kind == policy.Exact:
		x.exact[guard.Value] = append(x.exact[guard.Value], at)
	default:
		x.prefix[guard.Value] = append(x.prefix[guard.Value], at)
		x.lengths = append(x.lengths, len(guard.Value))
	}
}

func splitGuard(c policy.Condition) (guard policy.Identity, rest policy.Condition, ok bool) {
	switch c := c.(type) {
	case policy.Identity:
		return c, policy.Always, true
	case policy.And:
		for i, of := range c {
			if guard, ok := of.(policy.Identity); ok {
				return guard, simplify(slices.Delete(slices.Clone(c), i, i+1)), true
			}
		}
	}
	return policy.Identity{}, c, false
}

// meets returns the alternatives that the identity can meet, in rule order.
func (x *identityIndex) meets(identity string) []int {
	found := slices.Concat(x.exact[identity], x.open)
	for _, n := range x.lengths {
		if n > len(identity) {
			break
		}
		found = append(found, x.prefix[identity[:n]]...)
	}
	slices.Sort(found)
	return found
}

// residue evaluates the gate for one identity. It returns the rules that still
// depend on the rest of the request and the verdict that stands behind them, or
// false where the residue is too long to be repeated.
func (x *identityIndex) residue(identity string, fallback policy.Verdict) ([]policy.Rule, policy.Verdict, bool) {
	var residue []policy.Rule
	for _, at := range x.meets(identity) {
		a := x.alternatives[at]
		when := simplify(assume(a.rest, identity))
		switch when {
		case policy.Never:
			continue
		case policy.Always:
			return residue, x.rules[a.rule].Verdict, true
		}
		if len(residue) == residueMax {
			return nil, policy.Verdict{}, false
		}
		residue = append(residue, policy.Rule{Verdict: x.rules[a.rule].Verdict, When: when})
	}
	return residue, fallback, true
}

// without returns the rules less the alternatives that the map answers.
func (x *identityIndex) without(mapped map[string]*matcherv3.Matcher_OnMatch) []policy.Rule {
	left := make([]policy.Or, len(x.rules))
	for _, a := range x.alternatives {
		when := a.rest
		if a.guarded {
			if _, ok := mapped[a.guard.Value]; ok && a.guard.Kind == policy.Exact {
				continue
			}
			when = policy.And{a.guard, a.rest}
		}
		left[a.rule] = append(left[a.rule], when)
	}
	var rules []policy.Rule
	for i, operands := range left {
		if when := simplify(operands); when != policy.Never {
			rules = append(rules, policy.Rule{Verdict: x.rules[i].Verdict, When: when})
		}
	}
	return rules
}

// assume replaces every question for the identity by its answer.
func assume(c policy.Condition, identity string) policy.Condition {
	switch c := c.(type) {
	case policy.Identity:
		return policy.Constant(policy.StringMatch(c).Matches(identity))
	case policy.Not:
		return policy.Not{Of: assume(c.Of, identity)}
	case policy.And:
		return policy.And(assumeAll(c, identity))
	case policy.Or:
		return policy.Or(assumeAll(c, identity))
	default:
		return c
	}
}

func assumeAll(cs []policy.Condition, identity string) []policy.Condition {
	out := make([]policy.Condition, len(cs))
	for i, c := range cs {
		out[i] = assume(c, identity)
	}
	return out
}
