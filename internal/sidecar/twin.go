package sidecar

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/messages"
)

// guarded is what the inbounds of a dump serve: the addresses that callers connect to, and
// the clusters behind the filters. A listener that leads there too is a twin of an inbound.
// Its name and its direction do not matter.
type guarded struct {
	addresses []netip.AddrPort
	workloads map[string]bool
}

// guardedBy gathers what the inbound listeners serve.
func (r *reader) guardedBy(listeners []decoded[*listenerv3.Listener]) guarded {
	g := guarded{workloads: map[string]bool{}}
	var chains []*listenerv3.FilterChain
	for _, d := range listeners {
		if inbound, _ := direction(d.message); !inbound {
			continue
		}
		chains = append(chains, chainsOf(d.message)...)
		for _, socket := range sockets(d.message) {
			for _, chain := range chainsOf(d.message) {
				g.addresses = append(g.addresses, address(d.message, socket, chain.GetFilterChainMatch()))
			}
		}
	}
	r.own = map[netip.Addr]bool{}
	for _, a := range g.addresses {
		r.own[a.Addr()] = true
	}
	for _, workload := range r.workloadsOf(r.clustersOf(chains...)) {
		g.workloads[workload] = true
	}
	return g
}

// workloadsOf names where clusters lead: the clusters, and the endpoints of static clusters
// on this machine.
func (r *reader) workloadsOf(l leading) []string {
	out := slices.Sorted(maps.Keys(l.names))
	for _, name := range out[:len(out):len(out)] {
		if r.clusters[name].GetType() != clusterv3.Cluster_STATIC {
			continue
		}
		for _, endpoint := range endpointsOf(r.clusters[name]) {
			if ip := endpoint.Addr(); ip.IsLoopback() || ip.IsUnspecified() || r.own[ip] {
				out = append(out, fmt.Sprintf("port %d of the workload", endpoint.Port()))
			}
		}
	}
	return out
}

// twin says how an outbound listener leads to what the inbounds guard; "" where it does not.
func (r *reader) twin(l *listenerv3.Listener, g guarded) string {
	if l.GetInternalListener() != nil {
		return "it is reached from inside of Envoy"
	}
	leads := r.clustersOf(chainsOf(l)...)
	for _, socket := range sockets(l) {
		a := address(l, socket, nil)
		ip := a.Addr()
		switch {
		case socket == nil:
			// A pipe is for processes of the machine.
			continue
		case !a.IsValid():
			return "it listens on no IP address"
		}
		for _, b := range g.addresses {
			switch own := b.Addr(); {
			case !b.IsValid():
			case socket.GetPortValue() == uint32(b.Port()) && (ip == own || ip.IsUnspecified() || own.IsUnspecified()):
				return fmt.Sprintf("it listens on the address of an inbound, %s", b)
			case ip == own && !ip.IsUnspecified():
				return fmt.Sprintf("it listens on the IP address of an inbound, %s", ip)
			}
		}
		if ip.IsUnspecified() && !r.passesThrough(l, leads) {
			return "it listens on every IP address, and not only for connections that are redirected to it"
		}
		if name := r.missing(leads); name != "" && (l.BindToPort == nil || l.BindToPort.Value) && !ip.IsUnspecified() && !ip.IsLoopback() && !reserved.Contains(ip) {
			return fmt.Sprintf("others may reach it on %s, and its cluster %q is not in the dump", ip, name)
		}
	}
	if leads.chosen {
		return "its callers choose the cluster"
	}
	for _, workload := range r.workloadsOf(leads) {
		if g.workloads[workload] {
			return fmt.Sprintf("it leads to %s, as an inbound does", workload)
		}
	}
	return ""
}

// reserved has the addresses that a mesh gives to services: nothing routes them.
var reserved = netip.MustParsePrefix("240.0.0.0/4")

// missing returns a cluster that the dump does not have; "" where it has all.
func (r *reader) missing(l leading) string {
	for _, name := range slices.Sorted(maps.Keys(l.names)) {
		if r.clusters[name] == nil {
			return name
		}
	}
	return ""
}

// passesThrough reports whether a listener only sends redirected connections on to where
// they were going.
func (r *reader) passesThrough(l *listenerv3.Listener, leads leading) bool {
	if !l.GetUseOriginalDst().GetValue() || leads.chosen || len(leads.names) == 0 {
		return false
	}
	for name := range leads.names {
		c, ok := r.clusters[name]
		// A static cluster without endpoints is a black hole.
		if !ok || c.GetType() != clusterv3.Cluster_ORIGINAL_DST && (c.GetType() != clusterv3.Cluster_STATIC || len(endpointsOf(c)) > 0) {
			return false
		}
	}
	return true
}

// leading is where a listener sends connections and requests.
type leading struct {
	names map[string]bool
	// chosen is set where callers or extensions choose the cluster.
	chosen bool
}

// clustersOf gathers the clusters of filter chains.
func (r *reader) clustersOf(chains ...*listenerv3.FilterChain) leading {
	out := leading{names: map[string]bool{}}
	for _, chain := range chains {
		of, ok := r.led[chain]
		if !ok {
			of = r.readClusters(chain)
			r.led[chain] = of
		}
		maps.Copy(out.names, of.names)
		out.chosen = out.chosen || of.chosen
	}
	return out
}

// readClusters gathers the clusters of one chain, also of the route configurations that it
// takes by RDS.
func (r *reader) readClusters(chain *listenerv3.FilterChain) leading {
	out := leading{names: map[string]bool{}}
	routes := messages.Visitor{
		Closed: func(string, string, *messages.Path) {},
		Opened: func(string, []messages.Fault, *messages.Path) {},
		Message: func(m protoreflect.Message, _ *messages.Path) {
			switch m := m.Interface().(type) {
			case *routev3.RouteAction:
				out.add(m.GetCluster())
				out.chosen = out.chosen || m.GetClusterHeader() != "" || m.GetClusterSpecifierPlugin() != "" || m.GetInlineClusterSpecifierPlugin() != nil
			case *routev3.RouteAction_RequestMirrorPolicy:
				out.add(m.Cluster)
				out.chosen = out.chosen || m.ClusterHeader != ""
			case *routev3.WeightedCluster_ClusterWeight:
				out.add(m.Name)
				out.chosen = out.chosen || m.ClusterHeader != ""
			}
		},
	}
	for _, f := range chain.GetFilters() {
		if messages.Authorizes(messages.Name(f.GetTypedConfig().GetTypeUrl())) {
			continue
		}
		m, _, _ := messages.Unpack(f.GetTypedConfig())
		switch m := m.(type) {
		case *tcpproxyv3.TcpProxy:
			out.add(m.GetCluster())
			for _, weighted := range m.GetWeightedClusters().GetClusters() {
				out.add(weighted.Name)
			}
		case *hcmv3.HttpConnectionManager:
			routes.Visit(m.GetRouteConfig().ProtoReflect())
			routes.Visit(m.GetScopedRoutes().ProtoReflect())
			routes.Visit(r.routes[m.GetRds().GetRouteConfigName()].message.ProtoReflect())
		}
	}
	return out
}

func (l leading) add(name string) {
	if name != "" {
		l.names[name] = true
	}
}

// shareWorkloads tells about inbounds of different ports with one workload behind them: a
// caller that one of them refuses may pass the other.
func (r *reader) shareWorkloads() {
	ports := map[string]uint16{}
	told := map[string]bool{}
	for i, in := range r.out.Inbounds {
		tell := func(format string, args ...any) {
			r.found.add(Unknown{Kind: Exposed, Listener: in.Listener, Chain: in.Chain, Reason: fmt.Sprintf(format, args...)})
		}
		for _, workload := range r.workloadsOf(r.leads[i]) {
			switch port, ok := ports[workload]; {
			case !ok:
				ports[workload] = in.Address.Port()
			case port != in.Address.Port() && !told[workload]:
				told[workload] = true
				tell("it leads to %s, as the inbound on port %d does", workload, port)
			}
			if c := r.clusters[workload]; c.GetClusterType() != nil || c.GetOriginalDstLbConfig() != nil {
				tell("callers may choose an endpoint of cluster %q", workload)
			}
		}
		if r.leads[i].chosen {
			tell("its callers choose the cluster")
		}
	}
}

// sockets returns the addresses of a listener.
func sockets(l *listenerv3.Listener) []*corev3.SocketAddress {
	out := []*corev3.SocketAddress{l.GetAddress().GetSocketAddress()}
	for _, more := range l.AdditionalAddresses {
		out = append(out, more.GetAddress().GetSocketAddress())
	}
	return out
}

// chainsOf returns the filter chains of a listener, the default chain last; it may be nil.
func chainsOf(l *listenerv3.Listener) []*listenerv3.FilterChain {
	return append(l.FilterChains[:len(l.FilterChains):len(l.FilterChains)], l.DefaultFilterChain)
}

func endpointsOf(c *clusterv3.Cluster) (out []netip.AddrPort) {
	for _, locality := range c.GetLoadAssignment().GetEndpoints() {
		for _, endpoint := range locality.LbEndpoints {
			socket := endpoint.GetEndpoint().GetAddress().GetSocketAddress()
			if ip, err := netip.ParseAddr(socket.GetAddress()); err == nil {
				out = append(out, netip.AddrPortFrom(ip, uint16(socket.GetPortValue())))
			}
		}
	}
	return out
}
