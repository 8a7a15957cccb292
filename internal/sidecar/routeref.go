package sidecar

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/meshproof/meshproof/internal/dump"
)

// routeRef is a route configuration that a connection manager uses. It stands inline, or
// RDS gives it by its name.
type routeRef struct {
	inline *routev3.RouteConfiguration
	name   string
}

// routeRefs returns the route configurations that a connection manager may use, and the
// scopes of the dump that chose them.
func (r *reader) routeRefs(m *hcmv3.HttpConnectionManager) ([]routeRef, []dump.Decoded[*routev3.ScopedRouteConfiguration]) {
	switch of := m.RouteSpecifier.(type) {
	case *hcmv3.HttpConnectionManager_RouteConfig:
		return []routeRef{{inline: of.RouteConfig}}, nil
	case *hcmv3.HttpConnectionManager_Rds:
		return []routeRef{{name: of.Rds.GetRouteConfigName()}}, nil
	case *hcmv3.HttpConnectionManager_ScopedRoutes:
		scopes := of.ScopedRoutes.GetScopedRouteConfigurationsList().GetScopedRouteConfigurations()
		var found []dump.Decoded[*routev3.ScopedRouteConfiguration]
		if of.ScopedRoutes.GetScopedRds() != nil {
			found = r.ScopesOf(of.ScopedRoutes.Name)
			for _, d := range found {
				scopes = append(scopes[:len(scopes):len(scopes)], d.Message)
			}
		}
		refs := make([]routeRef, len(scopes))
		for i, scope := range scopes {
			refs[i] = routeRef{scope.RouteConfiguration, scope.RouteConfigurationName}
		}
		return refs, found
	default:
		return nil, nil
	}
}
