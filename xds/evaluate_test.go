package xds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
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

// judgeNamed is what Envoy's RBAC engine does with the policies of an RBAC: the first in
// the order of names that has a principal for the request is the effective one.
func judgeNamed(rules *rbacv3.RBAC, r *policy.Request) policy.Verdict {
	matched := policy.Verdict{Effect: policy.Allow}
	missed := policy.Verdict{Effect: policy.Allow}
	switch rules.Action {
	case rbacv3.RBAC_ALLOW:
		missed.Effect = policy.Deny
	case rbacv3.RBAC_DENY:
		matched.Effect = policy.Deny
	case rbacv3.RBAC_LOG:
		matched.Effect, missed.Effect = policy.Log, policy.Log
	}
	for _, name := range slices.Sorted(maps.Keys(rules.Policies)) {
		for _, p := range rules.Policies[name].Principals {
			if isPrincipal(p, r) {
				matched.Origin = name
				return matched
			}
		}
	}
	return missed
}

func isPrincipal(p *rbacv3.Principal, r *policy.Request) bool {
	is := func(of *rbacv3.Principal) bool { return isPrincipal(of, r) }
	switch p := p.Identifier.(type) {
	case *rbacv3.Principal_Any:
		return true
	case *rbacv3.Principal_AndIds:
		return !slices.ContainsFunc(p.AndIds.Ids, func(of *rbacv3.Principal) bool { return !is(of) })
	case *rbacv3.Principal_OrIds:
		return slices.ContainsFunc(p.OrIds.Ids, is)
	case *rbacv3.Principal_NotId:
		return !is(p.NotId)
	case *rbacv3.Principal_Authenticated_:
		return slices.ContainsFunc(slices.Concat(r.URIs, r.DNS), func(name string) bool { return matches(p.Authenticated.PrincipalName, name) })
	case *rbacv3.Principal_Header:
		return p.Header.Name == ":method" && matches(p.Header.GetStringMatch(), r.Method)
	case *rbacv3.Principal_UrlPath:
		return matches(p.UrlPath.GetPath(), r.PathOnly())
	default:
		panic(fmt.Sprintf("principal %v is outside of what is compiled", p))
	}
}

func matches(m *envoymatcherv3.StringMatcher, value string) bool {
	if prefix, ok := m.MatchPattern.(*envoymatcherv3.StringMatcher_Prefix); ok {
		return strings.HasPrefix(value, prefix.Prefix)
	}
	return value == m.GetExact()
}

// route follows envoy.config.route.v3.RouteMatch: the first that matches.
func (f Filters) route(r *policy.Request) *Route {
	for i, route := range f.Routes {
		if routes(route.Match, r) {
			return &f.Routes[i]
		}
	}
	return nil
}

func routes(m *routev3.RouteMatch, r *policy.Request) bool {
	for _, header := range m.Headers {
		if !matches(header.GetStringMatch(), r.Method) {
			return false
		}
	}
	path := r.PathOnly()
	switch by := m.PathSpecifier.(type) {
	case *routev3.RouteMatch_Path:
		return path == by.Path
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return path == by.PathSeparatedPrefix || strings.HasPrefix(path, by.PathSeparatedPrefix+"/")
	default:
		return true
	}
}
