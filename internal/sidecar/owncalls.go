package sidecar

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshproof/meshproof/internal/dump"
)

// called returns the clusters that a chain names, but where requests do not go.
func (r *reader) called(l leading) leading {
	out := newLeading()
	for name := range l.calls.clusters {
		if _, ok := r.Clusters[name]; !l.names[name] && (ok || r.guards[name]) {
			out.add(name)
		}
	}
	return out
}

// sendsTo returns one of the endpoints behind the inbounds to which a chain sends requests, of callers or of its own, without a sidecar
// in between; the zero value where there is none.
func (r *reader) sendsTo(l leading, g guarded) netip.AddrPort {
	of := r.called(l)
	maps.Copy(of.names, r.direct(l).names)
	maps.Copy(of.names, l.calls.asked)
	for _, to := range r.endpointsOf(of) {
		if g.endpoints[to.AddrPort] || to.maybeOwn && (g.ports[to.Port()] || g.ports[0]) {
			return to.AddrPort
		}
	}
	return netip.AddrPort{}
}

// asksOwn returns a cluster that gets requests of Envoy's own, also by the bootstrap, and has the workload of the chain behind it, or may
// have it; "" for none.
func (r *reader) asksOwn(l leading, workload []Endpoint) string {
	asked := maps.Clone(r.Texts)
	if asked == nil {
		asked = map[string]bool{}
	}
	maps.Copy(asked, l.calls.asked)
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		of := newLeading()
		of.add(name)
		// A request of Envoy's own says by a header where such a cluster leads.
		anywhere := discovery(r.Clusters[name].Message) == clusterv3.Cluster_ORIGINAL_DST
		if l.names[name] || anywhere || slices.ContainsFunc(r.endpointsOf(of), func(to Endpoint) bool {
			return slices.ContainsFunc(workload, func(own Endpoint) bool {
				return (own.Port() == to.Port() || own.Port() == 0) && (own.Addr() == to.Addr() || own.maybeOwn && to.maybeOwn)
			})
		}) {
			return name
		}
	}
	return ""
}

// tellUnknownCallees tells about inbounds that send requests of their own to where nothing tells: that may be a workload behind an inbound.
func (r *reader) tellUnknownCallees() {
	ports := map[uint16]bool{}
	for _, in := range r.sidecar.Inbounds {
		for _, to := range in.Leads {
			ports[to.Port()] = ports[to.Port()] || !to.Mirror
		}
	}
	for i, in := range r.sidecar.Inbounds {
		if name, why := r.mayCall(r.leads[i], ports); name != "" {
			reason := fmt.Sprintf("a logger, a tracer or a filter sends requests to the cluster %q, which %s: it may lead to a workload behind an inbound, past all filters", name, why)
			r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: in.Listener, Chain: in.Chain, Reason: reason})
		}
	}
}

// mayCall returns a cluster that gets requests of Envoy's own, and may have an endpoint on one of some ports that the dump does not tell;
// "" for none. Port 0 stands for every port. A name may be any address. The control plane says where an authorizer is.
func (r *reader) mayCall(l leading, ports map[uint16]bool) (name, why string) {
	for _, name := range slices.Sorted(maps.Keys(l.calls.asked)) {
		if r.lacks(name) {
			return name, absentCluster
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.gatherCalled(l).names)) {
		if r.authorizers[name] {
			continue
		}
		if r.mayLeadAnywhere(name) {
			return name, "may lead elsewhere than to the endpoints that the dump has for it"
		}
		c := r.Clusters[name].Message
		eachEndpoint(r.assignmentOf(c), func(socket *corev3.SocketAddress) {
			if socket != nil && !hostOf(c, socket).IsValid() && (ports[0] || ports[uint16(socket.GetPortValue())]) {
				why = fmt.Sprintf("has the endpoint %q, port %d, which is no IP address", socket.Address, socket.GetPortValue())
			}
		})
		if why != "" {
			return name, why
		}
	}
	return "", ""
}

// absentCluster is said of a cluster that something names, and that a dump lacks. Where Envoy has it, it may lead anywhere.
const absentCluster = "is not in the dump"

// lacks reports whether a dump lacks a cluster that something is known to ask: it has some of the clusters, and not this one.
func (r *reader) lacks(name string) bool {
	_, ok := r.Clusters[name]
	return !ok && name != "" && r.IsDump && len(r.Clusters) > 0
}
