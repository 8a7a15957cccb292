package xds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
)

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
