package policy

import "fmt"

// Route is a part of an inbound's requests with gates of its own on L7, as
// envoy.extensions.filters.http.rbac.v3.RBACPerRoute gives it. The L7 gates of the
// inbound guard the other requests.
type Route struct {
	Name string
	// When tells which requests belong to the route, by path and method.
	When    Condition
	Gates   []Gate
	Shadows []Gate
}

// routed returns the gates and shadows that judge the request.
func (p Program) routed(r *Request) (gates, shadows []Gate) {
	for _, route := range p.Routes {
		if route.When != nil && route.When.Holds(r) {
			return replaceL7(p.Gates, route.Gates), replaceL7(p.Shadows, route.Shadows)
		}
	}
	return p.Gates, p.Shadows
}

// replaceL7 returns the inbound's own gates on L4 and the gates of the route.
func replaceL7(own, routes []Gate) []Gate {
	var out []Gate
	for _, gate := range own {
		if gate.Layer != L7 {
			out = append(out, gate)
		}
	}
	return append(out, routes...)
}

func (route Route) check(p Program) error {
	if unroutable(route.When) {
		return fmt.Errorf("policy: route %s: condition %q is not a path, a method, or both", route.Name, route.When)
	}
	for _, gates := range [][]Gate{route.Gates, route.Shadows} {
		for _, gate := range gates {
			if gate.Layer != L7 {
				return fmt.Errorf("policy: route %s: its gate judges %s, but a connection has no route yet", route.Name, gate.Layer)
			}
		}
	}
	return checkGates(replaceL7(p.Gates, route.Gates), replaceL7(p.Shadows, route.Shadows))
}

// unroutable reports whether a condition asks for more than an And of attributes by
// which a route can be told.
func unroutable(c Condition) bool {
	for c := range Walk(c) {
		switch c := c.(type) {
		case And:
		case Is:
			if c.Attribute == nil || !c.Attribute.Routable {
				return true
			}
		default:
			return true
		}
	}
	return c == nil
}
