package xds

import (
	"errors"
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds/internal/rbac"
)

// Route is a route of an inbound with an RBAC filter of its own, which Envoy asks
// in the place of the inbound's.
type Route struct {
	Name  string
	Match *routev3.RouteMatch
	RBAC  *httprbacv3.RBAC
}

func (f *Filters) addRoute(route policy.Route) error {
	if len(f.HTTP) == 0 {
		return errors.New("the inbound has no HTTP filter that a route could replace")
	}
	shadow, err := onlyShadow(route.Shadows)
	if err != nil {
		return err
	}
	if len(route.Gates) != 1 {
		return fmt.Errorf("it has %d gates, a filter is one", len(route.Gates))
	}
	filter, err := compileHTTP(route.Gates[0], shadow)
	if err != nil {
		return err
	}
	// The per-rule statistics belong to the filter, not to the route.
	filter.TrackPerRuleStats = false
	match := &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: ""}}
	if err := rbac.NarrowRoute(match, route.When); err != nil {
		return err
	}
	f.Routes = append(f.Routes, Route{Name: route.Name, Match: match, RBAC: filter})
	return nil
}
