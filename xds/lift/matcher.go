package lift

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	ipv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/ip/v3"
	metadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/metadata/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// matcher reads an xds.type.matcher.v3.Matcher: the first entry that matches and comes
// to an action decides, on_no_match is asked last.
func (t *translator) matcher(m *matcherv3.Matcher, at *messages.Path) outcome {
	var out outcome
	switch m.GetMatcherType().(type) {
	case *matcherv3.Matcher_MatcherList_:
		at := at.Field("matcher_list").Field("matchers")
		for i, entry := range m.GetMatcherList().GetMatchers() {
			when := t.predicate(entry.GetPredicate(), at.Index(i).Field("predicate"))
			out.add(when, t.onMatch(entry.GetOnMatch(), at.Index(i).Field("on_match")))
		}
	case *matcherv3.Matcher_MatcherTree_:
		t.tree(m.GetMatcherTree(), at.Field("matcher_tree"), &out.draft)
	}
	if m.GetOnNoMatch() == nil {
		return out
	}
	last := t.onMatch(m.OnNoMatch, at.Field("on_no_match"))
	out.rules, out.asks = append(out.rules, last.rules...), append(out.asks, last.asks...)
	out.verdict, out.unread = last.verdict, last.unread
	return out
}

func (t *translator) onMatch(m *matcherv3.Matcher_OnMatch, at *messages.Path) outcome {
	if m.GetKeepMatching() {
		t.lost.add(at, "keep_matching: Envoy refuses it in an RBAC filter")
		return outcome{unread: true}
	}
	switch m.GetOnMatch().(type) {
	case *matcherv3.Matcher_OnMatch_Matcher:
		return t.matcher(m.GetMatcher(), at.Field("matcher"))
	case *matcherv3.Matcher_OnMatch_Action:
		return t.action(m.GetAction(), at.Field("action"))
	default:
		t.lost.add(at, "it comes to nothing: Envoy refuses it")
		return outcome{unread: true}
	}
}

// action reads an envoy.config.rbac.v3.Action. An action that logs lets pass.
func (t *translator) action(config *xdscorev3.TypedExtensionConfig, at *messages.Path) outcome {
	of := t.open(config)
	action, ok := of.message.(*rbacv3.Action)
	switch {
	case of.err != nil:
		t.lost.add(at, "no action can be read: "+of.err.Error())
	case !ok:
		t.lost.add(at, "it is no action of RBAC")
	default:
		return outcome{verdict: &policy.Verdict{Effect: effect(action.Action != rbacv3.RBAC_DENY), Origin: action.Name}}
	}
	return outcome{unread: true}
}

func effect(allows bool) policy.Effect {
	if allows {
		return policy.Allow
	}
	return policy.Deny
}

func (t *translator) predicate(p *matcherv3.Matcher_MatcherList_Predicate, at *messages.Path) reading {
	switch p.GetMatchType().(type) {
	case *matcherv3.Matcher_MatcherList_Predicate_AndMatcher:
		return t.allTerm(t.terms(p.GetAndMatcher(), at.Field("and_matcher")))
	case *matcherv3.Matcher_MatcherList_Predicate_OrMatcher:
		return t.anyTerm(t.terms(p.GetOrMatcher(), at.Field("or_matcher")))
	case *matcherv3.Matcher_MatcherList_Predicate_NotMatcher:
		return negated(t.predicate(p.GetNotMatcher(), at.Field("not_matcher")))
	case *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_:
		return t.anyTerm([]term{t.single(p.GetSinglePredicate(), at.Field("single_predicate"))})
	default:
		return t.unsaid(at, "it asks for nothing: Envoy refuses it")
	}
}

func (t *translator) terms(list *matcherv3.Matcher_MatcherList_Predicate_PredicateList, at *messages.Path) []term {
	at = at.Field("predicate")
	out := make([]term, len(list.GetPredicate()))
	for i, p := range list.GetPredicate() {
		if single := p.GetSinglePredicate(); single != nil {
			out[i] = t.single(single, at.Index(i).Field("single_predicate"))
		} else {
			out[i].reading = t.predicate(p, at.Index(i))
		}
	}
	return out
}

func (t *translator) single(p *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate, at *messages.Path) term {
	if p.GetValueMatch() != nil {
		return t.input(p.Input, textOf(p.GetValueMatch()), at)
	}
	in, matcher := t.open(p.GetInput()), t.open(p.GetCustomMatch())
	sound := in.err == nil && matcher.err == nil
	if of, ok := matcher.message.(*ipv3.Ip); ok && sound {
		if shown := in.attribute(); shown != nil && isAddress(shown) {
			return term{reading: t.blocks(shown, of.GetCidrRanges(), at.Field("custom_match").Field("typed_config").Field("cidr_ranges"))}
		}
	}
	of, isMetadata := matcher.message.(*metadatav3.Metadata)
	if input, ok := in.message.(*networkinputsv3.DynamicMetadataInput); ok && isMetadata && sound {
		return term{reading: t.metadataInput(input, of.GetValue(), of.GetInvert(), at)}
	}
	return term{reading: t.unsaid(at, "it asks for more than a string matcher can")}
}

// input compares what a matcher looks at with a text.
func (t *translator) input(config *xdscorev3.TypedExtensionConfig, of text, at *messages.Path) term {
	opened := t.open(config)
	if opened.err != nil {
		return term{reading: t.unsaid(at.Field("input"), "no input can be read: "+opened.err.Error())}
	}
	in := opened.message
	switch shown := opened.attribute(); {
	case shown == attribute.DestinationPort:
		return term{reading: t.portText(of, at)}
	case shown != nil && isAddress(shown):
		return term{reading: t.addressText(shown, of, at)}
	case shown != nil && shown.Layer == policy.L4:
		return t.attribute(shown, of, at)
	}
	if in, ok := in.(*envoymatcherv3.HttpRequestHeaderMatchInput); ok {
		return t.header(in.HeaderName, true, of, at)
	}
	return term{reading: t.unsaid(at, fmt.Sprintf("no policy can ask for a %s", in.ProtoReflect().Descriptor().Name()))}
}

// tree reads a matcher_tree.
func (t *translator) tree(m *matcherv3.Matcher_MatcherTree, at *messages.Path, out *draft) {
	switch m.GetTreeType().(type) {
	case *matcherv3.Matcher_MatcherTree_ExactMatchMap:
		t.exactMap(m, at.Field("exact_match_map").Field("map"), out)
	case *matcherv3.Matcher_MatcherTree_PrefixMatchMap:
		t.prefixMap(m, at.Field("prefix_match_map").Field("map"), out)
	default:
		t.lost.add(at, "it is neither a map of values nor one of beginnings")
	}
}

// exactMap makes one rule of the keys with the same verdict: a request meets only one of
// them, in any order.
func (t *translator) exactMap(m *matcherv3.Matcher_MatcherTree, at *messages.Path, out *draft) {
	entries := m.GetExactMatchMap().GetMap()
	var verdicts []policy.Verdict
	keys := map[policy.Verdict][]reading{}
	for _, k := range slices.Sorted(maps.Keys(entries)) {
		when, o := t.key(m, exact(k), at), t.onMatch(entries[k], at.Key(k))
		if !when.complete || o.verdict == nil || len(o.rules)+len(o.asks) > 0 {
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

// prefixMap asks for the longest prefix first. Where its entry has no result, Envoy goes on
// with a shorter prefix, since version 1.35.
func (t *translator) prefixMap(m *matcherv3.Matcher_MatcherTree, at *messages.Path, out *draft) {
	entries := m.GetPrefixMatchMap().GetMap()
	longest := func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }
	for _, k := range slices.SortedFunc(maps.Keys(entries), longest) {
		out.add(t.key(m, beginning(k), at), t.onMatch(entries[k], at.Key(k)))
	}
}

func (t *translator) key(m *matcherv3.Matcher_MatcherTree, a alternative, at *messages.Path) reading {
	return t.anyTerm([]term{t.input(m.GetInput(), text{alternatives: []alternative{a}}, at.Key(a.Value))})
}
