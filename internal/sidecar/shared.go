package sidecar

import (
	"fmt"
	"net/netip"

	"github.com/meshproof/meshproof/internal/dump"
)

// shareWorkloads tells about inbounds of different addresses with one workload behind them: a
// caller that one of them refuses may pass the other.
func (r *reader) shareWorkloads() {
	first := map[string]int{}
	told := map[string]bool{}
	for i, in := range r.sidecar.Inbounds {
		r.sidecar.Inbounds[i].Leads = r.endpointsOf(r.leads[i])
		tell := func(format string, args ...any) {
			r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: in.Listener, Chain: in.Chain, Reason: fmt.Sprintf(format, args...)})
		}
		for _, workload := range r.workloadsOf(r.leads[i], true) {
			switch other, ok := first[workload]; {
			case !ok:
				first[workload] = i
			case r.areApart(i, other) && !r.arePartedByPort(workload, i, other) && !told[workload]:
				told[workload] = true
				tell("it leads to %s, as the inbound on %s does", workload, r.nameApart(other, in))
			}
		}
		if name, reason := r.unreadOf(r.leads[i]); name != "" && (r.IsDump || r.Clusters != nil) {
			tell("nothing tells which workload it leads to: its cluster %q %s", name, reason)
		}
		if len(r.stated) == 0 && r.leads[i].goesAnywhere() {
			tell("it sends connections on to where they were going, on any address, and no node states the addresses of this machine: requests of Envoy's own may lead there too")
		}
		if r.leads[i].chosen {
			tell(chosenElsewhere)
		}
		if to, ok := r.reaches(r.leads[i], r.outbounds); ok {
			tell("it leads to an outbound listener, %s, and not to its workload", to)
		}
		if r.leadsToAdmin(r.leads[i]) {
			tell("it leads to the admin interface of Envoy, and not to its workload")
		}
		if r.leadsToAdmin(r.gatherCalled(r.leads[i])) {
			tell("a logger, a tracer or a filter sends requests to the admin interface of Envoy, where they may change how filters judge")
		}
		if to, ok := r.reaches(r.leads[i], r.inbounds, in.Address, netip.AddrPortFrom(in.Socket.Addr().Unmap(), in.Socket.Port())); ok {
			tell("it leads to the listener of another inbound, %s, which sees this sidecar for a caller", to)
		}
	}
	r.tellCallsPast(first)
}

// tellCallsPast tells about inbounds that send requests of their own to what stands behind an inbound: those pass no filter. First has the
// first inbound that leads to each workload.
func (r *reader) tellCallsPast(first map[string]int) {
	served, onMachine := map[netip.AddrPort]int{}, map[uint16]int{}
	for i, in := range r.sidecar.Inbounds {
		for _, to := range in.Leads {
			switch {
			case to.Mirror:
			case to.maybeOwn:
				onMachine[to.Port()] = i
				fallthrough
			default:
				served[to.AddrPort] = i
			}
		}
	}
	for i, in := range r.sidecar.Inbounds {
		past := func(workload string, other int, ok bool) bool {
			if ok = ok && r.areApart(i, other); ok {
				reason := fmt.Sprintf("it sends requests of its own to %s, past the inbound on %s", workload, r.nameApart(other, in))
				r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: in.Listener, Chain: in.Chain, Reason: reason})
			}
			return ok
		}
		told := false
		for _, workload := range r.workloadsOf(r.called(r.leads[i]), false) {
			other, ok := first[workload]
			told = past(workload, other, ok) || told
		}
		// A workload may be on another machine than its sidecar, and an inbound for every port has each port of its machine.
		for _, to := range r.endpointsOf(r.called(r.leads[i])) {
			if told {
				break
			}
			other, ok := served[to.AddrPort]
			for _, port := range []uint16{to.Port(), 0} {
				if !ok && to.maybeOwn {
					other, ok = onMachine[port]
				}
			}
			told = past(to.String(), other, ok)
		}
		if name := r.asksOwn(r.leads[i], in.Leads); name != "" {
			reason := fmt.Sprintf("a logger, a tracer or a filter sends requests to its own workload, behind the cluster %q: those pass no filter, and a caller who is refused sets them off", name)
			r.found.add(dump.Unknown{Kind: dump.Exposed, Listener: in.Listener, Chain: in.Chain, Reason: reason})
		}
	}
}

// areApart reports whether two inbounds have different addresses, and different filters too: one chain may have several addresses.
func (r *reader) areApart(i, j int) bool {
	one, other := r.leads[i].chain, r.leads[j].chain
	return !isSame(r.sidecar.Inbounds[i].Address, r.sidecar.Inbounds[j].Address) && (one == nil || one != other)
}

// arePartedByPort reports whether no connection to the ports of one of two chains comes to the other one, although both lead to one cluster: they are
// chains of one listener, have other ports, and the cluster sends connections on to where they were going. Envoy takes no chain without the port of a
// connection where another chain has it. A default chain gets what is left, and is judged for that by itself.
func (r *reader) arePartedByPort(cluster string, i, j int) bool {
	one, other := r.sidecar.Inbounds[i], r.sidecar.Inbounds[j]
	sendsOn := len(r.leads[i].destinations[cluster]) > 0 && len(r.leads[j].destinations[cluster]) > 0
	return sendsOn && one.SharesListener(other) && one.Match.GetDestinationPort().GetValue() != other.Match.GetDestinationPort().GetValue()
}

// nameApart names the address of an inbound beside another one: by its port, where that tells them apart.
func (r *reader) nameApart(i int, beside Inbound) string {
	address := r.sidecar.Inbounds[i].Address
	if address.Port() == beside.Address.Port() {
		return address.String()
	}
	return fmt.Sprintf("port %d", address.Port())
}
