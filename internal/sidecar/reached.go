package sidecar

import (
	"fmt"
	"net/netip"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// reachability says who gets to a listener.
type reachability struct {
	// routed is true where the network leads connections of others to it.
	routed bool
	// met is true where connections of others may come to it, if only from a neighbour on the link.
	met bool
}

// reachOf finds out who gets to an outbound listener. The reason says how its address alone leads to what the inbounds guard; ""
// where it does not.
func (r *reader) reachOf(l *listenerv3.Listener, leads leading, g guarded) (reach reachability, reason string) {
	unbound := !bindsPort(l)
	for _, socket := range sockets(l) {
		a := r.address(l, socket, nil)
		ip := a.Addr()
		switch {
		case socket == nil:
			// A pipe is for processes of the machine.
			continue
		case !a.IsValid():
			return reach, "it listens on no IP address"
		case unbound && r.handsOutAlone:
			// No connection of others comes here.
			continue
		case r.statesAddress(ip):
			return reach, fmt.Sprintf("it listens on the IP address of this machine, %s", ip)
		}
		if reason := g.listensBeside(ip, socket.GetPortValue()); reason != "" {
			return reach, reason
		}
		if ip.IsUnspecified() && (unbound || !r.passesThrough(l, leads)) {
			return reach, "it listens on every IP address, and not only for connections that are redirected to it"
		}
		// Nothing routes these addresses, but a neighbour on the link may send packets for them, which the kernel redirects.
		unrouted := (ip.IsLoopback() || reserved.Contains(ip)) && !r.handsIn
		reach.met = reach.met || !unrouted
		// A listener that binds no port gets the connections that another one redirects.
		if ip.IsUnspecified() || unrouted {
			continue
		}
		reach.routed = true
		if name, reason := r.unreadOf(r.direct(leads)); name != "" {
			return reach, fmt.Sprintf("others may reach it on %s, and its cluster %q %s", ip, name, reason)
		}
	}
	return reach, ""
}

// unreached says why no connection to an address of a listener meets a filter chain; "" where
// one may. Such a chain guards nothing, although its match has the address of an inbound.
func unreached(l *listenerv3.Listener, socket *corev3.SocketAddress, match *listenerv3.FilterChainMatch) string {
	ip, err := netip.ParseAddr(socket.GetAddress())
	if to, ok := onlyAddress(match.GetPrefixRanges()); ok && ip.IsLoopback() && !to.IsLoopback() {
		return fmt.Sprintf("no connection of others comes to the listener on %s, and none of those that it gets has the destination %s", ip, to)
	}
	// A redirection, or a listener filter, gives connections another destination.
	if l.GetUseOriginalDst().GetValue() || slices.ContainsFunc(l.ListenerFilters, movesDestination) {
		return ""
	}
	if port := match.GetDestinationPort(); port != nil && err == nil && port.Value != socket.GetPortValue() {
		return fmt.Sprintf("no connection to the listener on port %d has the port %d", socket.GetPortValue(), port.Value)
	}
	if err != nil || ip.IsUnspecified() || len(match.GetPrefixRanges()) == 0 {
		return ""
	}
	holds := func(block *corev3.CidrRange) bool {
		of, err := netip.ParseAddr(block.GetAddressPrefix())
		if err != nil {
			return true
		}
		prefix, err := of.Prefix(int(block.GetPrefixLen().GetValue()))
		return err != nil || prefix.Contains(ip) || prefix.Contains(ip.Unmap()) || of.Is4In6()
	}
	if slices.ContainsFunc(match.PrefixRanges, holds) {
		return ""
	}
	return fmt.Sprintf("no connection to the listener on %s has such a destination", ip)
}

// asksForPort reports whether a chain takes each connection, or each one to a port.
func asksForPort(match *listenerv3.FilterChainMatch) bool {
	match = proto.CloneOf(match)
	if match != nil {
		match.DestinationPort = nil
	}
	return proto.Size(match) == 0
}

// onLoopback reports whether a listener has addresses of loopback alone.
func onLoopback(l *listenerv3.Listener) bool {
	return !slices.ContainsFunc(sockets(l), func(socket *corev3.SocketAddress) bool {
		ip, err := netip.ParseAddr(socket.GetAddress())
		return err != nil || !ip.Unmap().IsLoopback()
	})
}

// isRedirected reports whether the filters of a listener see the destination that connections had before they were
// redirected to it. Only with use_original_dst it hands them over to another listener, too.
func (r *reader) isRedirected(l *listenerv3.Listener) bool {
	return l.GetUseOriginalDst().GetValue() || slices.ContainsFunc(l.ListenerFilters, r.restoresDestination)
}

// restoresDestination reports whether a listener filter gives redirected connections their destination back.
func (r *reader) restoresDestination(f *listenerv3.ListenerFilter) bool {
	return r.configurationOf(f).message() == originalDst
}

// movesDestination reports whether a listener filter may change the destination of connections.
func movesDestination(f *listenerv3.ListenerFilter) bool {
	name := messages.Name(messages.TypeURL(f.GetTypedConfig()))
	return name == originalDst || passing[name] == nil
}

// tellUnbound tells about an inbound listener that binds no port, where no other one hands connections of
// others over to it: something else has the port then, such as the workload.
func (r *reader) tellUnbound(l *listenerv3.Listener) {
	if bindsPort(l) || l.GetInternalListener() != nil || slices.ContainsFunc(r.Listeners, func(d dump.Decoded[*listenerv3.Listener]) bool {
		return handsOver(d.Message, l)
	}) {
		return
	}
	r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: l.Name, Reason: "it binds no port, and no inbound listener hands connections to its address over: something else has the port", Idle: true})
}

// handsIn reports whether an inbound listener hands redirected connections of others over to the listener of their destination.
func handsIn(l *listenerv3.Listener) bool {
	inbound, _ := direction(l)
	return inbound && bindsPort(l) && l.GetUseOriginalDst().GetValue()
}

// HandsOverOn reports whether an inbound listener takes the connections that are redirected to a port of every address, and hands them over
// to the listeners of their destinations.
func (s Sidecar) HandsOverOn(port string) bool {
	return s.resources != nil && slices.ContainsFunc(s.resources.Listeners, func(d dump.Decoded[*listenerv3.Listener]) bool {
		return handsIn(d.Message) && slices.ContainsFunc(sockets(d.Message), func(socket *corev3.SocketAddress) bool {
			ip, err := parseIP(socket.GetAddress())
			return err == nil && ip.IsUnspecified() && fmt.Sprint(socket.GetPortValue()) == port
		})
	})
}

// handsOver reports whether an inbound listener hands redirected connections over to another one. It has every address of
// the family of the other one, or the same address. Envoy looks for the other one by the text of its address, so that no connection of
// IPv4 comes to one that is written as IPv6. Those that come to a socket of IPv6 (ipv4_compat) have such an address, too.
func handsOver(from, to *listenerv3.Listener) bool {
	if !handsIn(from) {
		return false
	}
	return slices.ContainsFunc(sockets(from), func(socket *corev3.SocketAddress) bool {
		ip, err := netip.ParseAddr(socket.GetAddress())
		return err == nil && slices.ContainsFunc(sockets(to), func(other *corev3.SocketAddress) bool {
			at, err := netip.ParseAddr(other.GetAddress())
			if err != nil || at.Is4In6() {
				return false
			}
			if ip := ip.Unmap(); !ip.IsUnspecified() {
				return at == ip
			}
			return at.Is4() == ip.Unmap().Is4()
		})
	})
}

// bindsPort reports whether a listener binds its port. Envoy reads both fields.
func bindsPort(l *listenerv3.Listener) bool {
	//lint:ignore SA1019 Envoy reads it still
	old := l.GetDeprecatedV1().GetBindToPort()
	return (l.BindToPort == nil || l.BindToPort.Value) && (old == nil || old.Value)
}

// handsOutAlone reports whether the connections that are redirected to listeners of a dump, and handed over to the
// listeners of their destinations, are those of this machine alone: outbound listeners hand over, and no inbound one.
// Where an inbound listener binds no port, an outbound one hands connections of others over to it.
func handsOutAlone(listeners []dump.Decoded[*listenerv3.Listener]) bool {
	outbound := false
	for _, d := range listeners {
		inbound, _ := direction(d.Message)
		switch binds, hands := bindsPort(d.Message), d.Message.GetUseOriginalDst().GetValue(); {
		case inbound && (hands || !binds):
			return false
		case hands && binds:
			outbound = true
		}
	}
	return outbound
}
