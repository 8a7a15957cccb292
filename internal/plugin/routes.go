package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// readRoutes reads the routes of an answer. They are routes of the inbound, which it names. From
// version 2 on they may be routes of the policies instead, each with its match, in the order of
// their trial.
func readRoutes(version int, o object, in policy.Inbound, own []*httprbacv3.RBAC) (routes []xds.Route, only bool, err error) {
	raws, err := readList(o, "routes")
	if err != nil {
		return nil, false, fmt.Errorf("filters.%w", err)
	}
	matched := 0
	for i, raw := range raws {
		route, err := readRoute(version, raw)
		if err != nil {
			return nil, false, fmt.Errorf("filters.routes[%d]: %w", i, err)
		}
		if routes = append(routes, route); route.Match != nil {
			matched++
		}
	}
	if o.has("routesOnly") {
		if only, err = readValue[bool](o, "routesOnly", "true or false"); err != nil {
			return nil, false, fmt.Errorf("filters.%w", err)
		}
	}
	switch {
	case matched == len(routes) && (matched > 0 || only):
		return routes, only, checkOwnRoutes(routes, own)
	case matched > 0 || only:
		return nil, false, errors.New("filters.routes: some routes have a match and others have none: want a match for each, or routes of the inbound")
	}
	routes, err = inboundRoutes(routes, in, own)
	return routes, false, err
}

// checkOwnRoutes refuses routes of policies that no listener can have. A route with several matches is
// there several times.
func checkOwnRoutes(routes []xds.Route, own []*httprbacv3.RBAC) error {
	for i, route := range routes {
		if len(route.HTTP) > len(own) {
			return fmt.Errorf("filters.routes[%d].rbac: filters.http has %d filters, want at most as many, not %d", i, len(own), len(route.HTTP))
		}
		if err := messages.KnowsOnly(route.Match, "prefix", "path", "path_separated_prefix", "safe_regex", "case_sensitive", "headers", "query_parameters"); err != nil {
			return &unreadError{fmt.Errorf("filters.routes[%d].match: the lab cannot tell a route by this match: %w", i, err)}
		}
	}
	return nil
}

// readRoute reads the name of a route, its filters (one, or a list), and its match, if any.
func readRoute(version int, raw json.RawMessage) (route xds.Route, err error) {
	o, err := readObject(raw)
	fields := []string{"name", "rbac"}
	if version >= 2 {
		fields = append(fields, "match")
	}
	if err == nil {
		err = o.checkFields(fields...)
	}
	if err != nil {
		return route, err
	}
	if route.Name, err = readValue[string](o, "name", "the name of a route"); err != nil {
		return route, err
	}
	if o.has("match") {
		route.Match = &routev3.RouteMatch{}
		if err := readFilter(o["match"], route.Match); err != nil {
			return route, fmt.Errorf("match: %w", err)
		}
	}
	if !o.has("rbac") {
		return route, errors.New("rbac is missing: want a filter")
	}
	if bytes.HasPrefix(bytes.TrimSpace(o["rbac"]), []byte("[")) {
		route.HTTP, err = readFilterList[httprbacv3.RBAC](o, "rbac")
		return route, err
	}
	filter := &httprbacv3.RBAC{}
	if err := readFilter(o["rbac"], filter); err != nil {
		return route, fmt.Errorf("rbac: %w", err)
	}
	route.HTTP = []*httprbacv3.RBAC{filter}
	return route, nil
}

// inboundRoutes returns the routes of the inbound in its order. Envoy asks the first route
// that matches a request. So a route without filters of its own gets copies of the
// inbound's filters when a route after it has filters of its own.
func inboundRoutes(routes []xds.Route, in policy.Inbound, own []*httprbacv3.RBAC) ([]xds.Route, error) {
	given := map[string][]*httprbacv3.RBAC{}
	for i, route := range routes {
		name, filters := route.Name, route.HTTP
		known := slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == name })
		switch {
		case !known:
			return nil, fmt.Errorf("filters.routes[%d].name: the inbound has no route %q", i, name)
		case given[name] != nil:
			return nil, fmt.Errorf("filters.routes[%d].name: route %q appears twice", i, name)
		case len(own) == 0:
			return nil, fmt.Errorf("filters.routes[%d]: filters.http has no filter that a route could replace", i)
		case len(filters) != len(own):
			return nil, fmt.Errorf("filters.routes[%d].rbac: filters.http has %d filters, want a list of as many, not %d", i, len(own), len(filters))
		}
		given[name] = filters
	}
	var out []xds.Route
	for _, r := range in.Routes {
		if len(given) == 0 {
			break
		}
		match, err := routeMatch(r)
		if err != nil {
			return nil, err
		}
		filters, ok := given[r.Name]
		if !ok {
			for _, filter := range own {
				filter = proto.CloneOf(filter)
				filter.TrackPerRuleStats = false // rule counters belong to the filter
				filters = append(filters, filter)
			}
		}
		delete(given, r.Name)
		out = append(out, xds.Route{Name: r.Name, Match: match, HTTP: filters})
	}
	return out, nil
}

// routeMatch returns the match of a route in the listener. A tested compiler does not
// choose it, so it comes from a program that contains only the route.
func routeMatch(r policy.InboundRoute) (*routev3.RouteMatch, error) {
	gates := []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}}}
	filters, err := xds.Compile(policy.Program{Gates: gates, Routes: []policy.Route{{Name: r.Name, When: r.When, Gates: gates}}})
	if err != nil {
		return nil, err
	}
	return filters.Routes[0].Match, nil
}
