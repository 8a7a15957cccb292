package sidecar

import (
	"net/netip"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshproof/meshproof/internal/messages"
)

// addDestinations adds where the connections of an inbound chain were going, for its clusters that send them on to there. What a chain
// for every port passes on without a judge is guarded by nothing.
func (r *reader) addDestinations(out *leading, l *listenerv3.Listener, chain *listenerv3.FilterChain) {
	if inbound, _ := direction(l); !inbound || chain == nil {
		return
	}
	for name := range r.clustersOf(chain).names {
		if discovery(r.Clusters[name].Message) != clusterv3.Cluster_ORIGINAL_DST {
			continue
		}
		for _, socket := range sockets(l) {
			to := r.address(l, socket, chain.GetFilterChainMatch())
			if to.IsValid() && (to.Port() != 0 || mayJudge(chain)) && !slices.Contains(out.destinations[name], to) {
				out.destinations[name] = append(out.destinations[name], to)
			}
		}
	}
}

// goesAnywhere reports whether connections go on to where they were going, and nothing says to which address that is.
func (l leading) goesAnywhere() bool {
	for _, all := range l.destinations {
		if slices.ContainsFunc(all, func(to netip.AddrPort) bool { return to.Addr().IsUnspecified() }) {
			return true
		}
	}
	return false
}

// mayJudge reports whether a chain has a filter that may authorize: any one beside that which passes connections on.
func mayJudge(chain *listenerv3.FilterChain) bool {
	return slices.ContainsFunc(chain.Filters, func(f *listenerv3.Filter) bool {
		return messages.Name(messages.TypeURL(f.GetTypedConfig())) != tcpProxy
	})
}

// addressesByPort are the addresses of listeners by their ports, so that an endpoint is not held against each
// listener: a dump may have thousands of both.
type addressesByPort map[uint16][]netip.Addr

func (all addressesByPort) add(ip netip.Addr, port uint16) { all[port] = append(all[port], ip) }

// reaches returns an endpoint's listening address, the first one. Left out are the listeners of some addresses, and endpoints of these
// very addresses.
func (r *reader) reaches(l leading, all addressesByPort, except ...netip.AddrPort) (found netip.AddrPort, ok bool) {
	for name := range l.names {
		c := r.Clusters[name].Message
		eachEndpoint(r.assignmentOf(c), func(socket *corev3.SocketAddress) {
			for _, host := range hostsOf(c, socket) {
				to := netip.AddrPortFrom(host, uint16(socket.GetPortValue()))
				// A listener of every address has those of this machine. Where no node states them, any may be one.
				mayBeOwn := len(r.stated) == 0 || !host.IsValid() || host.IsUnspecified() || r.isOwn(host) || r.statesAddress(host)
				for _, ip := range all[to.Port()] {
					at := netip.AddrPortFrom(ip, to.Port())
					isExcepted := slices.ContainsFunc(except, func(own netip.AddrPort) bool { return to == own || isSame(at, own) })
					if !ok && !isExcepted && (ip == host || ip.IsUnspecified() && mayBeOwn || host.IsUnspecified()) {
						found, ok = at, true
					}
				}
			}
		})
	}
	return found, ok
}

// isSame reports whether two addresses are one. Every address of IPv4 and every one of IPv6 are those of one machine.
func isSame(a, b netip.AddrPort) bool {
	return a.Port() == b.Port() && (a.Addr() == b.Addr() || a.Addr().IsUnspecified() && b.Addr().IsUnspecified())
}
