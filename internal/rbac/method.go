package rbac

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute: attribute.Method,
	since:     "1.36.4",
	input:     &envoymatcherv3.HttpRequestHeaderMatchInput{HeaderName: ":method"},
	principal: func(m policy.Match) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_Header{Header: methodMatcher(m)}}
	},
	permission: func(m policy.Match) *rbacv3.Permission {
		return &rbacv3.Permission{Rule: &rbacv3.Permission_Header{Header: methodMatcher(m)}}
	},
	route: func(route *routev3.RouteMatch, m policy.Match) {
		route.Headers = append(route.Headers, methodMatcher(m))
	},
	logged: func(_ *accesslogdatav3.AccessLogCommon, request *accesslogdatav3.HTTPRequestProperties) []string {
		return []string{corev3.RequestMethod_name[int32(request.GetRequestMethod())]}
	},
})

func methodMatcher(m policy.Match) *routev3.HeaderMatcher {
	return &routev3.HeaderMatcher{
		Name:                 ":method",
		HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: envoyString(m)},
	}
}
