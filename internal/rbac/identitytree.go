package rbac

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
func identityTree(rules []policy.Rule, fallback policy.Verdict) *matcherv3.Matcher {
	if slices.ContainsFunc(rules, func(r policy.Rule) bool { return len(r.Then) > 0 }) {
		return nil
	}
	index := newIdentityIndex(rules)
	if len(index.exact) < identityTreeMin {
		return nil
	}
	entries := make(map[string]*matcherv3.Matcher_OnMatch, len(index.exact))
	for identity := range index.exact {
		residue, end, ok := index.residue(identity)
		switch {
		case !ok:
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
		OnNoMatch: outcome(index.without(entries), fallback),
	}
}

// outcome is an action where no rule is left to ask, otherwise a nested matcher.
func outcome(rules []policy.Rule, fallback policy.Verdict) *matcherv3.Matcher_OnMatch {
	if len(rules) == 0 && fallback.Origin != "" {
		return action(fallback)
	}
	return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Matcher{Matcher: matcherList(rules, fallback)}}
}
