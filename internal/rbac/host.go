package rbac

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

var _ = add(row{
	attribute:  attribute.Host,
	since:      "1.36.4",
	input:      headerInput(":authority"),
	principal:  func(m policy.Match) *rbacv3.Principal { return headerPrincipal(":authority", m) },
	permission: func(m policy.Match) *rbacv3.Permission { return headerPermission(":authority", m) },
	route: func(route *routev3.RouteMatch, m policy.Match) {
		route.Headers = append(route.Headers, headerMatcher(":authority", m))
	},
	logged: func(_ *accesslogdatav3.AccessLogCommon, request *accesslogdatav3.HTTPRequestProperties) []string {
		return []string{request.GetAuthority()}
	},
})
