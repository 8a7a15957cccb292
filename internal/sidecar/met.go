package sidecar

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

// movesCallers says what of an outbound listener that others may reach is not known to leave connections where they go; ""
// for nothing. A PROXY header gives a connection the destination that its caller wrote: Envoy hands it over to
// the listener of that address (use_original_dst), also to one that binds no port, or connects to the address itself (ORIGINAL_DST).
func (r *reader) movesCallers(d dump.Decoded[*listenerv3.Listener]) (reason string) {
	l := d.Message
	if listensOnUDP(l) && answersDNS(l) {
		return ""
	}
	for _, fault := range d.Faults {
		// What stands in the filters of a chain is looked at where they lead.
		if at := fault.Path.String(); strings.HasPrefix(at, "listener_filters") {
			return fmt.Sprintf("a listener filter may move connections: %s: %s", at, fault.What)
		}
	}
	for _, f := range l.ListenerFilters {
		held := r.configurationOf(f)
		known := held.missing == "" && len(held.faults) == 0 && passing[held.message()] != nil
		if known {
			checkPassing(held.packed.ProtoReflect(), nil, func(*messages.Path, string) { known = false })
		}
		if !known {
			return fmt.Sprintf("its listener filter %q is not known to leave connections where they go, and to send no requests of its own", f.Name)
		}
	}
	for _, chain := range chainsOf(l) {
		if chain != nil {
			checkKnown(chain.ProtoReflect(), nil, func(at *messages.Path, why string) {
				reason = fmt.Sprintf("a filter chain may move connections: %s: %s", at, why)
			})
		}
	}
	return reason
}

// meetsItself says how an outbound listener that others may reach makes this sidecar a caller of its own inbounds, which see its
// identity for that of the callers; "" where it does not.
func (r *reader) meetsItself(l *listenerv3.Listener, leads leading) string {
	if !bindsPort(l) {
		// Where it leads over mTLS to an inbound of this sidecar is taken on trust: a workload that calls its own service has that too.
		if to := r.onMachine(r.direct(leads)); to.IsValid() {
			return fmt.Sprintf("it leads to this machine, %s", to)
		}
		return ""
	}
	if to, ok := r.reaches(leads, r.inbounds); ok {
		return fmt.Sprintf("it leads to the listener of an inbound, %s, which sees this sidecar for a caller", to)
	}
	// A cluster over mTLS passes the sidecar of its endpoints, which may be this one.
	if name, reason := r.unreadOf(leads); name != "" {
		return fmt.Sprintf("its cluster %q %s: it may lead to an inbound of this sidecar, which sees it for a caller", name, reason)
	}
	if to := r.onMachine(leads); to.IsValid() {
		return fmt.Sprintf("it leads to this machine, %s, which makes it an inbound", to)
	}
	return ""
}

// onMachine returns an endpoint on this machine to which clusters lead; the zero value where
// there is none.
func (r *reader) onMachine(l leading) (found netip.AddrPort) {
	for _, name := range slices.Sorted(maps.Keys(l.names)) {
		c := r.Clusters[name].Message
		eachEndpoint(r.assignmentOf(c), func(socket *corev3.SocketAddress) {
			if ip := hostOf(c, socket); ip.IsValid() && (r.isOwn(ip) || r.statesAddress(ip)) && !found.IsValid() {
				found = netip.AddrPortFrom(ip, uint16(socket.GetPortValue()))
			}
		})
	}
	return found
}

// reserved has the addresses that a mesh gives to services: nothing routes them.
var reserved = netip.MustParsePrefix("240.0.0.0/4")
