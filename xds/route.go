package xds

import (
	"errors"
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/meshproof/meshproof/policy"
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
	rbac, err := compileHTTP(route.Gates[0], shadow)
	if err != nil {
		return err
	}
	// The per-rule statistics belong to the filter, not to the route.
	rbac.TrackPerRuleStats = false
	match := &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: ""}}
	addRouteMatch(match, route.When)
	f.Routes = append(f.Routes, Route{Name: route.Name, Match: match, RBAC: rbac})
	return nil
}

// addRouteMatch narrows a match; [policy.Program.Check] has seen to it that the
// condition asks for path and method only.
func addRouteMatch(match *routev3.RouteMatch, c policy.Condition) {
	switch c := c.(type) {
	case policy.And:
		for _, of := range c {
			addRouteMatch(match, of)
		}
	case policy.Method:
		match.Headers = append(match.Headers, &routev3.HeaderMatcher{
			Name:                 ":method",
			HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: envoyString(policy.StringMatch{Value: string(c)})},
		})
	case policy.Path:
		segment := c.Segment()
		switch {
		case c.Kind == policy.Exact:
			match.PathSpecifier = &routev3.RouteMatch_Path{Path: c.Value}
		case segment != "":
			match.PathSpecifier = &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: segment}
		}
	}
}
