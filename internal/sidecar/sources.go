package sidecar

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/dump"
)

// tellSources tells about clusters whose endpoints or certificates come from a workload behind an inbound, or which report their load to
// one: what Envoy asks there passes no filter. Each cluster has its own sources, also one that no listener names. The control plane is
// trusted wherever it is.
func (r *reader) tellSources(g guarded) {
	for _, name := range slices.Sorted(maps.Keys(r.Clusters)) {
		of := newLeading()
		of.calls.addSources(r.Clusters[name].Message)
		tell := func(reason string) {
			r.found.add(dump.Unknown{Kind: dump.Exposed, Reason: fmt.Sprintf("the cluster %q has a server for its endpoints, its certificates or its load: %s", name, reason)})
		}
		for _, reason := range of.calls.unread {
			tell(reason)
		}
		for _, server := range slices.Sorted(maps.Keys(of.calls.asked)) {
			switch {
			case r.PlaneTexts[server] || r.hasSocketsOfOthers(server):
			case r.lacks(server):
				tell(fmt.Sprintf("the cluster %q %s", server, absentCluster))
			case r.asksWorkload(server):
				tell(fmt.Sprintf("the cluster %q, which may lead to a workload behind an inbound: what Envoy asks there passes no filter", server))
			case r.meetsInbound(server, g):
				tell(fmt.Sprintf("the cluster %q, which may lead to an inbound of this sidecar: it sees the sidecar for a caller", server))
			}
		}
	}
}

// asksWorkload reports whether what Envoy asks by itself of a cluster may come to a workload behind an inbound, or to another process of
// this machine.
func (r *reader) asksWorkload(name string) bool {
	d := r.Clusters[name]
	return r.guards[name] || !r.leadsToSidecars(d) && (r.mayLeadAnywhere(name) || r.checksWorkload(d.Message))
}
