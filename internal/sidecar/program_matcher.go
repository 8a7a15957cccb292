package sidecar

import (
	"fmt"
	"strconv"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
)

// matcher reads an xds.type.matcher.v3.Matcher: the first entry that matches and comes
// to an action decides, on_no_match is asked last.
func (t *translator) matcher(m *matcherv3.Matcher, at *path) outcome {
	var out outcome
	switch m.GetMatcherType().(type) {
	case *matcherv3.Matcher_MatcherList_:
		at := at.field("matcher_list").field("matchers")
		for i, entry := range m.GetMatcherList().GetMatchers() {
			when := t.predicate(entry.GetPredicate(), at.index(i).field("predicate"))
			out.add(when, t.onMatch(entry.GetOnMatch(), at.index(i).field("on_match")))
		}
	case *matcherv3.Matcher_MatcherTree_:
		t.tree(m.GetMatcherTree(), at.field("matcher_tree"), &out.draft)
	}
	if m.GetOnNoMatch() == nil {
		return out
	}
	last := t.onMatch(m.OnNoMatch, at.field("on_no_match"))
	out.rules, out.asks = append(out.rules, last.rules...), append(out.asks, last.asks...)
	out.verdict, out.unread = last.verdict, last.unread
	return out
}

func (t *translator) onMatch(m *matcherv3.Matcher_OnMatch, at *path) outcome {
	if m.GetKeepMatching() {
		t.lost.add(at, "keep_matching: Envoy refuses it in an RBAC filter")
		return outcome{unread: true}
	}
	switch m.GetOnMatch().(type) {
	case *matcherv3.Matcher_OnMatch_Matcher:
		return t.matcher(m.GetMatcher(), at.field("matcher"))
	case *matcherv3.Matcher_OnMatch_Action:
		return t.action(m.GetAction(), at.field("action"))
	default:
		t.lost.add(at, "it comes to nothing: Envoy refuses it")
		return outcome{unread: true}
	}
}

// action reads an envoy.config.rbac.v3.Action. One that logs lets pass.
func (t *translator) action(config *xdscorev3.TypedExtensionConfig, at *path) outcome {
	message, _, err := unpack(config.GetTypedConfig())
	action, ok := message.(*rbacv3.Action)
	switch {
	case err != nil:
		t.lost.add(at, "no action can be read: "+err.Error())
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

func (t *translator) predicate(p *matcherv3.Matcher_MatcherList_Predicate, at *path) reading {
	switch p.GetMatchType().(type) {
	case *matcherv3.Matcher_MatcherList_Predicate_AndMatcher:
		return t.allTerm(t.terms(p.GetAndMatcher(), at.field("and_matcher")))
	case *matcherv3.Matcher_MatcherList_Predicate_OrMatcher:
		return t.anyTerm(t.terms(p.GetOrMatcher(), at.field("or_matcher")))
	case *matcherv3.Matcher_MatcherList_Predicate_NotMatcher:
		return negated(t.predicate(p.GetNotMatcher(), at.field("not_matcher")))
	case *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_:
		return t.anyTerm([]term{t.single(p.GetSinglePredicate(), at.field("single_predicate"))})
	default:
		return t.unsaid(at, "it asks for nothing: Envoy refuses it")
	}
}

func (t *translator) terms(list *matcherv3.Matcher_MatcherList_Predicate_PredicateList, at *path) []term {
	at = at.field("predicate")
	out := make([]term, len(list.GetPredicate()))
	for i, p := range list.GetPredicate() {
		if single := p.GetSinglePredicate(); single != nil {
			out[i] = t.single(single, at.index(i).field("single_predicate"))
		} else {
			out[i].reading = t.predicate(p, at.index(i))
		}
	}
	return out
}

func (t *translator) single(p *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate, at *path) term {
	if p.GetValueMatch() == nil {
		return term{reading: t.unsaid(at, "it asks for more than a string matcher can")}
	}
	return t.input(p.Input, textOf(p.GetValueMatch()), at)
}

// input holds what a matcher looks at against a text.
func (t *translator) input(config *xdscorev3.TypedExtensionConfig, of text, at *path) term {
	in, _, err := unpack(config.GetTypedConfig())
	if err != nil {
		return term{reading: t.unsaid(at.field("input"), "no input can be read: "+err.Error())}
	}
	switch in := in.(type) {
	case *sslinputsv3.UriSanInput:
		return term{reading: t.identity(of, at)}
	case *envoymatcherv3.HttpRequestHeaderMatchInput:
		return t.header(in.HeaderName, of, at)
	case *networkinputsv3.DestinationPortInput:
		if t.port != 0 {
			return term{reading: t.constant(of, at, strconv.Itoa(int(t.port)))}
		}
	}
	return term{reading: t.unsaid(at, fmt.Sprintf("no policy can ask for a %s", in.ProtoReflect().Descriptor().Name()))}
}
