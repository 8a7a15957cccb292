package sidecar

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tlsinspectorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// reader turns resources into a Sidecar.
type reader struct {
	*dump.Resources
	sidecar Sidecar
	found   findings
	// wanted are the resources that the listeners refer to.
	wanted dump.References
	// leads says of each inbound where its requests go.
	leads []leading
	// led has the clusters of each chain.
	led map[*listenerv3.FilterChain]leading
	// guards has the clusters behind the inbounds.
	guards map[string]bool
	// addresses are those that listeners and chains name: this machine may have them. It has those of bound, which a
	// listener binds. outbounds and inbounds are the addresses of the listeners.
	addresses, bound    map[netip.Addr]bool
	outbounds, inbounds addressesByPort
	itself              itself
	callees             callees
	// stated are the addresses of the pod, as its node states them.
	stated []netip.Addr
	// described are the addresses of this machine that Dataplanes state.
	described []netip.Addr
	// unstated is set where an inbound has every address of this machine, and nothing says which those are.
	unstated bool
	// authorizers are the clusters of the authorizers that policies ask.
	authorizers map[string]bool
	// sources has the servers that give filters their configurations, by the name of the configuration; nil until a filter asks.
	sources map[string][]*corev3.ConfigSource
	// handsOutAlone is set where a listener that binds no port gets connections of this machine alone.
	handsOutAlone bool
	// handsIn is set where an inbound listener hands connections of others over to the listener of their destination.
	handsIn bool
	// ends are the listeners by which tunnels come.
	ends tunnelEnd
}

// read reads the inbounds, and returns what their listeners refer to. The described addresses are those of this machine.
func read(r *dump.Resources, described []netip.Addr) (Sidecar, dump.References) {
	reader := reader{Resources: r, described: described, authorizers: map[string]bool{}, led: map[*listenerv3.FilterChain]leading{}, wanted: dump.References{Routes: map[string]bool{}, Extensions: map[string]bool{}}}
	for _, u := range r.Unknown {
		reader.found.add(u)
	}
	reader.stated, _ = StatedAddresses(r.Nodes)
	reader.handsOutAlone, reader.itself = handsOutAlone(r.Listeners), gatherItself(r.Listeners, r.AdminPipe)
	reader.handsIn = slices.ContainsFunc(r.Listeners, func(d dump.Decoded[*listenerv3.Listener]) bool { return handsIn(d.Message) })
	guarded := reader.guardedBy(r.Listeners)
	reader.callees = reader.gatherCallees()
	reader.ends = reader.gatherTunnelEnd()
	for _, l := range r.Listeners {
		reader.listener(l, guarded)
	}
	for _, l := range r.Unattached {
		reader.addUnattached(l)
	}
	reader.shareWorkloads()
	reader.tellOwnCalls(guarded)
	reader.tellUnknownCallees()
	reader.tellHealthChecks()
	reader.tellSources(guarded)
	reader.sidecar.Unknown, reader.sidecar.Envoy, reader.sidecar.Nodes = reader.found.list, r.Envoy, r.Nodes
	reader.sidecar.IsDump, reader.sidecar.resources = r.IsDump, r
	of := reader.sidecar.Index()
	for i, in := range reader.sidecar.Inbounds {
		if slices.ContainsFunc(of(in), func(u dump.Unknown) bool { return u.Kind == dump.Lost }) {
			reader.sidecar.Inbounds[i].Incomplete = true
		}
	}
	return reader.sidecar, reader.wanted
}

func (r *reader) skip(listener, chain, reason string) {
	r.sidecar.Skipped = append(r.sidecar.Skipped, Skipped{listener, chain, reason})
}

// listener reads one listener: it takes its chains for inbounds, or says why it is none.
func (r *reader) listener(d dump.Decoded[*listenerv3.Listener], g guarded) {
	l := d.Message
	if r.servesOnlySidecar(d, g) {
		return
	}
	inbound, reason := direction(l)
	if !inbound {
		guarded := r.leadsToGuarded(d, g)
		if guarded == "" {
			r.skip(l.Name, "", reason)
			r.outbound(d)
			return
		}
		r.tell(l, dump.Exposed, reason+", but "+guarded)
	} else if reason != "" {
		r.tell(l, dump.Note, reason)
	}
	r.tellTunnels(l)
	labels := labelsOf(l)
	r.checkInbound(d, labels)
	from := len(r.sidecar.Inbounds)
	for _, socket := range sockets(l) {
		if socket != nil && !r.address(l, socket, nil).IsValid() {
			r.tellIdle(l, dump.Exposed, fmt.Sprintf("it listens on %q, port %d, which is no address", socket.GetAddress(), socket.GetPortValue()))
		}
		for i, chain := range chainsOf(l) {
			if chain != nil {
				r.chain(l, socket, chain, labels[i], g)
			}
		}
	}
	permissive(r.sidecar.Inbounds[from:])
}

// servesOnlySidecar reports whether a listener is the mesh's own, for metrics or the health of the sidecar, and tells what it opens.
func (r *reader) servesOnlySidecar(d dump.Decoded[*listenerv3.Listener], g guarded) bool {
	l := d.Message
	if reason := r.carriesTunnels(d); reason != "" {
		r.skip(l.Name, "", reason)
		return true
	}
	if r.servesAgent(d, g) {
		r.skip(l.Name, "", "Istio's own: it serves metrics or the health of the sidecar, and leads to no workload")
		if reason := r.opensAdmin(l); reason != "" {
			r.tell(l, dump.Exposed, reason)
		}
		return true
	}
	serves, admin := r.servesKuma(d)
	if serves {
		r.skip(l.Name, "", "Kuma's own: it serves metrics or the health of the sidecar, and leads to no workload")
		if admin {
			r.tell(l, dump.Note, "callers with a certificate for the name "+controlPlane+", of the CAs that stand in it, reach Envoy's admin interface: they are taken for Kuma's control plane")
		}
	}
	return serves
}

// checkInbound tells what of an inbound listener is not known, and how it is reached otherwise than the lab does. The labels are
// those of its chains.
func (r *reader) checkInbound(d dump.Decoded[*listenerv3.Listener], labels []string) {
	l := d.Message
	if r.IsDump && bindsPort(l) && onLoopback(l) {
		r.tellIdle(l, dump.Exposed, "it listens on loopback alone: no connection of others comes to it, and something else has its port on other addresses")
	}
	if r.DrainAlone[l.Name] {
		r.tellIdle(l, dump.Exposed, "it drains, and no version of it is active: new connections to its address go elsewhere, as to a listener that passes them on")
	}
	r.faults(l.Name, labels, d.Faults)
	checkKnown(l.ProtoReflect(), nil, func(at *messages.Path, reason string) {
		r.found.add(dump.Unknown{Kind: dump.BesideRBAC, Listener: l.Name, Chain: chainOf(at, labels), Path: at.String(), Reason: reason})
	})
	switch {
	case l.ApiListener != nil:
		r.tell(l, dump.Exposed, "an API listener: requests come from inside of the process")
	case listensOnUDP(l):
		r.tell(l, dump.Exposed, "it listens on UDP, which the lab does not")
	case l.GetInternalListener() != nil:
		r.tell(l, dump.Exposed, "an internal listener: connections come from inside of Envoy")
	}
	if l.FcdsConfig != nil {
		r.tell(l, dump.Lost, "filter chains come by discovery of their own (fcds_config), which is not read")
	}
	r.tellUnbound(l)
	r.tellSocketOptions(l, dump.BesideRBAC)
	if l.FilterChainMatcher != nil {
		r.tell(l, dump.BesideRBAC, "filter_chain_matcher selects the filter chain: the addresses of its inbounds are the listener's")
	}
	for _, f := range l.ListenerFilters {
		r.listenerFilter(l.Name, f)
		if r.restoresDestination(f) && f.FilterDisabled != nil && !l.GetUseOriginalDst().GetValue() {
			r.tellIdle(l, dump.BesideRBAC, "the filters see the destination from before a redirection for some connections only (filter_disabled)")
		}
	}
}

// outbound tells what of a listener outside of its chains is not known: it may listen in more
// ways than meshproof reads.
func (r *reader) outbound(d dump.Decoded[*listenerv3.Listener]) {
	tell := func(at *messages.Path, reason string) {
		text := at.String()
		if !strings.Contains(text, "filter_chain") && !strings.HasPrefix(text, "listener_filters") && (text != "address.pipe" || !listensOnPipe(d.Message)) {
			r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: d.Message.Name, Path: text, Reason: reason})
		}
	}
	for _, fault := range d.Faults {
		tell(fault.Path, fault.What)
	}
	checkKnown(d.Message.ProtoReflect(), nil, tell)
	r.tellSocketOptions(d.Message, dump.Exposed)
}

// listenerFilter tells what of a listener filter is not known. It may give connections another destination, as by a PROXY
// header, to which the listener hands them over or a cluster of type ORIGINAL_DST connects.
func (r *reader) listenerFilter(listener string, f *listenerv3.ListenerFilter) {
	tell := func(u dump.Unknown) {
		u.Listener, u.Filter, u.Position = listener, f.Name, dump.InFront
		r.found.add(u)
	}
	held := r.configurationOf(f)
	if held.missing != "" {
		tell(dump.Unknown{Kind: dump.BesideRBAC, Type: held.typeURL, Reason: held.missing})
		return
	}
	if kind, reason, judges := roleOf(held.message()); judges {
		tell(dump.Unknown{Kind: kind, Type: messages.TypeURL(held.packed), Reason: reason})
	} else {
		checkPassing(held.packed.ProtoReflect(), nil, func(at *messages.Path, reason string) {
			tell(dump.Unknown{Kind: dump.BesideRBAC, Path: at.String(), Reason: reason})
		})
	}
	for _, fault := range held.faults {
		tell(dump.Unknown{Kind: dump.BesideRBAC, Path: fault.Path.String(), Reason: fault.What})
	}
}

// inspectsTLS reports whether a listener reads the server name of each handshake.
func (r *reader) inspectsTLS(l *listenerv3.Listener) bool {
	// A caller may wait until the filters give up, and begin the handshake then.
	limit := l.ListenerFiltersTimeout
	endless := limit != nil && limit.AsDuration() == 0
	return (endless || !l.ContinueOnListenerFiltersTimeout) && slices.ContainsFunc(l.ListenerFilters, r.isInspector)
}

// isInspector reports whether a listener filter reads the server name of each handshake. A
// filter that a rule may disable does not, and neither does a filter that gives up before
// the longest handshake that Envoy takes.
func (r *reader) isInspector(f *listenerv3.ListenerFilter) bool {
	held := r.configurationOf(f)
	if held.missing != "" || f.FilterDisabled != nil {
		return false
	}
	m, _, _ := messages.Unpack(held.packed)
	inspector, ok := m.(*tlsinspectorv3.TlsInspector)
	return ok && inspector.MaxClientHelloSize == nil
}

// faults tells what a listener lost, by filter chain.
func (r *reader) faults(listener string, labels []string, faults []messages.Fault) {
	for _, f := range faults {
		u := dump.Unknown{Kind: dump.BesideRBAC, Listener: listener, Chain: chainOf(f.Path, labels), Path: f.Path.String(), Reason: f.What, Idle: f.Guards}
		if f.Guards {
			u.Kind = dump.Lost
		}
		r.found.add(u)
	}
}

// labelsOf names the filter chains, the default chain last.
func labelsOf(l *listenerv3.Listener) []string {
	out := make([]string, 0, len(l.FilterChains)+1)
	taken := map[string]bool{}
	for i, chain := range append(l.FilterChains[:len(l.FilterChains):len(l.FilterChains)], l.DefaultFilterChain) {
		label := chain.GetName()
		if label == "" && i == len(l.FilterChains) {
			label = "default"
		}
		if label == "" || taken[label] {
			label = fmt.Sprintf("%s#%d", label, i)
		}
		taken[label] = true
		out = append(out, label)
	}
	return out
}

// chainOf returns the label of the filter chain that contains a path.
func chainOf(at *messages.Path, labels []string) string {
	text := at.String()
	if strings.HasPrefix(text, "default_filter_chain") {
		return labels[len(labels)-1]
	}
	var i int
	if n, _ := fmt.Sscanf(text, "filter_chains[%d]", &i); n == 1 && i < len(labels) {
		return labels[i]
	}
	return ""
}

// outboundNames are prefixes of the names of outbound listeners: of Kuma (by address, and
// by the KRI of a destination) and of Istio. inboundNames are prefixes of the names of
// inbound listeners.
var (
	outboundNames = []string{"outbound:", "outbound|", "kri_msvc_", "kri_mzsvc_", "kri_extsvc_", "virtualOutbound", "_kuma:dns"}
	inboundNames  = []string{"inbound:", "inbound|", "self_inbound_", "self_zoneegress_", "self_zoneingress_", "virtualInbound"}
)

// direction says whether a listener serves inbounds. The reason says why it does not, or
// why the answer is uncertain.
func direction(l *listenerv3.Listener) (inbound bool, reason string) {
	named := func(prefixes []string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(l.Name, prefix) })
	}
	switch {
	case listensOnUDP(l) && answersDNS(l):
		return false, "it answers DNS on UDP"
	case l.TrafficDirection == corev3.TrafficDirection_OUTBOUND:
		return false, "traffic_direction is OUTBOUND"
	case l.TrafficDirection == corev3.TrafficDirection_INBOUND || named(inboundNames):
		return true, ""
	case named(outboundNames):
		return false, "its name is the name of an outbound listener"
	case listensOnPipe(l):
		return false, "it listens on a socket in the file system, for processes of this machine"
	default:
		return true, "neither traffic_direction nor its name tells its direction: taken for inbound"
	}
}

// listensOnPipe reports whether a listener has no address but a socket in the file system.
func listensOnPipe(l *listenerv3.Listener) bool {
	return l.GetAddress().GetPipe() != nil && len(l.AdditionalAddresses) == 0
}

func listensOnUDP(l *listenerv3.Listener) bool {
	return l.UdpListenerConfig != nil || slices.ContainsFunc(sockets(l), func(s *corev3.SocketAddress) bool {
		return s.GetProtocol() == corev3.SocketAddress_UDP
	})
}

// answersDNS reports whether all that a UDP listener has is a filter that answers DNS.
func answersDNS(l *listenerv3.Listener) bool {
	return l.GetUdpListenerConfig().GetQuicOptions() == nil && len(l.FilterChains) == 0 && l.DefaultFilterChain == nil && len(l.ListenerFilters) > 0 &&
		!slices.ContainsFunc(l.ListenerFilters, func(f *listenerv3.ListenerFilter) bool {
			return messages.Name(messages.TypeURL(f.GetTypedConfig())) != "envoy.extensions.filters.udp.dns_filter.v3.DnsFilterConfig"
		})
}

// address combines the match of a chain with an address of its listener.
func (r *reader) address(l *listenerv3.Listener, socket *corev3.SocketAddress, match *listenerv3.FilterChainMatch) netip.AddrPort {
	ip, err := parseIP(socket.GetAddress())
	if err != nil {
		return netip.AddrPort{}
	}
	ip = ip.Unmap() // an IPv4 address may be written as IPv6
	port := socket.GetPortValue()
	switch {
	case match.GetDestinationPort() != nil:
		port = match.DestinationPort.Value
	case r.isRedirected(l):
		// Connections of every port are redirected here.
		port = 0
	}
	if to, ok := onlyAddress(match.GetPrefixRanges()); ok {
		ip = to
	}
	if port > 65535 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip, uint16(port))
}

// socketOf returns the address of a listener as it stands there; the zero value where it is no IP.
func socketOf(socket *corev3.SocketAddress) netip.AddrPort {
	ip, err := parseIP(socket.GetAddress())
	if err != nil || socket.GetPortValue() > 65535 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip, uint16(socket.GetPortValue()))
}

// onlyAddress returns the address that all blocks are. The notation of an address of IPv4 in
// IPv6 counts for the same address.
func onlyAddress(blocks []*corev3.CidrRange) (ip netip.Addr, ok bool) {
	for i, block := range blocks {
		to, err := netip.ParseAddr(block.GetAddressPrefix())
		if err != nil || block.GetPrefixLen().GetValue() != uint32(to.BitLen()) || i > 0 && to.Unmap() != ip {
			return netip.Addr{}, false
		}
		ip = to.Unmap()
	}
	return ip, len(blocks) > 0
}

// permissive marks each inbound of a listener that serves the same address over a weaker
// transport too.
func permissive(of []Inbound) {
	weakest := map[netip.AddrPort]Transport{}
	for _, in := range of {
		if w, ok := weakest[in.Address]; !ok || in.Transport < w {
			weakest[in.Address] = in.Transport
		}
	}
	for i, in := range of {
		of[i].Permissive = in.Transport != OtherTransport && weakest[in.Address] < in.Transport
	}
}
