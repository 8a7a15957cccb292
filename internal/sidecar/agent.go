package sidecar

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// agentPort is the port of Istio's agent, which tells whether the sidecar is ready. The paths are
// those of the listeners of Istio's bootstrap (tools/packaging/common/envoy_bootstrap.json).
const (
	agentPort   = 15020
	healthPath  = "/healthz/ready"
	metricsPath = "/stats/prometheus"
)

// knownAgent lists the fields of such a listener. With any other field it is an inbound.
var knownAgent = messages.Closed{
	"envoy.config.listener.v3.Listener": {
		messages.Read: "filter_chains",
		apart:         "address additional_addresses",
		measures:      "name",
		limits:        "ignore_global_conn_limit bypass_overload_manager",
	},
	"envoy.config.listener.v3.FilterChain": {messages.Read: "filters"},
	"envoy.config.listener.v3.Filter":      {messages.Read: "typed_config", measures: "name"},
	httpManager:                            {messages.Read: "route_config http_filters", measures: "stat_prefix", presents: "codec_type"},
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter": {messages.Read: "typed_config", measures: "name"},
	router: {},
	"envoy.config.route.v3.RouteConfiguration": {messages.Read: "virtual_hosts", measures: "name", presents: "validate_clusters"},
	"envoy.config.route.v3.VirtualHost":        {messages.Read: "routes", apart: "domains", measures: "name"},
	"envoy.config.route.v3.Route":              {messages.Read: "match route", measures: "name"},
	"envoy.config.route.v3.RouteMatch":         {apart: "prefix path"},
	"envoy.config.route.v3.RouteAction":        {apart: "cluster"},
}

var checkAgent = knownAgent.Checker()

// servesAgent reports whether all that a listener serves are the health of the sidecar, at the
// port of Istio's agent, and the metrics of Envoy's admin interface. No inbound has these ports, or leads to that of the agent.
func (r *reader) servesAgent(d dump.Decoded[*listenerv3.Listener], g guarded) bool {
	routes := agentRoutes(d)
	return len(routes) > 0 && !slices.ContainsFunc(routes, func(route *routev3.Route) bool { return !r.leadsToAgent(route, g) })
}

// agentRoutes returns the routes of a listener that has the shape of those of Istio's agent; none for another listener.
func agentRoutes(d dump.Decoded[*listenerv3.Listener]) (routes []*routev3.Route) {
	ok := len(d.Faults) == 0
	checkAgent(d.Message.ProtoReflect(), nil, func(*messages.Path, string) { ok = false })
	for _, chain := range d.Message.FilterChains {
		for _, f := range chain.Filters {
			m, _, _ := messages.Unpack(f.GetTypedConfig())
			manager, isHTTP := m.(*hcmv3.HttpConnectionManager)
			ok = ok && isHTTP
			for _, host := range manager.GetRouteConfig().GetVirtualHosts() {
				routes = append(routes, host.Routes...)
			}
		}
	}
	if !ok || slices.ContainsFunc(routes, func(route *routev3.Route) bool { return pathOf(route) != healthPath && pathOf(route) != metricsPath }) {
		return nil
	}
	return routes
}

// pathOf returns the path of a route of the agent, or its beginning.
func pathOf(route *routev3.Route) string {
	return cmp.Or(route.GetMatch().GetPrefix(), route.GetMatch().GetPath())
}

// leadsToAgent reports whether a route leads to the agent, or to the metrics of Envoy. Where the admin interface or a workload has the
// port of the agent, it is not the agent's.
func (r *reader) leadsToAgent(route *routev3.Route, g guarded) bool {
	var port uint32
	switch pathOf(route) {
	case healthPath:
		port = agentPort
	case metricsPath:
		port = r.AdminPort
	}
	if port == agentPort && (port == r.AdminPort || r.inboundLeadsTo(agentPort)) {
		return false
	}
	return r.leadsToLoopback(route.GetRoute().GetCluster(), port) && !slices.ContainsFunc(g.addresses, func(a netip.AddrPort) bool { return uint32(a.Port()) == port })
}

// inboundLeadsTo reports whether an inbound listener leads to a port of its workload. Those of the agent's shape are none.
func (r *reader) inboundLeadsTo(port uint32) bool {
	return slices.ContainsFunc(r.Listeners, func(d dump.Decoded[*listenerv3.Listener]) bool {
		inbound, _ := direction(d.Message)
		return inbound && len(agentRoutes(d)) == 0 && slices.Contains(r.workloadsOf(r.leadsOf(d.Message, chainsOf(d.Message)...), true), fmt.Sprintf("port %d of the workload", port))
	})
}

// opensAdmin says why callers of a listener for metrics, or a tracer, may reach more of the admin interface; "" where they may not. A
// prefix takes paths with dot segments too, and the listener sends them on as they are.
func (r *reader) opensAdmin(l *listenerv3.Listener) string {
	others := slices.ContainsFunc(sockets(l), func(s *corev3.SocketAddress) bool {
		ip, err := parseIP(s.GetAddress())
		return s != nil && (err != nil || !ip.Unmap().IsLoopback())
	})
	// Where nothing tells an endpoint, the inbound is not verified for that, and an authorizer may be anywhere.
	if !others && !r.callees.nameListener(l) {
		return ""
	}
	open := false
	eachMessage(l, func(m proto.Message) {
		route, ok := m.(*routev3.Route)
		open = open || ok && route.GetMatch().GetPrefix() == metricsPath
	})
	switch {
	case !open:
		return ""
	case !others:
		return "a logger, a tracer or a filter may send requests to it, and it sends on each path with a prefix, as it is, to Envoy's admin interface, where they may change how filters judge"
	}
	return "it sends on each path with a prefix, as it is, to Envoy's admin interface, where callers may change how filters judge: " +
		"let it listen on this machine alone (METRICS_LOCALHOST_ACCESS_ONLY in the proxyMetadata of Istio)"
}

// leadsToAdmin reports whether clusters lead to the admin interface, where a caller may change how
// Envoy judges.
func (r *reader) leadsToAdmin(l leading) (found bool) {
	for name := range l.names {
		c := r.Clusters[name].Message
		eachAddress(r.assignmentOf(c), func(address *corev3.Address) {
			socket, pipe := address.GetSocketAddress(), address.GetPipe().GetPath()
			// A name may be any address, and one socket may have several paths.
			ip := hostOf(c, socket)
			found = found || r.AdminPort != 0 && socket.GetPortValue() == r.AdminPort && (r.isOwn(ip) || !ip.IsValid()) || pipe != "" && r.AdminPipe != "" && nameSocket(pipe) == nameSocket(r.AdminPipe)
		})
	}
	return found
}
