package policy

import "fmt"

// Route is a part of an inbound's requests with gates of its own on L7, as
// envoy.extensions.filters.http.rbac.v3.RBACPerRoute gives it. The L7 gates of the
// inbound guard the other requests.
type Route struct {
	Name string
	// When tells which requests belong to the route: an And of matches of attributes by which
	// a route can be told, see [Attribute].
	When    Condition
	Gates   []Gate
	Shadows []Gate
}

// routed returns the gates and shadows that judge the request. Served is false where no route
// takes a request that only a route could.
func (p Program) routed(r *Request) (gates, shadows []Gate, served bool) {
	for _, route := range p.Routes {
		if route.Takes(r) {
			return replaceL7(p.Gates, route.Gates), replaceL7(p.Shadows, route.Shadows), true
		}
	}
	return p.Gates, p.Shadows, !p.RoutesOnly
}

// Takes reports whether the route takes a request. A route reads the lines of a header as
// [Request.RoutesJoinLines] says.
func (route Route) Takes(r *Request) bool {
	if r.JoinsLines != r.RoutesJoinLines {
		seen := *r
		seen.JoinsLines = r.RoutesJoinLines
		r = &seen
	}
	return route.When != nil && route.When.Holds(r)
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
		return fmt.Errorf("policy: route %s: condition %q is no And of matches by which a route can be told", route.Name, route.When)
	}
	for c := range Walk(route.When) {
		if is, ok := c.(Is); ok && !is.Attribute.admits(is.Match.Kind) {
			return fmt.Errorf("policy: route %s: the attribute %s has no match of the kind %s", route.Name, is.Attribute.Name, is.Match.Kind)
		} else if ok {
			if err := is.check(); err != nil {
				return fmt.Errorf("policy: route %s: condition %q cannot be judged: %w", route.Name, is, err)
			}
		}
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
