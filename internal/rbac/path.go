package rbac

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	uritemplatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var (
	pathHeader = headerInput(":path")
	pathInput  = inputOf(pathHeader)
)

var _ = add(row{
	attribute: attribute.Path,
	since:     "1.36.4",
	input:     pathHeader,
	predicate: pathPredicate,
	principal: func(m policy.Match) *rbacv3.Principal {
		compare := func(m policy.Match) *rbacv3.Principal {
			return &rbacv3.Principal{Identifier: &rbacv3.Principal_UrlPath{UrlPath: urlPath(m)}}
		}
		if m.Kind != policy.Segments {
			return compare(m)
		}
		return anyPrincipal(compare(wholeSegment(m)), compare(furtherSegments(m)))
	},
	permission: func(m policy.Match) *rbacv3.Permission {
		compare := func(m policy.Match) *rbacv3.Permission {
			return &rbacv3.Permission{Rule: &rbacv3.Permission_UrlPath{UrlPath: urlPath(m)}}
		}
		switch m.Kind {
		case policy.Segments:
			return permissionShape.Or([]*rbacv3.Permission{compare(wholeSegment(m)), compare(furtherSegments(m))})
		case policy.Template:
			return &rbacv3.Permission{Rule: &rbacv3.Permission_UriTemplate{UriTemplate: uriTemplate(m)}}
		default:
			return compare(m)
		}
	},
	route: func(route *routev3.RouteMatch, m policy.Match) {
		segment := m.Segment()
		switch {
		case m.Kind == policy.Regex:
			route.PathSpecifier = &routev3.RouteMatch_SafeRegex{SafeRegex: envoyString(m).GetSafeRegex()}
		case m.Kind == policy.Prefix:
			route.PathSpecifier = &routev3.RouteMatch_Prefix{Prefix: m.Value}
		case m.Kind == policy.Exact:
			route.PathSpecifier = &routev3.RouteMatch_Path{Path: m.Value}
		case segment != "":
			route.PathSpecifier = &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: segment}
		}
	},
	logged: func(_ *accesslogdatav3.AccessLogCommon, request *accesslogdatav3.HTTPRequestProperties) []string {
		return []string{request.GetPath()}
	},
	// No path contains its query, but the header that Envoy compares does.
	never: func(m policy.Match) bool { return m.Kind != policy.Regex && strings.Contains(m.Value, "?") },
	unsaid: func(m policy.Match) string {
		if m.Kind == policy.Template {
			return "no input of a matcher reads a template"
		}
		if m.AnyCase || m.Kind == policy.Suffix || m.Kind == policy.Contains || m.Kind == policy.Regex {
			return "the header :path ends in the query"
		}
		return ""
	},
})

// pathPredicate spells out what a header input cannot: the pseudo header :path carries
// the query, and a prefix of bytes does not end at a segment.
func pathPredicate(m policy.Match) *predicateProto {
	switch m.Kind {
	case policy.Prefix:
		return single(pathInput, prefix(m.Value))
	case policy.Exact:
		return anyOf(single(pathInput, exact(m.Value)), single(pathInput, prefix(m.Value+"?")))
	}
	segment := m.Segment()
	return anyOf(
		single(pathInput, exact(segment)),
		single(pathInput, prefix(segment+"/")),
		single(pathInput, prefix(segment+"?")),
	)
}

// urlPath compares the path without its query, as PathMatcher does by itself.
func urlPath(m policy.Match) *envoymatcherv3.PathMatcher {
	return &envoymatcherv3.PathMatcher{Rule: &envoymatcherv3.PathMatcher_Path{Path: envoyString(m)}}
}

func uriTemplate(m policy.Match) *corev3.TypedExtensionConfig {
	return &corev3.TypedExtensionConfig{
		Name:        "envoy.path.match.uri_template.uri_template_matcher",
		TypedConfig: mustAny(&uritemplatev3.UriTemplateMatchConfig{PathTemplate: automaton.Wildcards(m.Value)}),
	}
}

// wholeSegment and furtherSegments spell out the end of a segment, where a path ends too or a
// slash follows.
func wholeSegment(m policy.Match) policy.Match { return policy.Match{Value: m.Segment()} }

func furtherSegments(m policy.Match) policy.Match {
	return policy.Match{Kind: policy.Prefix, Value: m.Segment() + "/"}
}
