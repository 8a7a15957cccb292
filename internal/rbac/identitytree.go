package rbac

import (
	"slices"
	"strings"
	"unicode/utf8"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"

	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// alternative is one way to match a rule: an operand of its outermost Or. A guard
// is an identity without which the alternative cannot match.
type alternative struct {
	rule    int
	guarded bool
	// mapped says that the map answers for the guard.
	mapped bool
	guard  policy.Match
	// rest is the question that remains when the guard is met.
	rest policy.Condition
	// earlier is the next earlier alternative with the same guard.
	earlier chain
}

// chain is the last of some alternatives, counted from 1; the zero value is none.
type chain int

// identityIndex finds the alternatives that an identity can meet without a scan
// over the rules.
type identityIndex struct {
	rules         []policy.Rule
	alternatives  []alternative
	exact, prefix map[string]chain
	// lengths are the lengths of the prefixes, ascending.
	lengths []int
	open    []int
	// ends has the action of each rule, as soon as it is made. Every identity of the rule
	// shares it, and it never changes.
	ends []*matcherv3.Matcher_OnMatch
	// found is the answer of meets, which the next call overwrites.
	found []int
}

// noRule stands for the default behind all rules.
const noRule = -1

func (x *identityIndex) end(rule int) *matcherv3.Matcher_OnMatch {
	if x.ends[rule] == nil {
		x.ends[rule] = action(x.rules[rule].Verdict)
	}
	return x.ends[rule]
}

func newIdentityIndex(rules []policy.Rule) *identityIndex {
	n := 0
	for _, rule := range rules {
		n++
		if or, ok := rule.When.(policy.Or); ok {
			n += len(or) - 1
		}
	}
	x := &identityIndex{
		rules: rules, alternatives: make([]alternative, 0, n),
		exact: make(map[string]chain, n), prefix: map[string]chain{},
		ends: make([]*matcherv3.Matcher_OnMatch, len(rules)),
	}
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
	a := alternative{rule: rule}
	a.guard, a.rest, a.guarded = splitGuard(c)
	last := chain(len(x.alternatives) + 1)
	switch {
	case !a.guarded:
		x.open = append(x.open, len(x.alternatives))
	case a.guard.Kind == policy.Exact:
		a.earlier, x.exact[a.guard.Value] = x.exact[a.guard.Value], last
	default:
		a.earlier, x.prefix[a.guard.Value] = x.prefix[a.guard.Value], last
		x.lengths = append(x.lengths, len(a.guard.Value))
	}
	x.alternatives = append(x.alternatives, a)
}

// splitGuard takes an identity that the condition cannot hold without out of it.
func splitGuard(c policy.Condition) (guard policy.Match, rest policy.Condition, ok bool) {
	if guard, ok := identityMatch(c); ok {
		return guard, policy.Always, true
	}
	and, _ := c.(policy.And)
	for i, of := range and {
		if guard, ok := identityMatch(of); ok {
			return guard, simplify(slices.Delete(slices.Clone(and), i, i+1)), true
		}
	}
	return policy.Match{}, c, false
}

func identityMatch(c policy.Condition) (policy.Match, bool) {
	is, ok := c.(policy.Is)
	return is.Match, ok && is.Attribute == attribute.Identity && !is.Match.AnyCase && (is.Match.Kind == policy.Exact || is.Match.Kind == policy.Prefix)
}

// meets returns the alternatives that the identity can meet, in rule order. Those that ask for it
// exactly are known.
func (x *identityIndex) meets(identity string, exact chain) []int {
	x.found = append(x.found[:0], x.open...)
	x.collect(exact)
	for _, n := range x.lengths {
		if n > len(identity) {
			break
		}
		x.collect(x.prefix[identity[:n]])
	}
	slices.Sort(x.found)
	return x.found
}

func (x *identityIndex) collect(c chain) {
	for ; c > 0; c = x.alternatives[c-1].earlier {
		x.found = append(x.found, int(c-1))
	}
}

// residue evaluates the gate for one identity. It returns the rules that still
// depend on the rest of the request and the rule whose verdict stands behind them,
// or false where the residue is too long to be repeated.
func (x *identityIndex) residue(identity string, exact chain) (residue []policy.Rule, end int, ok bool) {
	for _, at := range x.meets(identity, exact) {
		a := &x.alternatives[at]
		when := a.rest
		if when != policy.Always {
			when = assume(when, identity)
		}
		switch when {
		case policy.Never:
			continue
		case policy.Always:
			return residue, a.rule, true
		}
		if len(residue) == residueMax {
			return nil, noRule, false
		}
		residue = append(residue, policy.Rule{Verdict: x.rules[a.rule].Verdict, When: when})
	}
	return residue, noRule, true
}

// withoutMapped returns the rules less the alternatives that the map answers.
func (x *identityIndex) withoutMapped() []policy.Rule {
	left := make([]policy.Or, len(x.rules))
	for _, a := range x.alternatives {
		if a.mapped {
			continue
		}
		when := a.rest
		if a.guarded {
			when = policy.Is{Attribute: attribute.Identity, Match: a.guard}
			if a.rest != policy.Always {
				when = policy.And{when, a.rest}
			}
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
	return rewrite.Condition(c, rewrite.Shape[policy.Condition]{
		And: simpleShape.And,
		Or:  simpleShape.Or,
		Not: simpleShape.Not,
		Leaf: func(c policy.Condition) policy.Condition {
			is, ok := c.(policy.Is)
			if !ok || is.Attribute != attribute.Identity || is.Match.Kind == policy.Regex && !isASCII(identity) {
				// Releases of Envoy read other bytes differently.
				return c
			}
			return policy.Constant(is.Match.Matches(identity))
		},
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

const (
	// identityTreeMin is the number of exactly compared identities from which on a
	// gate is compiled to a map. Below it a linear scan costs less than a
	// microsecond and the filter keeps the shape of the written rules.
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
// stands for all other values of the request, preceded by the rules before it that
// still ask for method or path. It returns nil where the map would not pay, and
// for rules that nest others, which keep their written shape.
func identityTree(rules []policy.Rule, fallback policy.Verdict) *matcherv3.Matcher {
	if slices.ContainsFunc(rules, func(r policy.Rule) bool { return len(r.Then) > 0 }) {
		return nil
	}
	index := newIdentityIndex(rules)
	if len(index.exact) < identityTreeMin {
		return nil
	}
	entries := make(map[string]*matcherv3.Matcher_OnMatch, len(index.exact))
	for identity, exact := range index.exact {
		residue, end, ok := index.residue(identity, exact)
		if !ok {
			continue
		}
		for c := exact; c > 0; c = index.alternatives[c-1].earlier {
			index.alternatives[c-1].mapped = true
		}
		switch {
		case end == noRule:
			entries[identity] = outcome(residue, fallback)
		case len(residue) > 0:
			entries[identity] = outcome(residue, rules[end].Verdict)
		default:
			entries[identity] = index.end(end)
		}
	}
	if len(entries) < identityTreeMin {
		return nil
	}
	return &matcherv3.Matcher{
		MatcherType: &matcherv3.Matcher_MatcherTree_{MatcherTree: &matcherv3.Matcher_MatcherTree{
			Input:    uriSANInput,
			TreeType: &matcherv3.Matcher_MatcherTree_ExactMatchMap{ExactMatchMap: &matcherv3.Matcher_MatcherTree_MatchMap{Map: entries}},
		}},
		OnNoMatch: outcome(index.withoutMapped(), fallback),
	}
}

// outcome is an action where no rule is left to ask, otherwise a nested matcher.
func outcome(rules []policy.Rule, fallback policy.Verdict) *matcherv3.Matcher_OnMatch {
	if len(rules) == 0 && fallback.Origin != "" {
		return action(fallback)
	}
	return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Matcher{Matcher: matcherList(rules, fallback)}}
}
