package rbac

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	accesslogdatav3 "github.com/envoyproxy/go-control-plane/envoy/data/accesslog/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// A permission compares the SNI, and no principal does.
var _ = add(row{
	attribute: attribute.SNI,
	since:     "1.36.4",
	input:     &networkinputsv3.ServerNameInput{},
	permission: func(m policy.Match) *rbacv3.Permission {
		if m.Kind == policy.Regex && m.Matches("") {
			// A permission compares the name that was not sent as an empty one.
			return permissionShape.And([]*rbacv3.Permission{serverName(m), permissionShape.Not(serverName(policy.Match{}))})
		}
		return serverName(m)
	},
	logged: func(common *accesslogdatav3.AccessLogCommon, _ *accesslogdatav3.HTTPRequestProperties) []string {
		if name := common.GetTlsProperties().GetTlsSniHostname(); name != "" {
			return []string{name}
		}
		return nil
	},
	// Envoy has no empty name, but a permission compares the name that was not sent as one.
	never: func(m policy.Match) bool { return m == policy.Match{} },
})

func serverName(m policy.Match) *rbacv3.Permission {
	return &rbacv3.Permission{Rule: &rbacv3.Permission_RequestedServerName{RequestedServerName: envoyString(m)}}
}
