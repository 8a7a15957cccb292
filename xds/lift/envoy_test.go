package lift

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// envoyDecides is what Envoy does with filters that others made.
func envoyDecides(f xds.Filters, r *policy.Request) policy.Decision {
	d := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}
	ask := func(filter rbacFilter, layer policy.Layer) {
		if d.Effect == policy.Deny {
			return
		}
		if v, ok := envoyEngine(filter.GetShadowMatcher(), filter.GetShadowRules(), r); ok && (!d.Shadowed || d.Shadow.Effect == policy.Allow) {
			d.Shadow, d.Shadowed = v, true
		}
		onlyLogs := filter.GetMatcher() == nil && filter.GetRules().GetAction() == rbacv3.RBAC_LOG
		if v, ok := envoyEngine(filter.GetMatcher(), filter.GetRules(), r); ok && !onlyLogs {
			d.Verdict, d.Layer = v, layer
		}
	}
	for _, filter := range f.Network {
		ask(filter, policy.L4)
	}
	for _, route := range f.Routes {
		if envoyRoutes(route.Match, r) {
			for _, filter := range route.HTTP {
				ask(filter, policy.L7)
			}
			return d
		}
	}
	for _, filter := range f.HTTP {
		ask(filter, policy.L7)
	}
	return d
}

func envoyEngine(m *matcherv3.Matcher, rules *rbacv3.RBAC, r *policy.Request) (policy.Verdict, bool) {
	switch {
	case m != nil:
		v, _ := envoyMatcher(m, r)
		return v, true
	case rules != nil:
		return envoyRules(rules, r), true
	default:
		return policy.Verdict{}, false
	}
}

func envoyMatcher(m *matcherv3.Matcher, r *policy.Request) (policy.Verdict, bool) {
	for _, entry := range m.GetMatcherList().GetMatchers() {
		if envoyPredicate(entry.Predicate, r) {
			if v, ok := envoyOutcome(entry.OnMatch, r); ok {
				return v, true
			}
		}
	}
	tree := m.GetMatcherTree()
	value := envoyInput(tree.GetInput(), r)
	if entry, ok := tree.GetExactMatchMap().GetMap()[value]; ok {
		if v, ok := envoyOutcome(entry, r); ok {
			return v, true
		}
	}
	for i := len(value); i >= 0; i-- {
		if entry, ok := tree.GetPrefixMatchMap().GetMap()[value[:i]]; ok {
			if v, ok := envoyOutcome(entry, r); ok {
				return v, true
			}
		}
	}
	return envoyOutcome(m.OnNoMatch, r)
}

func envoyOutcome(on *matcherv3.Matcher_OnMatch, r *policy.Request) (policy.Verdict, bool) {
	if on.GetAction() == nil {
		if on.GetMatcher() == nil {
			return policy.Verdict{}, false
		}
		return envoyMatcher(on.GetMatcher(), r)
	}
	var action rbacv3.Action
	if err := on.GetAction().TypedConfig.UnmarshalTo(&action); err != nil {
		panic(err)
	}
	v := policy.Verdict{Origin: action.Name, Effect: policy.Allow}
	if action.Action == rbacv3.RBAC_DENY {
		v.Effect = policy.Deny
	}
	return v, true
}

func envoyPredicate(p *matcherv3.Matcher_MatcherList_Predicate, r *policy.Request) bool {
	holds := func(of *matcherv3.Matcher_MatcherList_Predicate) bool { return envoyPredicate(of, r) }
	fails := func(of *matcherv3.Matcher_MatcherList_Predicate) bool { return !envoyPredicate(of, r) }
	switch p := p.MatchType.(type) {
	case *matcherv3.Matcher_MatcherList_Predicate_AndMatcher:
		return !slices.ContainsFunc(p.AndMatcher.Predicate, fails)
	case *matcherv3.Matcher_MatcherList_Predicate_OrMatcher:
		return slices.ContainsFunc(p.OrMatcher.Predicate, holds)
	case *matcherv3.Matcher_MatcherList_Predicate_NotMatcher:
		return !holds(p.NotMatcher)
	default:
		single := p.(*matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_).SinglePredicate
		return envoyString(single.GetValueMatch(), single.GetValueMatch().GetSafeRegex().GetRegex(), envoyInput(single.Input, r))
	}
}

func envoyInput(config *xdscorev3.TypedExtensionConfig, r *policy.Request) string {
	if config == nil {
		return ""
	}
	in, err := config.TypedConfig.UnmarshalNew()
	if err != nil {
		panic(err)
	}
	switch in := in.(type) {
	case *sslinputsv3.UriSanInput:
		return strings.Join(r.URIs, ",")
	case *envoymatcherv3.HttpRequestHeaderMatchInput:
		return envoyHeader(in.HeaderName, r)
	default:
		panic(in)
	}
}

func envoyHeader(name string, r *policy.Request) string {
	if name == ":path" {
		return r.Path
	}
	return r.Method
}

func envoyString(m stringMatcher, regex, value string) bool {
	switch {
	case regex != "":
		return regexp.MustCompile(`\A(?:` + regex + `)\z`).MatchString(value)
	case m.GetPrefix() != "":
		return strings.HasPrefix(value, m.GetPrefix())
	default:
		return m.GetExact() == value
	}
}

func envoyText(m *envoymatcherv3.StringMatcher, value string) bool {
	return envoyString(m, m.GetSafeRegex().GetRegex(), value)
}

func envoyRules(rules *rbacv3.RBAC, r *policy.Request) policy.Verdict {
	matched, ok := "", false
	for _, name := range slices.Sorted(maps.Keys(rules.Policies)) {
		p := rules.Policies[name]
		if slices.ContainsFunc(p.Permissions, func(of *rbacv3.Permission) bool { return envoyPermission(of, r) }) &&
			slices.ContainsFunc(p.Principals, func(of *rbacv3.Principal) bool { return envoyPrincipal(of, r) }) {
			matched, ok = name, true
			break
		}
	}
	allows := rules.Action == rbacv3.RBAC_LOG || ok == (rules.Action == rbacv3.RBAC_ALLOW)
	return policy.Verdict{Effect: effect(allows), Origin: matched}
}

func envoyPermission(p *rbacv3.Permission, r *policy.Request) bool {
	holds := func(of *rbacv3.Permission) bool { return envoyPermission(of, r) }
	switch of := p.Rule.(type) {
	case *rbacv3.Permission_Any:
		return true
	case *rbacv3.Permission_AndRules:
		return !slices.ContainsFunc(of.AndRules.Rules, func(of *rbacv3.Permission) bool { return !holds(of) })
	case *rbacv3.Permission_OrRules:
		return slices.ContainsFunc(of.OrRules.Rules, holds)
	case *rbacv3.Permission_NotRule:
		return !holds(of.NotRule)
	case *rbacv3.Permission_Header:
		return envoyText(of.Header.GetStringMatch(), envoyHeader(of.Header.Name, r)) != of.Header.InvertMatch
	default:
		return envoyText(p.GetUrlPath().GetPath(), r.PathOnly())
	}
}

func envoyPrincipal(p *rbacv3.Principal, r *policy.Request) bool {
	holds := func(of *rbacv3.Principal) bool { return envoyPrincipal(of, r) }
	switch of := p.Identifier.(type) {
	case *rbacv3.Principal_Any:
		return true
	case *rbacv3.Principal_AndIds:
		return !slices.ContainsFunc(of.AndIds.Ids, func(of *rbacv3.Principal) bool { return !holds(of) })
	case *rbacv3.Principal_OrIds:
		return slices.ContainsFunc(of.OrIds.Ids, holds)
	case *rbacv3.Principal_NotId:
		return !holds(of.NotId)
	default:
		m := p.GetAuthenticated().PrincipalName
		return slices.ContainsFunc(slices.Concat(r.URIs, r.DNS), func(name string) bool { return envoyText(m, name) })
	}
}

func envoyRoutes(m *routev3.RouteMatch, r *policy.Request) bool {
	for _, h := range m.Headers {
		if envoyText(h.GetStringMatch(), r.Method) == h.InvertMatch {
			return false
		}
	}
	path := r.PathOnly()
	switch by := m.PathSpecifier.(type) {
	case *routev3.RouteMatch_Prefix:
		return strings.HasPrefix(path, by.Prefix)
	case *routev3.RouteMatch_Path:
		return path == by.Path
	case *routev3.RouteMatch_SafeRegex:
		return envoyText(&envoymatcherv3.StringMatcher{MatchPattern: &envoymatcherv3.StringMatcher_SafeRegex{SafeRegex: by.SafeRegex}}, path)
	default:
		separated := m.GetPathSeparatedPrefix()
		return path == separated || strings.HasPrefix(path, separated+"/")
	}
}
