package verify

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/sidecar"
)

// strayEndpoints says which endpoints of an inbound are not the workload that the policies are about: a caller
// that the policies let in would reach another port, or another machine, behind them. A Dataplane says where
// the workload is. Without one, it is on the machine of the sidecar, and has the port of the inbound. An inbound without any endpoint
// would hide which one the policies guard.
func (s *subject) strayEndpoints(enforced sidecar.Inbound, found sidecar.Sidecar) (out []string) {
	port := enforced.Address.Port()
	var stated []netip.Addr
	ports := []uint16{port}
	if len(s.workloads) > 0 {
		ports = nil
	}
	for _, workload := range s.workloads {
		ports = append(ports, workload.Port())
		if workload.Addr().IsValid() {
			stated = append(stated, workload.Addr().Unmap())
		}
	}
	isHere := func(ip netip.Addr) bool {
		// Connections to the address of the inbound come here.
		return s.hasAddress(ip) || ip == enforced.Address.Addr()
	}
	// The workload of a service address may be another one than that of the machine.
	elsewhere := len(stated) > 0 && !slices.ContainsFunc(stated, func(ip netip.Addr) bool { return ip.IsLoopback() || ip.IsUnspecified() || isHere(ip) })
	if found.IsDump && !slices.ContainsFunc(enforced.Leads, func(to sidecar.Endpoint) bool { return !to.Mirror }) {
		out = append(out, "it leads to no workload: nothing tells whether something else leads to that of the policies, such as a log")
	}
	for _, to := range enforced.Leads {
		ip := to.Addr()
		here := to.OnMachine || isHere(ip)
		switch {
		case to.Port() == 0:
			// It leads to the port that a caller connects to.
		case slices.Contains(stated, ip) && slices.Contains(ports, to.Port()):
		case elsewhere && here:
			out = append(out, fmt.Sprintf("it leads to port %d of the machine of this sidecar, and not to the service address, %s, that a Dataplane states", to.Port(), stated[0]))
		case !here && to.Mirror && !to.MayBeOnMachine():
			// What another machine answers to a copy, no caller gets.
		case !here:
			out = append(out, fmt.Sprintf("it leads to %s, which is not known to be the machine of this sidecar: a Dataplane says so by serviceAddress", to))
		case port == 0:
			out = append(out, fmt.Sprintf("it is for every port, and leads to port %d of the workload", to.Port()))
		case !slices.Contains(ports, to.Port()):
			out = append(out, fmt.Sprintf("it leads to port %d of the workload, and not to port %d: only a Dataplane of Kuma can say so, by servicePort", to.Port(), ports[0]))
		}
	}
	// Endpoints of one port may be told in the same words.
	slices.Sort(out)
	return slices.Compact(out)
}
