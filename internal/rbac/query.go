package rbac

import (
	"regexp"
	"strings"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute:  attribute.Query,
	since:      "1.36.4",
	predicate:  func(m policy.Match) *predicateProto { return single(pathInput, stringMatcher(queryMatch(m))) },
	principal:  func(m policy.Match) *rbacv3.Principal { return headerPrincipal(":path", queryMatch(m)) },
	permission: func(m policy.Match) *rbacv3.Permission { return headerPermission(":path", queryMatch(m)) },
	logged: func(_ *accesslogdatav3.AccessLogCommon, request *accesslogdatav3.HTTPRequestProperties) []string {
		if _, query, ok := strings.Cut(request.GetPath(), "?"); ok {
			return []string{query}
		}
		return nil
	},
})

// queryMatch turns a match of the query into a match of the header :path.
func queryMatch(m policy.Match) policy.Match {
	text := regexp.QuoteMeta(m.Value)
	if m.AnyCase {
		// The flag i would take letters beyond ASCII too.
		text = letter.ReplaceAllStringFunc(text, func(c string) string { return "[" + strings.ToLower(c) + strings.ToUpper(c) + "]" })
	}
	if m.Kind == policy.Suffix || m.Kind == policy.Contains || m.Kind == policy.Present {
		text = ".*" + text
	}
	if m.Kind == policy.Prefix || m.Kind == policy.Contains {
		text += ".*"
	}
	return policy.Match{Kind: policy.Regex, Value: `[^?]*\?` + text}
}

var letter = regexp.MustCompile(`[a-zA-Z]`)

var _ = addFamily("query-parameter", &family{
	row: func(a *policy.Attribute) row {
		return row{since: "1.36.4", route: func(route *routev3.RouteMatch, m policy.Match) {
			route.QueryParameters = append(route.QueryParameters, &routev3.QueryParameterMatcher{
				Name:                         a.Key,
				QueryParameterMatchSpecifier: &routev3.QueryParameterMatcher_StringMatch{StringMatch: envoyString(m)},
			})
		}}
	},
	shown: func(proto.Message) *policy.Attribute { return nil },
})
