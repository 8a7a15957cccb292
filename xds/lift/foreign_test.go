package lift

import (
	"fmt"
	"sync/atomic"
	"testing"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Filters in forms that package xds does not write decide as the program that they
// become, unless something is lost.
func TestProgramOfForeign(t *testing.T) {
	t.Parallel()
	var whole, partial atomic.Uint64
	property.Check(t, func(t *rapid.T) {
		f := drawFilters(t)
		p, lost := Program(f, 0)
		if len(lost) > 0 {
			partial.Add(1)
			return
		}
		whole.Add(1)
		for range 20 {
			r := drawRequest(t)
			if want, got := envoyDecides(f, &r), policy.Decide(p, r); got != want {
				t.Fatalf("request %+v\n got %+v\nwant %+v\nprogram:\n%sfilters: %s", r, got, want, p, f.Messages())
			}
		}
	})
	t.Logf("%d read whole, %d in part", whole.Load(), partial.Load())
	// With -short rapid draws a fifth, which is too few for rare forms.
	if !testing.Short() && (whole.Load() == 0 || partial.Load() == 0) {
		t.Error("the filters do not try both")
	}
}

// A filter that only logs decides nothing, even where its rules ask for more than a policy
// can say. The property above draws such a filter too rarely.
func TestProgramOfLogged(t *testing.T) {
	t.Parallel()
	for _, name := range []string{":path", ":method", "x-user"} {
		header := &routev3.HeaderMatcher{Name: name, HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: pattern{exact: "/a"}.envoy()}}
		rules := &rbacv3.RBAC{Action: rbacv3.RBAC_LOG, Policies: map[string]*rbacv3.Policy{"admin": {
			Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Header{Header: header}}},
			Principals:  []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
		}}}
		p, lost := Program(xds.Filters{HTTP: []*httprbacv3.RBAC{{Rules: rules}}}, 0)
		if want, got := (policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}), policy.Decide(p, policy.Request{Path: "/a"}); got != want || len(lost) > 0 {
			t.Errorf("%s: got %+v, lost %q, want %+v and nothing lost; program:\n%s", name, got, lost, want, p)
		}
	}
}

// drawFilters draws filters with few questions that a policy cannot ask.
func drawFilters(t *rapid.T) (f xds.Filters) {
	for range rapid.IntRange(0, 2).Draw(t, "network") {
		filter := &networkrbacv3.RBAC{}
		filter.Matcher, filter.Rules = drawEngine(t, policy.L4)
		if rapid.IntRange(0, 2).Draw(t, "shadowed") == 0 {
			filter.ShadowMatcher, filter.ShadowRules = drawEngine(t, policy.L4)
		}
		f.Network = append(f.Network, filter)
	}
	f.HTTP = draws(t, 2, func() *httprbacv3.RBAC { return drawHTTP(t) })
	if len(f.HTTP) > 0 {
		for i := range rapid.IntRange(0, 2).Draw(t, "routes") {
			route := xds.Route{Name: fmt.Sprint(i), Match: drawRouteMatch(t)}
			for range f.HTTP {
				route.HTTP = append(route.HTTP, drawHTTP(t))
			}
			f.Routes = append(f.Routes, route)
		}
	}
	return f
}

func drawHTTP(t *rapid.T) *httprbacv3.RBAC {
	filter := &httprbacv3.RBAC{}
	if rapid.Bool().Draw(t, "enforces") {
		filter.Matcher, filter.Rules = drawEngine(t, policy.L7)
	}
	if rapid.IntRange(0, 2).Draw(t, "shadowed") == 0 {
		filter.ShadowMatcher, filter.ShadowRules = drawEngine(t, policy.L7)
	}
	return filter
}

func drawEngine(t *rapid.T, layer policy.Layer) (*matcherv3.Matcher, *rbacv3.RBAC) {
	if rapid.Bool().Draw(t, "matcher") {
		return drawMatcher(t, layer, 2), nil
	}
	rules := &rbacv3.RBAC{Action: pick(t, "action", rbacv3.RBAC_ALLOW, rbacv3.RBAC_DENY, rbacv3.RBAC_LOG), Policies: map[string]*rbacv3.Policy{}}
	for i := range rapid.IntRange(0, 3).Draw(t, "policies") {
		rules.Policies[fmt.Sprint("policy ", i)] = &rbacv3.Policy{
			Permissions: draws(t, 2, func() *rbacv3.Permission { return drawPermission(t, layer, 2) }),
			Principals:  draws(t, 2, func() *rbacv3.Principal { return drawPrincipal(t, 2) }),
		}
	}
	return nil, rules
}

// pattern is what both string matchers have in common.
type pattern struct{ exact, prefix, regex string }

var (
	namePatterns = []pattern{
		{exact: "spiffe://td/a/1"}, {prefix: "spiffe://td/a/"}, {prefix: "spiffe://td"}, {regex: "spiffe://td/(a|b)/1"}, {regex: "spiffe://td/b/.*"},
		{regex: ".+"}, {regex: ".*"}, {regex: "^spiffe://td/[ab](/1)?$"}, {regex: ".*/1"},
	}
	pathPatterns = []pattern{
		{exact: "/a"}, {exact: "/a/"}, {exact: "/a?b"}, {prefix: "/a/"}, {prefix: "/a?"}, {prefix: "/"}, {regex: "/a([/?].*)?"},
		{regex: "/a(/.*)?"}, {regex: "/a/.+"}, {regex: "/.+"}, {regex: "/(a|ab)(/|[?].*)?"}, {prefix: "/a/?"}, {prefix: "/a"}, {regex: ".*b"},
	}
	rolePatterns      = []pattern{{exact: "a"}, {prefix: "a"}, {regex: "a.*"}, {regex: "(.*,)?b"}, {regex: ".*"}, {regex: "a|b"}}
	parameterPatterns = []pattern{{exact: "1"}, {exact: ""}, {regex: "[0-9]+"}, {regex: "1|2"}}
	methodPatterns    = []pattern{{exact: "GET"}, {regex: "GET|HEAD"}, {regex: "(PO|GE)S?T"}, {regex: ".+"}}
)

func (p pattern) xds() *matcherv3.StringMatcher {
	switch {
	case p.regex != "":
		return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: p.regex}}}
	case p.prefix != "":
		return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: p.prefix}}
	default:
		return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: p.exact}}
	}
}

func (p pattern) envoy() *envoymatcherv3.StringMatcher {
	switch {
	case p.regex != "":
		return &envoymatcherv3.StringMatcher{MatchPattern: &envoymatcherv3.StringMatcher_SafeRegex{SafeRegex: &envoymatcherv3.RegexMatcher{Regex: p.regex}}}
	case p.prefix != "":
		return &envoymatcherv3.StringMatcher{MatchPattern: &envoymatcherv3.StringMatcher_Prefix{Prefix: p.prefix}}
	default:
		return &envoymatcherv3.StringMatcher{MatchPattern: &envoymatcherv3.StringMatcher_Exact{Exact: p.exact}}
	}
}

func packed(m proto.Message) *xdscorev3.TypedExtensionConfig {
	a, err := anypb.New(m)
	if err != nil {
		panic(err)
	}
	return &xdscorev3.TypedExtensionConfig{Name: "x", TypedConfig: a}
}

// drawInput draws what a matcher looks at, with patterns for it.
func drawInput(t *rapid.T, layer policy.Layer) (*xdscorev3.TypedExtensionConfig, []pattern) {
	if layer == policy.L7 {
		switch rapid.IntRange(0, 4).Draw(t, "input") {
		case 2:
			return packed(&envoymatcherv3.HttpRequestHeaderMatchInput{HeaderName: "x-role"}), rolePatterns
		case 0:
			return packed(&envoymatcherv3.HttpRequestHeaderMatchInput{HeaderName: ":method"}), methodPatterns
		case 1:
			return packed(&envoymatcherv3.HttpRequestHeaderMatchInput{HeaderName: ":path"}), pathPatterns
		}
	}
	return packed(&sslinputsv3.UriSanInput{}), namePatterns
}

func drawOutcome(t *rapid.T, layer policy.Layer, depth int) *matcherv3.Matcher_OnMatch {
	if depth > 0 && rapid.IntRange(0, 2).Draw(t, "nests") == 0 {
		return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Matcher{Matcher: drawMatcher(t, layer, depth-1)}}
	}
	action := &rbacv3.Action{Name: pick(t, "name", "a", "b", "c"), Action: pick(t, "action", rbacv3.RBAC_ALLOW, rbacv3.RBAC_DENY, rbacv3.RBAC_LOG)}
	return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Action{Action: packed(action)}}
}

func drawMatcher(t *rapid.T, layer policy.Layer, depth int) *matcherv3.Matcher {
	m := &matcherv3.Matcher{}
	if rapid.Bool().Draw(t, "on_no_match") {
		m.OnNoMatch = drawOutcome(t, layer, depth)
	}
	switch pick(t, "matcher", "", "list", "list", "exact", "prefix") {
	case "list":
		list := draws(t, 3, func() *matcherv3.Matcher_MatcherList_FieldMatcher {
			return &matcherv3.Matcher_MatcherList_FieldMatcher{Predicate: drawPredicate(t, layer, 2), OnMatch: drawOutcome(t, layer, depth)}
		})
		m.MatcherType = &matcherv3.Matcher_MatcherList_{MatcherList: &matcherv3.Matcher_MatcherList{Matchers: list}}
	case "exact", "prefix":
		tree := &matcherv3.Matcher_MatcherTree{Input: packed(&sslinputsv3.UriSanInput{})}
		keys := someNames
		if layer == policy.L7 && rapid.Bool().Draw(t, "by method") {
			tree.Input, keys = packed(&envoymatcherv3.HttpRequestHeaderMatchInput{HeaderName: ":method"}), someMethods
		}
		entries := map[string]*matcherv3.Matcher_OnMatch{}
		for _, k := range draws(t, 4, func() string { return pick(t, "key", keys...) }) {
			entries[k] = drawOutcome(t, layer, depth)
		}
		if rapid.Bool().Draw(t, "prefixes") && len(keys) == len(someNames) {
			entries[pick(t, "prefix", somePrefixes...)] = drawOutcome(t, layer, depth)
			tree.TreeType = &matcherv3.Matcher_MatcherTree_PrefixMatchMap{PrefixMatchMap: &matcherv3.Matcher_MatcherTree_MatchMap{Map: entries}}
		} else {
			tree.TreeType = &matcherv3.Matcher_MatcherTree_ExactMatchMap{ExactMatchMap: &matcherv3.Matcher_MatcherTree_MatchMap{Map: entries}}
		}
		m.MatcherType = &matcherv3.Matcher_MatcherTree_{MatcherTree: tree}
	}
	return m
}

func drawPredicate(t *rapid.T, layer policy.Layer, depth int) *matcherv3.Matcher_MatcherList_Predicate {
	of := func() *matcherv3.Matcher_MatcherList_Predicate_PredicateList {
		return &matcherv3.Matcher_MatcherList_Predicate_PredicateList{
			Predicate: draws(t, 3, func() *matcherv3.Matcher_MatcherList_Predicate { return drawPredicate(t, layer, depth-1) }),
		}
	}
	kind := ""
	if depth > 0 {
		kind = pick(t, "predicate", "", "", "and", "or", "not")
	}
	switch kind {
	case "and":
		return &matcherv3.Matcher_MatcherList_Predicate{MatchType: &matcherv3.Matcher_MatcherList_Predicate_AndMatcher{AndMatcher: of()}}
	case "or":
		return &matcherv3.Matcher_MatcherList_Predicate{MatchType: &matcherv3.Matcher_MatcherList_Predicate_OrMatcher{OrMatcher: of()}}
	case "not":
		return &matcherv3.Matcher_MatcherList_Predicate{MatchType: &matcherv3.Matcher_MatcherList_Predicate_NotMatcher{NotMatcher: drawPredicate(t, layer, depth-1)}}
	}
	in, patterns := drawInput(t, layer)
	return &matcherv3.Matcher_MatcherList_Predicate{MatchType: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_{
		SinglePredicate: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate{
			Input:   in,
			Matcher: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch{ValueMatch: pick(t, "pattern", patterns...).xds()},
		},
	}}
}

func drawHeader(t *rapid.T) *routev3.HeaderMatcher {
	name, patterns := ":method", methodPatterns
	switch pick(t, "header", ":method", ":path", ":authority", "X-Role") {
	case ":path":
		name, patterns = ":path", pathPatterns
	case ":authority":
		name, patterns = ":authority", rolePatterns
	case "X-Role":
		name, patterns = "x-role", rolePatterns
	}
	out := &routev3.HeaderMatcher{
		Name:                      name,
		HeaderMatchSpecifier:      &routev3.HeaderMatcher_StringMatch{StringMatch: pick(t, "pattern", patterns...).envoy()},
		InvertMatch:               rapid.Bool().Draw(t, "invert"),
		TreatMissingHeaderAsEmpty: rapid.Bool().Draw(t, "missing as empty"),
	}
	if name == "x-role" && rapid.Bool().Draw(t, "presence") {
		out.HeaderMatchSpecifier = &routev3.HeaderMatcher_PresentMatch{PresentMatch: rapid.Bool().Draw(t, "present")}
	}
	return out
}

func drawPermission(t *rapid.T, layer policy.Layer, depth int) *rbacv3.Permission {
	of := func() *rbacv3.Permission_Set {
		return &rbacv3.Permission_Set{Rules: draws(t, 3, func() *rbacv3.Permission { return drawPermission(t, layer, depth-1) })}
	}
	kinds := []string{"any"}
	if layer == policy.L7 {
		kinds = append(kinds, "header", "path", "path")
	}
	if depth > 0 {
		kinds = append(kinds, "and", "or", "not")
	}
	switch pick(t, "permission", kinds...) {
	case "header":
		return &rbacv3.Permission{Rule: &rbacv3.Permission_Header{Header: drawHeader(t)}}
	case "path":
		path := &envoymatcherv3.PathMatcher{Rule: &envoymatcherv3.PathMatcher_Path{Path: pick(t, "pattern", pathPatterns...).envoy()}}
		return &rbacv3.Permission{Rule: &rbacv3.Permission_UrlPath{UrlPath: path}}
	case "and":
		return &rbacv3.Permission{Rule: &rbacv3.Permission_AndRules{AndRules: of()}}
	case "or":
		return &rbacv3.Permission{Rule: &rbacv3.Permission_OrRules{OrRules: of()}}
	case "not":
		return &rbacv3.Permission{Rule: &rbacv3.Permission_NotRule{NotRule: drawPermission(t, layer, depth-1)}}
	default:
		return &rbacv3.Permission{Rule: &rbacv3.Permission_Any{Any: true}}
	}
}

func drawPrincipal(t *rapid.T, depth int) *rbacv3.Principal {
	of := func() *rbacv3.Principal_Set {
		return &rbacv3.Principal_Set{Ids: draws(t, 3, func() *rbacv3.Principal { return drawPrincipal(t, depth-1) })}
	}
	kinds := []string{"any", "name", "name"}
	if depth > 0 {
		kinds = append(kinds, "and", "or", "not")
	}
	switch pick(t, "principal", kinds...) {
	case "name":
		name := &rbacv3.Principal_Authenticated{PrincipalName: pick(t, "pattern", namePatterns...).envoy()}
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_Authenticated_{Authenticated: name}}
	case "and":
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_AndIds{AndIds: of()}}
	case "or":
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_OrIds{OrIds: of()}}
	case "not":
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_NotId{NotId: drawPrincipal(t, depth-1)}}
	default:
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_Any{Any: true}}
	}
}

func drawRouteMatch(t *rapid.T) *routev3.RouteMatch {
	m := &routev3.RouteMatch{}
	switch pick(t, "specifier", "prefix", "path", "separated", "regex") {
	case "prefix":
		m.PathSpecifier = &routev3.RouteMatch_Prefix{Prefix: pick(t, "prefix", "", "/", "/a/", "/a")}
	case "path":
		m.PathSpecifier = &routev3.RouteMatch_Path{Path: pick(t, "path", "/a", "/a/")}
	case "separated":
		m.PathSpecifier = &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: "/a"}
	case "regex":
		m.PathSpecifier = &routev3.RouteMatch_SafeRegex{SafeRegex: &envoymatcherv3.RegexMatcher{Regex: pick(t, "regex", "/a(/.*)?", "/.+", ".*b")}}
	}
	if rapid.Bool().Draw(t, "by header") {
		m.Headers = []*routev3.HeaderMatcher{{
			Name:                 ":method",
			HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: pick(t, "method", methodPatterns...).envoy()},
			InvertMatch:          rapid.Bool().Draw(t, "invert"),
		}}
	}
	if rapid.Bool().Draw(t, "by a line") {
		h := &routev3.HeaderMatcher{
			Name: pick(t, "header", "x-role", "origin"), InvertMatch: rapid.Bool().Draw(t, "invert the line"),
			TreatMissingHeaderAsEmpty: rapid.Bool().Draw(t, "missing is empty"),
		}
		if rapid.Bool().Draw(t, "present") {
			h.HeaderMatchSpecifier, h.TreatMissingHeaderAsEmpty = &routev3.HeaderMatcher_PresentMatch{PresentMatch: true}, false
		} else {
			h.HeaderMatchSpecifier = &routev3.HeaderMatcher_StringMatch{StringMatch: pick(t, "line", methodPatterns...).envoy()}
		}
		m.Headers = append(m.Headers, h)
	}
	if rapid.Bool().Draw(t, "by parameter") {
		m.QueryParameters = []*routev3.QueryParameterMatcher{{
			Name:                         pick(t, "parameter", "id", "x"),
			QueryParameterMatchSpecifier: &routev3.QueryParameterMatcher_StringMatch{StringMatch: pick(t, "value", parameterPatterns...).envoy()},
		}}
	}
	return m
}
