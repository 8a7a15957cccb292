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
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// guarded is what the inbounds of a dump serve: the addresses that callers connect to, and
// the clusters behind the filters. A listener that leads there too counts as an inbound, whatever
// its name and its direction are.
type guarded struct {
	addresses []netip.AddrPort
	workloads map[string]bool
	// endpoints are those behind the inbounds that answer callers, on any machine.
	endpoints map[netip.AddrPort]bool
	// ports are those of endpoints on this machine, 0 for every port.
	ports map[uint16]bool
}

// servedPorts returns the ports of all endpoints behind the inbounds, 0 for every port.
func (g guarded) servedPorts() map[uint16]bool {
	out := maps.Clone(g.ports)
	for to, answers := range g.endpoints {
		out[to.Port()] = out[to.Port()] || answers
	}
	return out
}

// guardedBy gathers what the inbound listeners serve.
func (r *reader) guardedBy(listeners []dump.Decoded[*listenerv3.Listener]) guarded {
	g := guarded{workloads: map[string]bool{}, endpoints: map[netip.AddrPort]bool{}, ports: map[uint16]bool{}}
	all := newLeading()
	r.addresses, r.inbounds, r.outbounds = map[netip.Addr]bool{}, addressesByPort{}, addressesByPort{}
	r.bound = map[netip.Addr]bool{}
	for _, d := range listeners {
		r.bind(d.Message)
		if inbound, _ := direction(d.Message); !inbound {
			r.bindOutbound(d.Message)
			continue
		}
		all.join(r.leadsOf(d.Message, chainsOf(d.Message)...))
		for _, socket := range sockets(d.Message) {
			if a := r.address(d.Message, socket, nil); a.IsValid() {
				r.inbounds.add(a.Addr(), uint16(socket.GetPortValue()))
				r.addresses[a.Addr()] = true
			}
			if r.passesThrough(d.Message, r.leadsOf(d.Message, chainsOf(d.Message)...)) {
				// It gets what no other listener gets.
				continue
			}
			for _, chain := range chainsOf(d.Message) {
				a := r.address(d.Message, socket, chain.GetFilterChainMatch())
				g.addresses = append(g.addresses, a)
				if a.IsValid() && a.Port() != 0 {
					// Connections of this machine to its own addresses may be redirected, too.
					r.inbounds.add(a.Addr(), a.Port())
				}
			}
		}
	}
	for _, a := range g.addresses {
		r.addresses[a.Addr()] = true
	}
	r.guards = all.names
	r.unstated = len(r.stated)+len(r.described) == 0 && slices.ContainsFunc(g.addresses, func(a netip.AddrPort) bool { return a.Addr().IsUnspecified() })
	for _, workload := range r.workloadsOf(all, false) {
		g.workloads[workload] = true
	}
	for _, to := range r.endpointsOf(all) {
		g.endpoints[to.AddrPort] = g.endpoints[to.AddrPort] || !to.Mirror
		if to.OnMachine && !to.Mirror {
			g.ports[to.Port()] = true
		}
	}
	return g
}

// bind notes the addresses that a listener proves to be of this machine. With freebind, and as a transparent one, it binds any
// address.
func (r *reader) bind(l *listenerv3.Listener) {
	if !bindsPort(l) || l.GetFreebind().GetValue() || l.GetTransparent().GetValue() {
		return
	}
	for _, socket := range sockets(l) {
		if ip, err := parseIP(socket.GetAddress()); err == nil && !ip.IsUnspecified() {
			r.bound[ip.Unmap()] = true
		}
	}
}

// bindOutbound notes the addresses of this machine that an outbound listener binds.
func (r *reader) bindOutbound(l *listenerv3.Listener) {
	if !bindsPort(l) {
		return
	}
	for _, socket := range sockets(l) {
		if ip, err := parseIP(socket.GetAddress()); err == nil {
			r.addresses[ip.Unmap()] = r.addresses[ip.Unmap()] || !ip.IsUnspecified()
			r.outbounds.add(ip.Unmap(), uint16(socket.GetPortValue()))
		}
	}
}

// leadsToGuarded says how an outbound listener leads to what the inbounds guard; "" where it does not.
func (r *reader) leadsToGuarded(d dump.Decoded[*listenerv3.Listener], g guarded) string {
	l := d.Message
	if l.GetInternalListener() != nil {
		return "it is reached from inside of Envoy"
	}
	leads := r.leadsOf(l, chainsOf(l)...)
	leads.absent = leads.absent || l.FcdsConfig != nil
	reach, reason := r.reachOf(l, leads, g)
	switch {
	case reason != "":
		return reason
	case leads.chosen || leads.absent:
		return chosenElsewhere
	}
	who := "others"
	if !reach.routed && r.callees.mayReach(l) {
		reach, who = reachability{routed: true, met: true}, "requests of Envoy's own, such as logs,"
	}
	if why := r.movesCallers(d); reach.met && why != "" {
		return who + " may reach it, and " + why
	}
	if faults := slices.Concat(d.Faults, leads.unread); reach.routed && len(faults) > 0 {
		return fmt.Sprintf("%s may reach it, and a part of it cannot be read: %s: %s", who, faults[0].Path, faults[0].What)
	}
	if reach.routed && (len(leads.calls.unread) > 0 || !r.areQuiet(l, true)) {
		return who + " may reach it, and a filter or an extension of it is not known to send no requests of its own"
	}
	// Inbounds on every address do not tell which addresses the machine has.
	anywhere := reach.routed && (r.addresses[netip.IPv4Unspecified()] || r.addresses[netip.IPv6Unspecified()])
	for _, workload := range append(r.workloadsOf(r.direct(leads), anywhere), r.workloadsOf(r.called(leads), false)...) {
		if g.workloads[workload] {
			return fmt.Sprintf("it leads to %s, as an inbound does", workload)
		}
	}
	if !reach.routed {
		return ""
	}
	if why := r.sendsToGuarded(l, leads, g); why != "" {
		return who + " may reach it, and " + why
	}
	return ""
}

// listensBeside says which address of an inbound a listener has; "" for none.
func (g guarded) listensBeside(ip netip.Addr, port uint32) string {
	for _, b := range g.addresses {
		switch own := b.Addr(); {
		case !b.IsValid():
		case port == uint32(b.Port()) && (ip == own || ip.IsUnspecified() || own.IsUnspecified()):
			return fmt.Sprintf("it listens on the address of an inbound, %s", b)
		case ip == own && !ip.IsUnspecified():
			return fmt.Sprintf("it listens on the IP address of an inbound, %s", ip)
		}
	}
	return ""
}

// sendsToGuarded says how a listener that others reach sends requests to what the inbounds guard; "" where it does not.
func (r *reader) sendsToGuarded(l *listenerv3.Listener, leads leading, g guarded) string {
	if to := r.sendsTo(leads, g); to.IsValid() {
		return fmt.Sprintf("it sends requests to %s, as an inbound does", to)
	}
	if name, why := r.mayCall(leads, g.servedPorts()); name != "" {
		return fmt.Sprintf("it sends requests of its own to the cluster %q, which %s: it may lead to what an inbound guards", name, why)
	}
	if r.leadsToAdmin(r.gatherCalled(leads)) {
		return "it sends requests of its own to the admin interface of Envoy"
	}
	if name := r.callsInbound(leads, g); name != "" {
		return fmt.Sprintf("it sends requests of its own to the cluster %q, which may lead to an inbound of this sidecar", name)
	}
	return r.meetsItself(l, leads)
}

// passesThrough reports whether a listener only sends redirected connections on to where
// they were going.
func (r *reader) passesThrough(l *listenerv3.Listener, leads leading) bool {
	if !l.GetUseOriginalDst().GetValue() || leads.chosen || leads.absent || len(leads.names) == 0 {
		return false
	}
	if len(leads.calls.unread)+len(leads.unread) > 0 || !r.areQuiet(l, false) {
		return false
	}
	for name := range leads.names {
		// Another cluster without endpoints, as by EDS, may get some.
		c := r.Clusters[name].Message
		passes := discovery(c) == clusterv3.Cluster_ORIGINAL_DST && len(c.GetLoadAssignment().GetEndpoints()) == 0 && r.unreadCluster(name) == ""
		if !passes && !r.isBlackHole(name) {
			return false
		}
	}
	return true
}

// leading is where a listener sends connections and requests.
type leading struct {
	names map[string]bool
	// answering are those of names whose answers callers get: all but mirrors.
	answering map[string]bool
	// destinations has, by the name of a cluster that sends connections on to where they were going, where those of
	// inbounds were going.
	destinations map[string][]netip.AddrPort
	// chain is the one that was read, of an inbound alone.
	chain *listenerv3.FilterChain
	// chosen is set where callers or extensions choose the cluster. absent is set where the dump
	// does not have all routes.
	chosen, absent bool
	// unread is what cannot be read of routes by discovery. That of a listener stands with it.
	unread []messages.Fault
	calls  calls
}

func newLeading() leading {
	return leading{names: map[string]bool{}, answering: map[string]bool{}, destinations: map[string][]netip.AddrPort{}, calls: calls{clusters: map[string]bool{}, asked: map[string]bool{}}}
}

const chosenElsewhere = "its callers, or something that meshproof does not read, choose the cluster"

// steadyFilters are network filters that never choose a cluster.
var steadyFilters = map[string]bool{
	"envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit": true,
	"envoy.extensions.filters.network.ext_authz.v3.ExtAuthz":               true,
	"envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit":   true,
	"envoy.extensions.filters.network.ratelimit.v3.RateLimit":              true,
	metadataExchange: true,
	// Istio has it in front of each service whose port is named for MongoDB, and Kuma the other one where the protocol is kafka.
	mongoProxy:  true,
	kafkaBroker: true,
	istioStats:  true,
}

// clustersOf gathers the clusters of filter chains.
func (r *reader) clustersOf(chains ...*listenerv3.FilterChain) leading {
	out := newLeading()
	for _, chain := range chains {
		of, ok := r.led[chain]
		if !ok {
			of = r.readClusters(chain)
			r.led[chain] = of
		}
		out.join(of)
	}
	return out
}

// join adds what another part of the configuration leads to.
func (l *leading) join(of leading) {
	maps.Copy(l.names, of.names)
	maps.Copy(l.answering, of.answering)
	for name, to := range of.destinations {
		l.destinations[name] = append(l.destinations[name], to...)
	}
	maps.Copy(l.calls.clusters, of.calls.clusters)
	maps.Copy(l.calls.asked, of.calls.asked)
	l.calls.unread = append(l.calls.unread, of.calls.unread...)
	l.unread = append(l.unread, of.unread...)
	l.chosen, l.absent = l.chosen || of.chosen, l.absent || of.absent
}

// leadsOf gathers the clusters of filter chains of a listener, with those of its access logs, and where its connections go.
func (r *reader) leadsOf(l *listenerv3.Listener, chains ...*listenerv3.FilterChain) leading {
	out := r.clustersOf(chains...)
	for _, chain := range chains {
		r.addDestinations(&out, l, chain)
	}
	for _, log := range l.AccessLog {
		out.calls.add(log)
	}
	return out
}

// readClusters gathers the clusters of one chain, also of the route configurations that it
// takes by RDS.
func (r *reader) readClusters(chain *listenerv3.FilterChain) leading {
	out := newLeading()
	routes := func(m proto.Message) {
		switch m := m.(type) {
		case *routev3.RouteAction:
			out.add(m.GetCluster())
			out.chosen = out.chosen || m.GetClusterHeader() != "" || m.GetClusterSpecifierPlugin() != "" || m.GetInlineClusterSpecifierPlugin() != nil
		case *routev3.RouteAction_RequestMirrorPolicy:
			out.names[m.Cluster] = out.names[m.Cluster] || m.Cluster != ""
			out.chosen = out.chosen || m.ClusterHeader != ""
		case *routev3.WeightedCluster_ClusterWeight:
			out.add(m.Name)
			out.chosen = out.chosen || m.ClusterHeader != ""
		}
	}
	if socket := chain.GetTransportSocket(); socket != nil {
		out.calls.addSources(socket)
	}
	for _, f := range chain.GetFilters() {
		steady := func(url string) bool {
			name := messages.Name(url)
			return messages.Authorizes(name) || steadyFilters[name]
		}
		if authorizesAlone(f) {
			out.calls.addSources(f.GetConfigDiscovery())
			continue
		}
		urls := f.GetConfigDiscovery().GetTypeUrls()
		m, _, _ := messages.Unpack(f.GetTypedConfig())
		switch m := m.(type) {
		case *tcpproxyv3.TcpProxy:
			out.calls.add(m)
			out.add(m.GetCluster())
			for _, weighted := range m.GetWeightedClusters().GetClusters() {
				out.add(weighted.Name)
			}
		case *hcmv3.HttpConnectionManager:
			out.calls.addManager(m)
			for _, f := range m.HttpFilters {
				if !authorizesAlone(f) {
					r.addDiscovered(&out.calls, f)
				}
			}
			refs, scopes := r.routeRefs(m)
			out.absent = out.absent || len(refs) == 0
			for _, scope := range scopes {
				out.unread = append(out.unread, scope.Faults...)
			}
			for _, ref := range refs {
				configuration := ref.inline
				if configuration == nil {
					configuration = r.Routes[ref.name].Message
					out.unread = append(out.unread, r.Routes[ref.name].Faults...)
					out.calls.add(configuration)
				}
				eachMessage(configuration, routes)
				out.absent = out.absent || configuration == nil || configuration.Vhds != nil
			}
		default:
			out.calls.add(f)
			r.addDiscovered(&out.calls, f)
			out.chosen = out.chosen || !keepsOwnState(m) && !steady(messages.TypeURL(f.GetTypedConfig())) && (len(urls) == 0 || slices.ContainsFunc(urls, func(url string) bool { return !steady(url) }))
		}
	}
	return out
}

// eachMessage calls do for a message and for those inside it that can be read.
func eachMessage(of proto.Message, do func(m proto.Message)) {
	messages.Visitor{
		Closed:  func(string, string, *messages.Path) {},
		Opened:  func(string, []messages.Fault, *messages.Path) {},
		Message: func(m protoreflect.Message, _ *messages.Path) { do(m.Interface()) },
	}.Visit(of.ProtoReflect())
}

func (l leading) add(name string) {
	if name != "" {
		l.names[name], l.answering[name] = true, true
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
