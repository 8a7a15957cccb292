// Package enginetest decides requests by Envoy's messages, as Envoy does, for tests that need no
// Envoy.
//
// It guarantees that a message which it does not know is a panic, and never a decision. Tests on
// Envoy hold the same filters against the real engine.
package enginetest

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/policy"
)

// Judge is an RBAC engine: the action that its matcher comes to, or the policy of its rules that
// is effective. It returns false where there is no engine. A matcher that comes to no action
// denies without a name.
func Judge(m *matcherv3.Matcher, rules *rbacv3.RBAC, r *policy.Request) (policy.Verdict, bool) {
	switch {
	case m != nil:
		v, _ := judgeMatcher(m, r)
		return v, true
	case rules != nil:
		return judgeRules(rules, r), true
	}
	return policy.Verdict{}, false
}

// judgeMatcher follows xds.type.matcher.v3.Matcher: the first entry that matches and comes to an
// action decides; a nested matcher that comes to none lets the evaluation go on behind it;
// on_no_match is asked last.
func judgeMatcher(m *matcherv3.Matcher, r *policy.Request) (policy.Verdict, bool) {
	for _, entry := range m.GetMatcherList().GetMatchers() {
		if holds(entry.Predicate, r) {
			if v, ok := outcome(entry.OnMatch, r); ok {
				return v, true
			}
		}
	}
	if tree := m.GetMatcherTree(); tree != nil {
		value, _ := input(tree.Input, r)
		entries := []*matcherv3.Matcher_OnMatch{tree.GetExactMatchMap().GetMap()[value]}
		for i := len(value); i >= 0; i-- {
			entries = append(entries, tree.GetPrefixMatchMap().GetMap()[value[:i]])
		}
		for _, entry := range entries {
			if v, ok := outcome(entry, r); ok {
				return v, true
			}
		}
	}
	return outcome(m.OnNoMatch, r)
}

func outcome(on *matcherv3.Matcher_OnMatch, r *policy.Request) (policy.Verdict, bool) {
	switch on := on.GetOnMatch().(type) {
	case *matcherv3.Matcher_OnMatch_Matcher:
		return judgeMatcher(on.Matcher, r)
	case *matcherv3.Matcher_OnMatch_Action:
		var action rbacv3.Action
		if err := on.Action.TypedConfig.UnmarshalTo(&action); err != nil {
			panic(err)
		}
		v := policy.Verdict{Origin: action.Name}
		if action.Action != rbacv3.RBAC_DENY {
			v.Effect = policy.Allow
		}
		return v, true
	}
	return policy.Verdict{}, false
}

func holds(p *matcherv3.Matcher_MatcherList_Predicate, r *policy.Request) bool {
	is := func(of *matcherv3.Matcher_MatcherList_Predicate) bool { return holds(of, r) }
	switch p := p.MatchType.(type) {
	case *matcherv3.Matcher_MatcherList_Predicate_AndMatcher:
		return all(p.AndMatcher.Predicate, is)
	case *matcherv3.Matcher_MatcherList_Predicate_OrMatcher:
		return slices.ContainsFunc(p.OrMatcher.Predicate, is)
	case *matcherv3.Matcher_MatcherList_Predicate_NotMatcher:
		return !is(p.NotMatcher)
	case *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_:
		custom := p.SinglePredicate.GetCustomMatch()
		if asksMetadata(p.SinglePredicate.Input) {
			return hasMetadata(p.SinglePredicate.Input, custom, r)
		}
		value, ok := input(p.SinglePredicate.Input, r)
		switch {
		case !ok:
			return false
		case custom != nil:
			return inBlocks(custom, value)
		default:
			return matches(p.SinglePredicate.GetValueMatch(), value, r)
		}
	}
	panic(fmt.Sprintf("predicate %v is unknown", p))
}

func all[M any](of []M, is func(M) bool) bool {
	return !slices.ContainsFunc(of, func(m M) bool { return !is(m) })
}

// remote is the address of the caller in a trusted header, or else of the peer.
func remote(r *policy.Request) netip.Addr {
	if r.Remote.IsValid() {
		return r.Remote
	}
	return r.Source
}

// inBlock follows envoy.config.core.v3.CidrRange: both addresses are of one family, and the
// first bits are alike.
func inBlock(block *corev3.CidrRange, address netip.Addr) bool {
	of := netip.MustParseAddr(block.AddressPrefix)
	a, b := of.AsSlice(), address.AsSlice()
	for bit := range min(int(block.GetPrefixLen().GetValue()), 8*len(a)) {
		if len(a) != len(b) || (a[bit/8]^b[bit/8])&(0x80>>(bit%8)) != 0 {
			return false
		}
	}
	return len(a) == len(b)
}

// judgeRules follows envoy.config.rbac.v3.RBAC: the first policy in the order of names that has a
// permission and a principal for the request is the effective one.
func judgeRules(rules *rbacv3.RBAC, r *policy.Request) policy.Verdict {
	matched, missed := policy.Verdict{Effect: policy.Allow}, policy.Verdict{Effect: policy.Allow}
	switch rules.Action {
	case rbacv3.RBAC_ALLOW:
		missed.Effect = policy.Deny
	case rbacv3.RBAC_DENY:
		matched.Effect = policy.Deny
	case rbacv3.RBAC_LOG:
		matched.Effect, missed.Effect = policy.Log, policy.Log
	}
	for _, name := range slices.Sorted(maps.Keys(rules.Policies)) {
		p := rules.Policies[name]
		if slices.ContainsFunc(p.Permissions, func(of *rbacv3.Permission) bool { return permits(of, r) }) &&
			slices.ContainsFunc(p.Principals, func(of *rbacv3.Principal) bool { return names(of, r) }) {
			matched.Origin = name
			return matched
		}
	}
	return missed
}

func permits(p *rbacv3.Permission, r *policy.Request) bool {
	is := func(of *rbacv3.Permission) bool { return permits(of, r) }
	switch p := p.Rule.(type) {
	case *rbacv3.Permission_Any:
		return true
	case *rbacv3.Permission_AndRules:
		return all(p.AndRules.Rules, is)
	case *rbacv3.Permission_OrRules:
		return slices.ContainsFunc(p.OrRules.Rules, is)
	case *rbacv3.Permission_NotRule:
		return !is(p.NotRule)
	case *rbacv3.Permission_Header:
		return hasHeader(p.Header, r, r.JoinsLines)
	case *rbacv3.Permission_UrlPath:
		return matches(p.UrlPath.GetPath(), r.PathOnly(), r)
	}
	switch p := p.Rule.(type) {
	case *rbacv3.Permission_DestinationIp:
		return inBlock(p.DestinationIp, r.Destination)
	case *rbacv3.Permission_DestinationPort:
		return uint32(r.Port) == p.DestinationPort
	case *rbacv3.Permission_DestinationPortRange:
		return p.DestinationPortRange.Start <= int32(r.Port) && int32(r.Port) < p.DestinationPortRange.End
	case *rbacv3.Permission_RequestedServerName:
		return matches(p.RequestedServerName, r.SNI, r)
	case *rbacv3.Permission_UriTemplate:
		return fitsTemplate(p.UriTemplate, r.PathOnly())
	}
	panic(fmt.Sprintf("permission %v is unknown", p))
}

func names(p *rbacv3.Principal, r *policy.Request) bool {
	is := func(of *rbacv3.Principal) bool { return names(of, r) }
	switch p := p.Identifier.(type) {
	case *rbacv3.Principal_Any:
		return true
	case *rbacv3.Principal_AndIds:
		return all(p.AndIds.Ids, is)
	case *rbacv3.Principal_OrIds:
		return slices.ContainsFunc(p.OrIds.Ids, is)
	case *rbacv3.Principal_NotId:
		return !is(p.NotId)
	case *rbacv3.Principal_Authenticated_:
		return slices.ContainsFunc(slices.Concat(r.URIs, r.DNS), func(name string) bool { return matches(p.Authenticated.PrincipalName, name, r) })
	case *rbacv3.Principal_Header:
		return hasHeader(p.Header, r, r.JoinsLines)
	case *rbacv3.Principal_UrlPath:
		return matches(p.UrlPath.GetPath(), r.PathOnly(), r)
	}
	switch p := p.Identifier.(type) {
	case *rbacv3.Principal_SourceIp:
		//lint:ignore SA1019 the filters of other compilers have it
		return inBlock(p.SourceIp, r.Source)
	case *rbacv3.Principal_DirectRemoteIp:
		return inBlock(p.DirectRemoteIp, r.Source)
	case *rbacv3.Principal_RemoteIp:
		return inBlock(p.RemoteIp, remote(r))
	case *rbacv3.Principal_SourcedMetadata:
		m := p.SourcedMetadata.MetadataMatcher
		var keys []string
		for _, segment := range m.Path {
			keys = append(keys, segment.GetKey())
		}
		return hasValue(m.Filter, keys, m.Value, r)
	}
	panic(fmt.Sprintf("principal %v is unknown", p))
}

// hasHeader follows envoy.config.route.v3.HeaderMatcher, as RBAC or a route asks it.
func hasHeader(m *routev3.HeaderMatcher, r *policy.Request, joins bool) bool {
	lines := headerLines(m.Name, r)
	if present, ok := m.HeaderMatchSpecifier.(*routev3.HeaderMatcher_PresentMatch); ok || m.HeaderMatchSpecifier == nil {
		return (len(lines) > 0) == (!ok || present.PresentMatch) != m.InvertMatch
	}
	if len(lines) == 0 && m.TreatMissingHeaderAsEmpty {
		lines = []string{""}
	}
	if joins && len(lines) > 1 {
		lines = []string{strings.Join(lines, ",")}
	}
	matched := slices.ContainsFunc(lines, func(line string) bool { return matches(m.GetStringMatch(), line, r) })
	return len(lines) > 0 && matched != m.InvertMatch
}

func headerLines(name string, r *policy.Request) (out []string) {
	switch name {
	case ":path":
		return []string{r.Path}
	case ":method":
		return []string{r.Method}
	case ":authority":
		return []string{r.Host}
	}
	for _, h := range r.Headers {
		switch {
		case h.Name != name:
		case len(out) == 0 || !requestline.IsOneLine(name):
			out = append(out, h.Value)
		// The codec joins the lines before an engine sees them, without the empty ones.
		case out[0] == "":
			out[0] = h.Value
		case h.Value != "":
			out[0] += "," + h.Value
		}
	}
	return out
}

// Routes reports whether a route takes a request, as envoy.config.route.v3.RouteMatch says.
func Routes(m *routev3.RouteMatch, r *policy.Request) bool {
	if !all(m.Headers, func(h *routev3.HeaderMatcher) bool { return hasHeader(h, r, r.RoutesJoinLines) }) {
		return false
	}
	path, query, _ := strings.Cut(r.Path, "?")
	if !all(m.QueryParameters, func(p *routev3.QueryParameterMatcher) bool { return hasParameter(p, query, r) }) {
		return false
	}
	switch by := m.PathSpecifier.(type) {
	case *routev3.RouteMatch_Prefix:
		return strings.HasPrefix(path, by.Prefix)
	case *routev3.RouteMatch_Path:
		return path == by.Path
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return path == by.PathSeparatedPrefix || strings.HasPrefix(path, by.PathSeparatedPrefix+"/")
	case *routev3.RouteMatch_SafeRegex:
		return regexp.MustCompile(`\A(?:` + by.SafeRegex.Regex + `)\z`).MatchString(path)
	}
	panic(fmt.Sprintf("path of %v is unknown", m))
}

// hasParameter follows envoy.config.route.v3.QueryParameterMatcher: the first value of the name
// counts, as it stands.
func hasParameter(m *routev3.QueryParameterMatcher, query string, r *policy.Request) bool {
	for _, parameter := range strings.Split(query, "&") {
		if name, value, _ := strings.Cut(parameter, "="); name == m.Name {
			return m.GetStringMatch() == nil || matches(m.GetStringMatch(), value, r)
		}
	}
	return false
}
