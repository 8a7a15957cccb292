package rbac

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// A matcher has no input that shows each URI SAN by itself: see the row of identity.
var _ = add(row{
	attribute: attribute.URISAN,
	since:     "1.36.4",
	principal: func(m policy.Match) *rbacv3.Principal {
		return &rbacv3.Principal{Identifier: &rbacv3.Principal_Authenticated_{
			Authenticated: &rbacv3.Principal_Authenticated{PrincipalName: envoyString(m)},
		}}
	},
	logged: loggedURIs,
})
