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
		return headerPrincipal(":method", m)
	},
	permission: func(m policy.Match) *rbacv3.Permission { return headerPermission(":method", m) },
	route: func(route *routev3.RouteMatch, m policy.Match) {
		route.Headers = append(route.Headers, headerMatcher(":method", m))
	},
	logged: func(_ *accesslogdatav3.AccessLogCommon, request *accesslogdatav3.HTTPRequestProperties) []string {
		return []string{corev3.RequestMethod_name[int32(request.GetRequestMethod())]}
	},
})
