package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	// A filter of a compiler may contain these messages, so they must be linked.
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/environment_variable/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/ip/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/metadata/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/audit_loggers/stream/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/matchers/upstream_ip_port/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/principals/mtls_authenticated/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func readFilters(data []byte, in policy.Inbound) (xds.Filters, error) {
	var out xds.Filters
	o, err := readObject(data)
	if err == nil {
		err = o.checkFields("network", "http", "routes")
	}
	if err != nil {
		return out, fmt.Errorf("filters: %w", err)
	}
	network, err := readList(o, "network")
	if err != nil {
		return out, fmt.Errorf("filters.%w", err)
	}
	for i, raw := range network {
		filter := &networkrbacv3.RBAC{}
		if err := readFilter(raw, filter); err != nil {
			return out, fmt.Errorf("filters.network[%d]: %w", i, err)
		}
		out.Network = append(out.Network, filter)
	}
	http, err := readList(o, "http")
	if err != nil {
		return out, fmt.Errorf("filters.%w", err)
	}
	for i, raw := range http {
		filter := &httprbacv3.RBAC{}
		if err := readFilter(raw, filter); err != nil {
			return out, fmt.Errorf("filters.http[%d]: %w", i, err)
		}
		out.HTTP = append(out.HTTP, filter)
	}
	routes, err := readList(o, "routes")
	if err != nil {
		return out, fmt.Errorf("filters.%w", err)
	}
	if len(out.HTTP)+len(routes) > 0 && in.Protocol == policy.TCP {
		return out, fmt.Errorf("filters: a %s inbound takes network filters only", in.Protocol)
	}
	out.Routes, err = readRoutes(routes, in, out.HTTP)
	return out, err
}

// readFilter reads a message of Envoy. It refuses unknown fields, and checks the message
// with the rules of Envoy.
func readFilter(raw json.RawMessage, into proto.Message) error {
	if err := protojson.Unmarshal(raw, into); err != nil {
		// Protojson changes the space after "proto:" on purpose.
		return fmt.Errorf("not %s as JSON: %s", into.ProtoReflect().Descriptor().FullName(), strings.ReplaceAll(err.Error(), "\u00a0", " "))
	}
	valid := into
	if network, ok := into.(*networkrbacv3.RBAC); ok {
		// The listener sets the prefix, so it may be missing here.
		network = proto.CloneOf(network)
		network.StatPrefix = "stat"
		valid = network
	}
	return xds.Validate(valid)
}

// readRoutes returns the routes of the inbound in its order. Envoy asks the first route
// that matches a request. So a route without filters of its own gets copies of the
// inbound's filters when a route after it has filters of its own.
func readRoutes(routes []json.RawMessage, in policy.Inbound, own []*httprbacv3.RBAC) ([]xds.Route, error) {
	given := map[string][]*httprbacv3.RBAC{}
	for i, raw := range routes {
		name, filters, err := readRoute(raw)
		known := slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == name })
		switch {
		case err != nil:
			return nil, fmt.Errorf("filters.routes[%d]: %w", i, err)
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

// readRoute reads the name of a route and its filters: one, or a list.
func readRoute(raw json.RawMessage) (string, []*httprbacv3.RBAC, error) {
	o, err := readObject(raw)
	if err == nil {
		err = o.checkFields("name", "rbac")
	}
	if err != nil {
		return "", nil, err
	}
	name, err := readValue[string](o, "name", "the name of a route")
	if err != nil {
		return "", nil, err
	}
	if !o.has("rbac") {
		return "", nil, fmt.Errorf("rbac is missing: want a filter")
	}
	raws := []json.RawMessage{o["rbac"]}
	isList := bytes.HasPrefix(bytes.TrimSpace(o["rbac"]), []byte("["))
	if isList {
		if raws, err = readList(o, "rbac"); err != nil {
			return "", nil, err
		}
	}
	filters := make([]*httprbacv3.RBAC, len(raws))
	for i, raw := range raws {
		place := "rbac"
		if isList {
			place = fmt.Sprintf("rbac[%d]", i)
		}
		filters[i] = &httprbacv3.RBAC{}
		if err := readFilter(raw, filters[i]); err != nil {
			return "", nil, fmt.Errorf("%s: %w", place, err)
		}
	}
	return name, filters, nil
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
