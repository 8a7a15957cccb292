package sidecar

import (
	"cmp"
	"maps"
	"slices"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
)

// tree reads a matcher_tree.
func (t *translator) tree(m *matcherv3.Matcher_MatcherTree, at *path, out *draft) {
	switch m.GetTreeType().(type) {
	case *matcherv3.Matcher_MatcherTree_ExactMatchMap:
		t.exactMap(m, at.field("exact_match_map").field("map"), out)
	case *matcherv3.Matcher_MatcherTree_PrefixMatchMap:
		t.prefixMap(m, at.field("prefix_match_map").field("map"), out)
	default:
		t.lost.add(at, "it is neither a map of values nor one of beginnings")
	}
}

// exactMap makes one rule of the keys that come to the same verdict: only one of them
// is met, whatever their order.
func (t *translator) exactMap(m *matcherv3.Matcher_MatcherTree, at *path, out *draft) {
	entries := m.GetExactMatchMap().GetMap()
	var verdicts []policy.Verdict
	keys := map[policy.Verdict][]reading{}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		when, o := t.key(m, exact(k), at), t.onMatch(entries[k], at.key(k))
		if !when.whole || o.verdict == nil || len(o.rules)+len(o.asks) > 0 {
			out.add(when, o)
			continue
		}
		if keys[*o.verdict] == nil {
			verdicts = append(verdicts, *o.verdict)
		}
		keys[*o.verdict] = append(keys[*o.verdict], when)
	}
	for _, verdict := range verdicts {
		out.add(anyOf(keys[verdict]), outcome{verdict: &verdict})
	}
}

// prefixMap asks for the longest prefix first. Where its entry comes to nothing, Envoy
// goes on with a shorter one, since version 1.35.
func (t *translator) prefixMap(m *matcherv3.Matcher_MatcherTree, at *path, out *draft) {
	entries := m.GetPrefixMatchMap().GetMap()
	longest := func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }
	for _, k := range slices.SortedFunc(maps.Keys(entries), longest) {
		out.add(t.key(m, beginning(k), at), t.onMatch(entries[k], at.key(k)))
	}
}

func (t *translator) key(m *matcherv3.Matcher_MatcherTree, a alternative, at *path) reading {
	return t.anyTerm([]term{t.input(m.GetInput(), text{alternatives: []alternative{a}}, at.key(a.Value))})
}
