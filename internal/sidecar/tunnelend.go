package sidecar

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	statev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	setstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_filter_state/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	internalv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/internal_upstream/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// Where Istio is installed for ambient mode, each sidecar takes tunnels (HBONE), too (buildInboundHBONEListeners of
// pilot/pkg/networking/core/listener_inbound.go). A listener on port 15008 ends them over mTLS, and keeps the name of the caller and where the
// tunnel leads. A listener inside of Envoy goes by both, and has the chains of the listener for redirected connections once more. So who comes
// by a tunnel meets the filters that are proven for all others.

// tunnelEnd are the two listeners by which a sidecar takes tunnels; both are nil where a dump has none, or others. Then why says what is
// otherwise, where it may have them.
type tunnelEnd struct {
	outer, inner *listenerv3.Listener
	why          string
}

func (t tunnelEnd) has(l *listenerv3.Listener) bool {
	return t.outer != nil && (l == t.outer || l == t.inner)
}

// peerPrincipal is the name under which the name of the caller of a tunnel is kept.
const peerPrincipal = "io.istio.peer_principal"

// tunnelState is what is kept of a tunnel. Envoy gives no connection inside of it to another caller where the name of the caller is hashable.
var tunnelState = &setstatev3.Config{OnRequestHeaders: []*statev3.FilterStateValue{
	keptState("envoy.filters.listener.original_dst.local_ip", "", "%REQ(:AUTHORITY)%"),
	keptState("io.istio.connect_authority", "istio.hashable_string", "%REQ(:AUTHORITY)%"),
	keptState("envoy.filters.listener.original_dst.remote_ip", "", "%DOWNSTREAM_REMOTE_ADDRESS%"),
	keptState(peerPrincipal, "istio.hashable_string", "%DOWNSTREAM_PEER_URI_SAN%"),
	keptState("io.istio.local_principal", "istio.hashable_string", "%DOWNSTREAM_LOCAL_URI_SAN%"),
}}

func keptState(key, factory, text string) *statev3.FilterStateValue {
	format := &corev3.SubstitutionFormatString{Format: &corev3.SubstitutionFormatString_TextFormatSource{
		TextFormatSource: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: text}},
	}}
	return &statev3.FilterStateValue{
		Key: &statev3.FilterStateValue_ObjectKey{ObjectKey: key}, FactoryKey: factory,
		Value: &statev3.FilterStateValue_FormatString{FormatString: format}, SharedWithUpstream: statev3.FilterStateValue_ONCE,
	}
}

const httpState = "envoy.extensions.filters.http.set_filter_state.v3.Config"

// knownTunnelEnd lists the fields of the listener that ends tunnels, of the one inside, and of the cluster in between. With any other field
// they are inbounds.
var knownTunnelEnd = messages.Closed{
	"envoy.config.listener.v3.Listener": {
		messages.Read: "filter_chains listener_filters connection_balance_config",
		apart:         "address additional_addresses internal_listener traffic_direction access_log",
		measures:      "name stat_prefix metadata",
		limits:        "continue_on_listener_filters_timeout listener_filters_timeout",
	},
	"envoy.config.listener.v3.Listener.ConnectionBalanceConfig": {presents: "exact_balance"},
	"envoy.config.listener.v3.ListenerFilter":                   {messages.Read: "typed_config", apart: "filter_disabled", measures: "name"},
	originalDst: {},
	"envoy.extensions.filters.listener.http_inspector.v3.HttpInspector": {},
	"envoy.config.listener.v3.FilterChain":                              {apart: "filters transport_socket filter_chain_match", measures: "name metadata"},
	httpManager: {
		messages.Read: "http_filters route_config upgrade_configs http2_protocol_options",
		apart:         "access_log",
		measures:      "stat_prefix access_log_options",
		answers:       "server_name server_header_transformation",
		limits:        "stream_idle_timeout",
		unread:        "use_remote_address forward_client_cert_details set_current_client_cert_details generate_request_id",
	},
	"envoy.config.core.v3.Http2ProtocolOptions":                                                       {limits: "max_concurrent_streams connection_keepalive", presents: "allow_connect"},
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.UpgradeConfig": {apart: "upgrade_type"},
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter":                          {messages.Read: "typed_config", measures: "name"},
	router:                              {answers: "suppress_envoy_headers"},
	httpState:                           {apart: "on_request_headers"},
	peerMetadata:                        {messages.Read: "downstream_discovery", forwards: "shared_with_upstream"},
	peerMetadata + ".DiscoveryMethod":   {messages.Read: "workload_discovery"},
	peerMetadata + ".WorkloadDiscovery": {},
	"envoy.config.route.v3.RouteConfiguration":                      {messages.Read: "virtual_hosts", measures: "name", presents: "validate_clusters"},
	"envoy.config.route.v3.VirtualHost":                             {messages.Read: "routes", apart: "domains", measures: "name"},
	"envoy.config.route.v3.Route":                                   {messages.Read: "match route", measures: "name"},
	"envoy.config.route.v3.RouteMatch":                              {messages.Read: "connect_matcher"},
	"envoy.config.route.v3.RouteMatch.ConnectMatcher":               {},
	"envoy.config.route.v3.RouteAction":                             {messages.Read: "upgrade_configs", apart: "cluster"},
	"envoy.config.route.v3.RouteAction.UpgradeConfig":               {messages.Read: "connect_config", apart: "upgrade_type"},
	"envoy.config.route.v3.RouteAction.UpgradeConfig.ConnectConfig": {},
	"envoy.config.cluster.v3.Cluster": {
		messages.Read: "load_assignment transport_socket typed_extension_protocol_options",
		apart:         "name type",
		measures:      "alt_stat_name metadata",
		limits:        "circuit_breakers connect_timeout",
	},
	// Others run filters, or send a copy of each request elsewhere.
	"envoy.extensions.upstreams.http.v3.HttpProtocolOptions":                            {presents: "common_http_protocol_options explicit_http_config use_downstream_protocol_config"},
	"envoy.config.endpoint.v3.ClusterLoadAssignment":                                    {messages.Read: "endpoints", measures: "cluster_name"},
	"envoy.config.endpoint.v3.LocalityLbEndpoints":                                      {messages.Read: "lb_endpoints"},
	"envoy.config.endpoint.v3.LbEndpoint":                                               {messages.Read: "endpoint"},
	"envoy.config.endpoint.v3.Endpoint":                                                 {messages.Read: "address"},
	"envoy.config.core.v3.Address":                                                      {messages.Read: "envoy_internal_address"},
	"envoy.config.core.v3.EnvoyInternalAddress":                                         {apart: "server_listener_name"},
	"envoy.config.core.v3.TransportSocket":                                              {messages.Read: "typed_config", measures: "name"},
	"envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport": {messages.Read: "transport_socket"},
	rawBuffer: {},
}

var checkTunnelEnd = knownTunnelEnd.Checker()

func isTunnelEnd(m proto.Message) (known bool) {
	known = true
	checkTunnelEnd(m.ProtoReflect(), nil, func(*messages.Path, string) { known = false })
	return known
}

// gatherTunnelEnd finds the listeners by which tunnels come, where all that they lead to are the chains of the listener for redirected
// connections once more.
func (r *reader) gatherTunnelEnd() (none tunnelEnd) {
	outer, ok := only(r.Listeners, servesTunnels)
	if !ok || !r.IsDump || len(r.stated) == 0 || slices.ContainsFunc(r.Nodes, func(node dump.Node) bool { return !strings.HasPrefix(node.ID, "sidecar~") }) {
		return none
	}
	redirected, alone := only(r.Listeners, func(l *listenerv3.Listener) bool {
		inbound, _ := direction(l)
		return inbound && l.GetInternalListener() == nil && bindsPort(l) && r.isRedirected(l) && !handsIn(l)
	})
	logs := loggersOf(redirected.Message)
	inside := r.tunnelsInto(outer, logs)
	inner, ok := only(r.Listeners, func(l *listenerv3.Listener) bool { return l.Name == inside })
	end := tunnelEnd{outer: outer.Message, inner: inner.Message}
	none.why = "it is not as Istio has it since 1.29.2"
	switch {
	case inside == "" || !ok || !alone:
		return none
	case !r.endsInside(inner, logs):
		none.why = fmt.Sprintf("%q, to which they lead, is not as Istio has it", inside)
	case !r.isFedBy(end):
		none.why = fmt.Sprintf("something else leads to %q, too: what comes without a tunnel has no name of a caller", inside)
	default:
		if none.why = r.repeats(end, redirected.Message); none.why == "" {
			return end
		}
	}
	return none
}

// tellTunnels tells of the listener that ends tunnels why it counts as an inbound.
func (r *reader) tellTunnels(l *listenerv3.Listener) {
	if l.Name == "connect_terminate" && r.ends.why != "" {
		r.tell(l, dump.Exposed, "tunnels (HBONE) of other machines end there, and "+r.ends.why)
	}
}

// only returns the one listener that is so; false where there are several or none.
func only(all []dump.Decoded[*listenerv3.Listener], is func(*listenerv3.Listener) bool) (found dump.Decoded[*listenerv3.Listener], ok bool) {
	n := 0
	for _, d := range all {
		if is(d.Message) {
			found, n = d, n+1
		}
	}
	return found, n == 1
}

// tunnelsInto returns the name of the listener inside of Envoy in which the tunnels of a listener end, with the names of their callers; "" for
// a listener that does anything else, too.
func (r *reader) tunnelsInto(d dump.Decoded[*listenerv3.Listener], logs map[string]bool) string {
	l := d.Message
	others := slices.ContainsFunc(addressesOf(l), func(a *corev3.Address) bool { return a.GetSocketAddress().GetPortValue() != tunnelPort })
	// The chain says nothing of connections, and its listener looks at none.
	if others || len(d.Faults) > 0 || !isTunnelEnd(l) || l.GetInternalListener() != nil || len(l.FilterChains) != 1 || len(l.ListenerFilters) > 0 {
		return ""
	}
	chain := l.FilterChains[0]
	if proto.Size(chain.FilterChainMatch) > 0 || len(chain.Filters) != 1 || !isTunnelEnd(chain.Filters[0].GetTypedConfig()) {
		return ""
	}
	m, _, _ := messages.Unpack(chain.Filters[0].GetTypedConfig())
	manager, ok := m.(*hcmv3.HttpConnectionManager)
	if !ok {
		return ""
	}
	kept := 0
	for _, f := range manager.GetHttpFilters() {
		m, _, _ := messages.Unpack(f.GetTypedConfig())
		switch of := messages.Name(messages.TypeURL(f.GetTypedConfig())); {
		case proto.Equal(m, tunnelState):
			kept++
		case of != router && of != peerMetadata:
			return ""
		}
	}
	hosts := manager.GetRouteConfig().GetVirtualHosts()
	if kept != 1 || !r.callsNothing(l, manager, logs) || len(hosts) != 1 || len(hosts[0].Routes) != 1 {
		return ""
	}
	to := hosts[0].Routes[0].GetRoute()
	if to.GetCluster() == "" || len(to.UpgradeConfigs) != 1 || to.UpgradeConfigs[0].UpgradeType != "CONNECT" || to.UpgradeConfigs[0].ConnectConfig == nil {
		return ""
	}
	return r.insideOf(to.GetCluster())
}

// insideOf returns the listener inside of Envoy to which a cluster leads; "" for another cluster.
func (r *reader) insideOf(name string) string {
	d, ok := r.Clusters[name]
	socket, _, _ := messages.Unpack(d.Message.GetTransportSocket().GetTypedConfig())
	// It takes what is kept of the tunnel along.
	inner, along := socket.(*internalv3.InternalUpstreamTransport)
	along = along && messages.Name(messages.TypeURL(inner.GetTransportSocket().GetTypedConfig())) == rawBuffer
	if !ok || !along || len(d.Faults) > 0 || !isTunnelEnd(d.Message) || discovery(d.Message) != clusterv3.Cluster_STATIC {
		return ""
	}
	var inside []string
	eachAddress(d.Message.GetLoadAssignment(), func(address *corev3.Address) {
		inside = append(inside, address.GetEnvoyInternalAddress().GetServerListenerName())
	})
	if len(inside) != 1 {
		return ""
	}
	return inside[0]
}

// loggersOf returns the clusters to which the connection managers of a listener for inbounds log: where these lead is looked at with the inbounds.
func loggersOf(l *listenerv3.Listener) map[string]bool {
	calls := newLeading().calls
	for _, chain := range l.GetFilterChains() {
		for _, f := range chain.Filters {
			m, _, _ := messages.Unpack(f.GetTypedConfig())
			manager, _ := m.(*hcmv3.HttpConnectionManager)
			for _, log := range manager.GetAccessLog() {
				calls.add(log)
			}
		}
	}
	return calls.asked
}

// callsNothing reports whether what a listener logs, and a connection manager of its own, goes to no cluster but those to which the inbounds log.
// Its certificates come from the control plane, or from another process by a socket.
func (r *reader) callsNothing(l *listenerv3.Listener, manager *hcmv3.HttpConnectionManager, logs map[string]bool) bool {
	calls := newLeading().calls
	for _, log := range l.AccessLog {
		calls.add(log)
	}
	calls.addManager(manager)
	for _, chain := range l.FilterChains {
		if socket := chain.GetTransportSocket(); socket != nil {
			calls.addSources(socket)
		}
	}
	maps.DeleteFunc(calls.asked, func(name string, _ bool) bool { return logs[name] || r.PlaneTexts[name] || r.hasSocketsOfOthers(name) })
	return len(calls.asked)+len(calls.unread) == 0
}

// endsInside reports whether a listener inside of Envoy gives each connection the destination of its tunnel, and does nothing else beside its
// chains.
func (r *reader) endsInside(d dump.Decoded[*listenerv3.Listener], logs map[string]bool) bool {
	l := d.Message
	inside := l.GetInternalListener() != nil && proto.Size(l.GetInternalListener()) == 0 && l.Address == nil && len(l.AdditionalAddresses) == 0
	empty := slices.ContainsFunc(l.ListenerFilters, func(f *listenerv3.ListenerFilter) bool { return f.GetTypedConfig() == nil })
	known := !empty && len(d.Faults) == 0 && isTunnelEnd(l) && r.callsNothing(l, &hcmv3.HttpConnectionManager{}, logs)
	return inside && known && slices.ContainsFunc(l.ListenerFilters, func(f *listenerv3.ListenerFilter) bool {
		return f.FilterDisabled == nil && r.restoresDestination(f)
	})
}

// isFedBy reports whether nothing but the tunnels leads to the listener inside: what comes without one has no name of a caller.
func (r *reader) isFedBy(end tunnelEnd) bool {
	own := r.clustersOf(end.outer.FilterChains...).names
	for name := range own {
		if r.Texts[name] {
			return false
		}
	}
	fed := true
	leads := func(name string) func(*corev3.Address) {
		return func(address *corev3.Address) {
			fed = fed && (own[name] || address.GetEnvoyInternalAddress().GetServerListenerName() != end.inner.Name)
		}
	}
	for name, d := range r.Clusters {
		eachAddress(d.Message.GetLoadAssignment(), leads(name))
	}
	for _, assignment := range r.Assignments {
		eachAddress(assignment, leads(""))
	}
	for _, d := range r.Listeners {
		if d.Message == end.outer {
			continue
		}
		of := r.leadsOf(d.Message, chainsOf(d.Message)...)
		for name := range own {
			fed = fed && !of.names[name] && !of.calls.clusters[name] && !of.calls.asked[name]
		}
	}
	return fed
}
