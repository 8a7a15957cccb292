package sidecar

import (
	"fmt"
	"maps"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/virtualhost"
	"github.com/meshproof/meshproof/xds"
)

// overrides are the typed_per_filter_config of one place, by filter name.
type overrides = map[string]*anypb.Any

// mostRoutes bounds the routes of an inbound with filters of their own.
const mostRoutes = 10_000

// ownRoutes adds the routes up to the last route with filters of its own, domain by domain. The
// routes in between take requests away from the routes behind them. A request to a domain that
// has no route for it passes the filters of the inbound, and reaches no workload.
func (c *chain) ownRoutes(config *routev3.RouteConfiguration) {
	domains, err := virtualhost.Choices(config)
	if err != nil {
		c.tellIdle(dump.Lost, "", typeURL(&httprbacv3.RBACPerRoute{}), fmt.Sprintf("route configuration %q replaces RBAC filters: %s", config.Name, err))
		return
	}
	last := 0
	for _, domain := range domains {
		host, only := domain.Host, domain.Headers()
		for i, route := range host.Routes {
			name := domain.NameOf(nameOf(route, i))
			filters := slices.Clone(c.inbound.Filters.HTTP)
			for n, filter := range c.replaceable {
				for _, of := range []overrides{config.TypedPerFilterConfig, host.TypedPerFilterConfig, route.TypedPerFilterConfig} {
					if packed, ok := of[filter]; ok {
						if filters[n], ok = c.override(filter, name, packed, 0); !ok {
							return
						}
					}
				}
			}
			if !slices.Equal(filters, c.inbound.Filters.HTTP) {
				last = len(c.inbound.Filters.Routes) + 1
			}
			match := route.Match
			if c.checkMatch(name, match); len(only) > 0 {
				match = proto.CloneOf(match)
				match.Headers = append(match.Headers, only...)
			}
			c.inbound.Filters.Routes = append(c.inbound.Filters.Routes, xds.Route{Name: name, Match: match, HTTP: filters})
		}
		if len(only) > 0 {
			none := &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: ""}, Headers: only}
			c.inbound.Filters.Routes = append(c.inbound.Filters.Routes, xds.Route{Name: domain.NameOf("no route"), Match: none, HTTP: c.inbound.Filters.HTTP})
		}
		if len(c.inbound.Filters.Routes) > mostRoutes {
			c.tellIdle(dump.Lost, "", typeURL(&httprbacv3.RBACPerRoute{}), fmt.Sprintf("route configuration %q replaces RBAC filters: it has more than %d routes by domain", config.Name, mostRoutes))
			return
		}
	}
	c.inbound.Filters.Routes = c.inbound.Filters.Routes[:last]
}

// override returns the filter that a route has in the place of the inbound's: one
// without anything to judge by where it is switched off.
func (c *chain) override(filter, route string, packed *anypb.Any, depth int) (*httprbacv3.RBAC, bool) {
	m, _, err := messages.Unpack(packed)
	switch m := m.(type) {
	case *httprbacv3.RBACPerRoute:
		if m.Rbac == nil {
			return &httprbacv3.RBAC{}, true
		}
		return withoutPrefix(m.Rbac), c.inspect(filter, m, false)
	case *routev3.FilterConfig:
		c.checkKnown(filter, m)
		switch {
		case m.Disabled:
			return &httprbacv3.RBAC{}, true
		case m.Config != nil && depth == 0:
			return c.override(filter, route, m.Config, depth+1)
		}
	}
	reason := "this is no filter for a route"
	if err != nil {
		reason = err.Error()
	}
	c.tell(dump.Lost, filter, packed.TypeUrl, fmt.Sprintf("route %q: %s", route, reason))
	return nil, false
}

// tellScripts tells about scripts of routes that may send requests of their own, and notes what they
// change.
func (c *chain) tellScripts(config *routev3.RouteConfiguration) {
	eachMessage(config, func(m proto.Message) {
		script, ok := m.(*luav3.LuaPerRoute)
		if !ok {
			return
		}
		c.checkKnown("", script)
		if why := unprovenSource(script.GetSourceCode()); why != "" {
			c.tell(dump.BesideRBAC, "", typeURL(script), fmt.Sprintf("route configuration %q: %s", config.Name, why))
		}
		if _, all := headersOf(script.GetSourceCode()); !all {
			c.inbound.Rewrites = append(c.inbound.Rewrites, fmt.Sprintf("a script of route configuration %q may change the path", config.Name))
		}
		c.rewritten = append(c.rewritten, changesByScript(script.GetSourceCode()))
	})
}

// overriding reports whether a route configuration overrides a filter with one of the
// names.
func overriding(config *routev3.RouteConfiguration, filters []string) (found bool) {
	eachOverride(config, func(name string, _ *anypb.Any) { found = found || slices.Contains(filters, name) })
	return found
}

// tellUnnamed tells about RBAC of a route under a name that no filter has. Envoy ignores
// it.
func (c *chain) tellUnnamed(config *routev3.RouteConfiguration, m *hcmv3.HttpConnectionManager) {
	eachOverride(config, func(name string, packed *anypb.Any) {
		named := slices.ContainsFunc(m.HttpFilters, func(f *hcmv3.HttpFilter) bool { return f.Name == name })
		if !named && messages.Name(packed.GetTypeUrl()) == routeRBAC {
			c.tell(dump.Note, name, packed.TypeUrl, fmt.Sprintf("route configuration %q has RBAC for a filter that is not there: Envoy passes over it", config.Name))
		}
	})
}

func eachOverride(config *routev3.RouteConfiguration, do func(name string, packed *anypb.Any)) {
	each := func(of overrides) {
		for _, name := range slices.Sorted(maps.Keys(of)) {
			do(name, of[name])
		}
	}
	each(config.TypedPerFilterConfig)
	for _, host := range config.VirtualHosts {
		each(host.TypedPerFilterConfig)
		for _, route := range host.Routes {
			each(route.TypedPerFilterConfig)
			for _, cluster := range route.GetRoute().GetWeightedClusters().GetClusters() {
				each(cluster.TypedPerFilterConfig)
			}
		}
	}
}
