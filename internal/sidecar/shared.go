package sidecar

import (
	"fmt"
	"net/netip"

	"github.com/meshproof/meshproof/internal/dump"
)

// shareWorkloads tells about inbounds of different ports with one workload behind them: a
// caller that one of them refuses may pass the other.
func (r *reader) shareWorkloads() {
	ports := map[string]uint16{}
	told := map[string]bool{}
	for i, in := range r.sidecar.Inbounds {
		r.sidecar.Inbounds[i].Leads = r.endpointsOf(r.leads[i])
		tell := func(format string, args ...any) {
			r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: in.Listener, Chain: in.Chain, Reason: fmt.Sprintf(format, args...)})
		}
		for _, workload := range r.workloadsOf(r.leads[i], true) {
			switch port, ok := ports[workload]; {
			case !ok:
				ports[workload] = in.Address.Port()
			case port != in.Address.Port() && !told[workload]:
				told[workload] = true
				tell("it leads to %s, as the inbound on port %d does", workload, port)
			}
		}
		if name, reason := r.unreadOf(r.leads[i]); name != "" && (r.IsDump || r.Clusters != nil) {
			tell("nothing tells which workload it leads to: its cluster %q %s", name, reason)
		}
		if r.leads[i].chosen {
			tell(chosenElsewhere)
		}
		if to, ok := r.reaches(r.leads[i], r.outbounds, noPort); ok {
			tell("it leads to an outbound listener, %s, and not to its workload", to)
		}
		if r.leadsToAdmin(r.leads[i]) {
			tell("it leads to the admin interface of Envoy on port %d, and not to its workload", r.AdminPort)
		}
		if to, ok := r.reaches(r.leads[i], r.inbounds, int(in.Address.Port())); ok {
			tell("it leads to the listener of another inbound, %s, which sees this sidecar for a caller", to)
		}
	}
	served := map[netip.AddrPort]uint16{}
	for _, in := range r.sidecar.Inbounds {
		for _, to := range in.Leads {
			if !to.Mirror {
				served[to.AddrPort] = in.Address.Port()
			}
		}
	}
	for i, in := range r.sidecar.Inbounds {
		past := func(workload string, port uint16, ok bool) bool {
			if ok = ok && port != in.Address.Port(); ok {
				reason := fmt.Sprintf("it sends requests of its own to %s, past the inbound on port %d", workload, port)
				r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: in.Listener, Chain: in.Chain, Reason: reason})
			}
			return ok
		}
		told := false
		for _, workload := range r.workloadsOf(r.called(r.leads[i]), false) {
			port, ok := ports[workload]
			told = past(workload, port, ok) || told
		}
		// A workload may be on another machine than its sidecar.
		for _, to := range r.endpointsOf(r.called(r.leads[i])) {
			if port, ok := served[to.AddrPort]; !told {
				past(to.String(), port, ok)
			}
		}
		if name := r.asksOwn(r.leads[i], in.Leads); name != "" {
			reason := fmt.Sprintf("a logger, a tracer or a filter sends requests to its own workload, behind the cluster %q: those pass no filter, and a caller who is refused sets them off", name)
			r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: in.Listener, Chain: in.Chain, Reason: reason})
		}
	}
}
