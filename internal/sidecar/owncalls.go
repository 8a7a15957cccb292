package sidecar

import (
	"maps"
	"net/netip"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
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
