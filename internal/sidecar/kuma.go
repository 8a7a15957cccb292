package sidecar

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// Kuma gives a sidecar listeners of its own (AdminProxyGenerator in pkg/xds/generator, and the plugin of MeshMetric). One
// answers whether the sidecar is ready, and lets the control plane reach the admin interface; the others serve metrics.
const (
	readyPath = "/ready"
	// controlPlane is the DNS name in the certificate of Kuma's control plane.
	controlPlane = "kuma-cp"
	// readinessPort is the port of the process that answers whether the sidecar is ready, unless the node states another.
	readinessPort     = 9902
	readinessMetadata = "dataplane.readinessReporter.port"
)

// kumaSockets begin the names of the sockets on which Kuma's own process in the pod listens.
var kumaSockets = []string{"kuma-readiness-reporter", "kuma-mh-"}

// knownKuma lists the fields of such a listener. With any other field it is an inbound.
var knownKuma = messages.Closed{
	"envoy.config.listener.v3.Listener": {
		messages.Read: "address filter_chains listener_filters",
		apart:         "traffic_direction",
		measures:      "name stat_prefix metadata",
		presents:      "enable_reuse_port",
	},
	"envoy.config.core.v3.Address":            {messages.Read: "socket_address"},
	"envoy.config.core.v3.SocketAddress":      {apart: "protocol address port_value ipv4_compat"},
	"envoy.config.listener.v3.ListenerFilter": {messages.Read: "typed_config", measures: "name"},
	tlsInspector: {},
	// Each chain is looked at for every connection that it may match.
	"envoy.config.listener.v3.FilterChain": {messages.Read: "filters", apart: "filter_chain_match transport_socket", measures: "name"},
	"envoy.config.listener.v3.Filter":      {messages.Read: "typed_config", measures: "name"},
	httpManager: {
		messages.Read: "route_config http_filters",
		measures:      "stat_prefix",
		presents:      "codec_type",
		unread:        "internal_address_config",
	},
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter": {messages.Read: "typed_config", measures: "name"},
	router: {},
	"envoy.config.route.v3.RouteConfiguration": {messages.Read: "virtual_hosts", measures: "name", presents: "validate_clusters"},
	"envoy.config.route.v3.VirtualHost":        {messages.Read: "routes", apart: "domains", measures: "name"},
	"envoy.config.route.v3.Route":              {messages.Read: "match route", measures: "name"},
	"envoy.config.route.v3.RouteMatch":         {apart: "prefix path"},
	"envoy.config.route.v3.RouteAction":        {apart: "cluster prefix_rewrite"},
}

var checkKuma = knownKuma.Checker()

// servesKuma reports whether all that a listener serves are processes of Kuma in the pod, and the admin interface of Envoy
// for the control plane alone. The admin interface is open where it serves that.
func (r *reader) servesKuma(d dump.Decoded[*listenerv3.Listener]) (serves, admin bool) {
	ok := len(d.Faults) == 0
	checkKuma(d.Message.ProtoReflect(), nil, func(*messages.Path, string) { ok = false })
	if !ok {
		return false, false
	}
	routes := 0
	for _, chain := range d.Message.FilterChains {
		context, known := tlsOf(chain)
		if len(chain.Filters) != 1 || !known {
			return false, false
		}
		m, _, _ := messages.Unpack(chain.Filters[0].GetTypedConfig())
		manager, _ := m.(*hcmv3.HttpConnectionManager)
		for _, host := range manager.GetRouteConfig().GetVirtualHosts() {
			for _, route := range host.Routes {
				routes++
				switch {
				case r.leadsToKuma(route, d):
				case r.leadsToAdminAlone(route.GetRoute().GetCluster()) && demandsControlPlane(context):
					admin = true
				default:
					return false, false
				}
			}
		}
	}
	return routes > 0, admin
}

// leadsToKuma reports whether a route leads to a process of Kuma, by its socket or by the port for readiness. No inbound
// has this port, or leads to it.
func (r *reader) leadsToKuma(route *routev3.Route, d dump.Decoded[*listenerv3.Listener]) bool {
	name := route.GetRoute().GetCluster()
	if r.isKumaSocket(name) {
		return true
	}
	port := r.readinessPort()
	if port == r.AdminPort {
		return false
	}
	if route.GetMatch().GetPrefix() != readyPath || route.GetRoute().GetPrefixRewrite() != readyPath || !r.leadsToLoopback(name, port) {
		return false
	}
	for _, other := range r.Listeners {
		if other.Message == d.Message {
			continue
		}
		if slices.Contains(r.workloadsOf(r.leadsOf(other.Message, chainsOf(other.Message)...), true), fmt.Sprintf("port %d of the workload", port)) {
			return false
		}
	}
	return len(r.inbounds[uint16(port)]) == 0
}

// readinessPort returns the port that the node states for readiness. Several nodes have to agree.
func (r *reader) readinessPort() uint32 {
	port := uint32(readinessPort)
	for i, node := range r.Nodes {
		own := uint32(readinessPort)
		if stated, has := node.Metadata[readinessMetadata]; has {
			n, err := strconv.ParseUint(fmt.Sprint(stated), 10, 16)
			if err != nil {
				return 0
			}
			own = uint32(n)
		}
		if i > 0 && own != port {
			return 0
		}
		port = own
	}
	return port
}

// loopbacks are the addresses that the processes of Kuma and of Istio have on loopback, and Envoy's admin interface.
var loopbacks = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}

// leadsToLoopback reports whether a cluster has endpoints on this machine with a port, and no others. A port that a listener of this
// Envoy has is that of no other process.
func (r *reader) leadsToLoopback(name string, port uint32) bool {
	if port == 0 || r.itself.hasPort(port) || r.unreadCluster(name) != "" {
		return false
	}
	c, endpoints, others := r.Clusters[name].Message, 0, 0
	eachEndpoint(r.assignmentOf(c), func(socket *corev3.SocketAddress) {
		if slices.Contains(loopbacks, hostOf(c, socket)) && socket.GetPortValue() == port {
			endpoints++
		} else {
			others++
		}
	})
	return endpoints > 0 && others == 0
}

// leadsToAdminAlone reports whether a cluster leads to the admin interface, and nowhere else. Kuma 2.14 gives it a socket by default.
func (r *reader) leadsToAdminAlone(name string) bool {
	if r.AdminPipe == "" {
		return r.leadsToLoopback(name, r.AdminPort)
	}
	sockets := r.socketsOf(name)
	return len(sockets) > 0 && !slices.ContainsFunc(sockets, func(socket string) bool { return socket != r.AdminPipe }) &&
		!slices.ContainsFunc(r.Listeners, func(d dump.Decoded[*listenerv3.Listener]) bool {
			return slices.ContainsFunc(addressesOf(d.Message), func(address *corev3.Address) bool {
				return nameSocket(address.GetPipe().GetPath()) == nameSocket(r.AdminPipe)
			})
		})
}

// isKumaSocket reports whether a cluster has sockets of Kuma's own process for endpoints, and no others. Where this Envoy itself
// listens on a socket of such a name, none is known to be Kuma's: one socket may have several paths.
func (r *reader) isKumaSocket(name string) bool {
	named := func(socket string) bool {
		return slices.ContainsFunc(kumaSockets, func(begin string) bool { return strings.HasPrefix(socket, begin) })
	}
	sockets := r.socketsOf(name)
	return len(sockets) > 0 && !r.itself.hasSocket(named) && !slices.ContainsFunc(sockets, func(socket string) bool { return !named(nameSocket(socket)) })
}

// socketsOf returns the sockets in the file system that are the endpoints of a cluster; none where it may lead elsewhere, too.
func (r *reader) socketsOf(name string) (sockets []string) {
	d, found := r.Clusters[name]
	if !found || discovery(d.Message) != clusterv3.Cluster_STATIC {
		return nil
	}
	c := proto.CloneOf(d.Message)
	for _, locality := range c.GetLoadAssignment().GetEndpoints() {
		for _, endpoint := range locality.LbEndpoints {
			socket := endpoint.GetEndpoint().GetAddress().GetPipe().GetPath()
			// A socket without a file (@) belongs to no folder that a process has for itself.
			if socket == "" || strings.HasPrefix(socket, "@") {
				return nil
			}
			sockets = append(sockets, socket)
			endpoint.GetEndpoint().Address = nil
		}
	}
	if elsewhere(dump.Decoded[*clusterv3.Cluster]{Message: c, Faults: d.Faults}, nil) != "" {
		return nil
	}
	return sockets
}

// tlsOf returns the TLS context of a chain, nil for none, and whether the transport of the chain is known as a whole.
func tlsOf(chain *listenerv3.FilterChain) (context *tlsv3.DownstreamTlsContext, known bool) {
	if chain.GetTransportSocket() == nil {
		return nil, true
	}
	m, faults, err := messages.Unpack(chain.TransportSocket.GetTypedConfig())
	context, ok := m.(*tlsv3.DownstreamTlsContext)
	if err != nil || !ok || len(faults) > 0 {
		return nil, false
	}
	checkContext(context, func(*messages.Path, string) { ok = false })
	return context, ok
}

// demandsControlPlane reports whether every caller of a chain has a certificate for the name of Kuma's control plane. Whose
// CAs those in the listener are, it takes from that name. A dump does not show the CAs of a file.
func demandsControlPlane(context *tlsv3.DownstreamTlsContext) bool {
	validation := context.GetCommonTlsContext().GetValidationContext()
	sans, cas := validation.GetMatchTypedSubjectAltNames(), validation.GetTrustedCa()
	return context.GetRequireClientCertificate().GetValue() && holdsCAs(cas) && validation.GetCustomValidatorConfig() == nil && len(sans) == 1 &&
		sans[0].SanType == tlsv3.SubjectAltNameMatcher_DNS && sans[0].GetMatcher().GetExact() == controlPlane && !sans[0].GetMatcher().GetIgnoreCase()
}
