package xds

import (
	"fmt"
	"strings"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
)

// judge asks the form that is set.
func (c compiled) judge(r *policy.Request) policy.Verdict {
	if c.rules != nil {
		return judgeNamed(c.rules, r)
	}
	return judge(c.matcher, r)
}

// judge is what Envoy's RBAC engine does with a matcher: the action it comes to,
// and where there is none a denial without a name.
func judge(m *matcherv3.Matcher, r *policy.Request) policy.Verdict {
	verdict, _ := evaluate(m, r)
	return verdict
}

// evaluate follows xds.type.matcher.v3.Matcher: the first entry of a list that
// matches and comes to an action decides; a nested matcher that comes to none
// lets the evaluation go on behind it; on_no_match is asked last.
func evaluate(m *matcherv3.Matcher, r *policy.Request) (policy.Verdict, bool) {
	for _, entry := range m.GetMatcherList().GetMatchers() {
		if holds(entry.Predicate, r) {
			if verdict, ok := outcomeOf(entry.OnMatch, r); ok {
				return verdict, true
			}
		}
	}
	if tree := m.GetMatcherTree(); tree != nil {
		if entry, ok := tree.GetExactMatchMap().Map[inputOf(tree.Input, r)]; ok {
			if verdict, ok := outcomeOf(entry, r); ok {
				return verdict, true
			}
		}
	}
	return outcomeOf(m.OnNoMatch, r)
}

func outcomeOf(on *matcherv3.Matcher_OnMatch, r *policy.Request) (policy.Verdict, bool) {
	switch on := on.GetOnMatch().(type) {
	case *matcherv3.Matcher_OnMatch_Matcher:
		return evaluate(on.Matcher, r)
	case *matcherv3.Matcher_OnMatch_Action:
		var action rbacv3.Action
		if err := on.Action.TypedConfig.UnmarshalTo(&action); err != nil {
			panic(err)
		}
		verdict := policy.Verdict{Origin: action.Name}
		if action.Action == rbacv3.RBAC_ALLOW {
			verdict.Effect = policy.Allow
		}
		return verdict, true
	default:
		return policy.Verdict{}, false
	}
}

func holds(p *matcherv3.Matcher_MatcherList_Predicate, r *policy.Request) bool {
	switch p := p.MatchType.(type) {
	case *matcherv3.Matcher_MatcherList_Predicate_AndMatcher:
		for _, of := range p.AndMatcher.Predicate {
			if !holds(of, r) {
				return false
			}
		}
		return true
	case *matcherv3.Matcher_MatcherList_Predicate_OrMatcher:
		for _, of := range p.OrMatcher.Predicate {
			if holds(of, r) {
				return true
			}
		}
		return false
	case *matcherv3.Matcher_MatcherList_Predicate_NotMatcher:
		return !holds(p.NotMatcher, r)
	case *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_:
		value := inputOf(p.SinglePredicate.Input, r)
		switch pattern := p.SinglePredicate.GetValueMatch().MatchPattern.(type) {
		case *matcherv3.StringMatcher_Exact:
			return value == pattern.Exact
		case *matcherv3.StringMatcher_Prefix:
			return strings.HasPrefix(value, pattern.Prefix)
		}
	}
	panic(fmt.Sprintf("predicate %v is outside of what is compiled", p))
}

func inputOf(config *xdscorev3.TypedExtensionConfig, r *policy.Request) string {
	in, err := config.TypedConfig.UnmarshalNew()
	if err != nil {
		panic(err)
	}
	switch in := in.(type) {
	case *sslinputsv3.UriSanInput:
		return strings.Join(r.URIs, ",")
	case *envoymatcherv3.HttpRequestHeaderMatchInput:
		switch in.HeaderName {
		case ":path":
			return r.Path
		case ":method":
			return r.Method
		}
	}
	panic(fmt.Sprintf("input %v is outside of what is compiled", in))
}
