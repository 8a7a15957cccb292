package policy

import "fmt"

// Route is a part of an inbound's requests with gates of its own on L7, as
// envoy.extensions.filters.http.rbac.v3.RBACPerRoute gives it. The gates of the
// inbound guard the rest.
type Route struct {
	Name string
	// When tells the requests of the route by path and method.
	When    Condition
	Gates   []Gate
	Shadows []Gate
}

// routed returns the gates and shadows that are asked for the request.
func (p Program) routed(r *Request) (gates, shadows []Gate) {
	for _, route := range p.Routes {
		if route.When != nil && route.When.Holds(r) {
			return replaceL7(p.Gates, route.Gates), replaceL7(p.Shadows, route.Shadows)
		}
	}
	return p.Gates, p.Shadows
}

func replaceL7(own, routes []Gate) []Gate {
	var out []Gate
	for _, gate := range own {
		if gate.Layer != L7 {
			out = append(out, gate)
		}
	}
	return append(out, routes...)
}

func (route Route) check() error {
	if unroutable(route.When) {
		return fmt.Errorf("policy: route %s: condition %q is not a path, a method, or both", route.Name, route.When)
	}
	for _, gates := range [][]Gate{route.Gates, route.Shadows} {
		for _, gate := range gates {
			if gate.Layer != L7 {
				return fmt.Errorf("policy: route %s: its gate judges %s, but a connection has no route yet", route.Name, gate.Layer)
			}
			if err := gate.check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func unroutable(c Condition) bool {
	switch c := c.(type) {
	case Path, Method:
		return false
	case And:
		for _, of := range c {
			if unroutable(of) {
				return true
			}
		}
		return false
	default:
		return true
	}
}
