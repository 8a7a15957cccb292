package verify

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/sidecar"
)

// strayEndpoints says which endpoints of an inbound are not the workload that the policies are about: a caller
// that the policies let in would reach another port, or another machine, behind them. A Dataplane says where
// the workload is. Without one, it is on the machine of the sidecar, and has the port of the inbound.
func (s *subject) strayEndpoints(enforced sidecar.Inbound) (out []string) {
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
	for _, to := range enforced.Leads {
		ip := to.Addr()
		// Connections to the address of the inbound come here.
		here := to.OnMachine || s.hasAddress(ip) || ip == enforced.Address.Addr()
		switch {
		case slices.Contains(stated, ip) && slices.Contains(ports, to.Port()):
		case !here && to.Mirror:
			// What another machine answers to a copy, no caller gets.
		case !here:
			out = append(out, fmt.Sprintf("it leads to %s, which is not known to be the machine of this sidecar: a Dataplane says so by serviceAddress", to))
		case port == 0:
			out = append(out, fmt.Sprintf("it is for every port, and leads to port %d of the workload", to.Port()))
		case !slices.Contains(ports, to.Port()):
			out = append(out, fmt.Sprintf("it leads to port %d of the workload, and not to port %d: a Dataplane says so by servicePort", to.Port(), ports[0]))
		}
	}
	return out
}
