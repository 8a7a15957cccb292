package lift

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
)

func drawHeader(t *rapid.T) *routev3.HeaderMatcher {
	name, patterns := ":method", methodPatterns
	if rapid.Bool().Draw(t, "path") {
		name, patterns = ":path", pathPatterns
	}
	return &routev3.HeaderMatcher{
		Name:                 name,
		HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: pick(t, "pattern", patterns...).envoy()},
		InvertMatch:          rapid.Bool().Draw(t, "invert"),
	}
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
	return m
}
