package verify

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// take notes whether an inbound of the sidecar gets the connections to an address of its Dataplane.
func (s *subject) take(enforced sidecar.Inbound, name string) {
	if len(s.addresses) == 0 || !enforced.Address.IsValid() || slices.ContainsFunc(s.addresses, enforced.Takes) {
		s.atHome = true
		return
	}
	astray := Finding{Fact: OtherAddress, Inbound: name, Address: s.addresses[0].String()}
	if at := enforced.Address.Addr(); at.IsUnspecified() || s.hasAddress(at) {
		astray.Fact = OtherFamily
	}
	s.astray = append(s.astray, astray)
}

// goHome tells about the inbounds on other addresses than the Dataplane's. Where none is on its address, callers may not meet them.
func (v *Verification) goHome(s *subject) {
	if s.named {
		const reason = "its Dataplane states no IP address: nothing tells whether callers meet this sidecar there. State the address to which the name leads"
		v.notVerified(Contradicted, s.inbound.String(), reason)
	}
	for _, name := range s.hostNames {
		reason := fmt.Sprintf("its Dataplane states the name %q for an address of the machine: nothing tells whether callers reach the workload past the sidecar there. State the address to which the name leads", name)
		v.notVerified(Contradicted, s.inbound.String(), reason)
	}
	for _, f := range s.astray {
		switch {
		case s.atHome:
			v.Findings = append(v.Findings, f)
		case f.Fact == OtherFamily:
			v.Unverified = append(v.Unverified, f.contradicts("callers reach the workload past it"))
		default:
			v.Unverified = append(v.Unverified, f.contradicts("it may be the sidecar of another workload"))
		}
	}
}

// podAddresses returns the addresses that the nodes of Istio's sidecars state. The reasons say what of them cannot be read: callers
// may use such an address too.
func podAddresses(nodes []dump.Node) (out []netip.Addr, reasons []string) {
	out, illegible := sidecar.StatedAddresses(nodes)
	for _, text := range illegible {
		reasons = append(reasons, fmt.Sprintf("the node states an address of its pod that is none (%q): nothing tells whether callers reach the workload past the sidecar there", text))
	}
	return out, reasons
}

// untaken says at which address of its pod the port of an inbound has no inbound: callers reach the workload itself there.
func untaken(enforced sidecar.Inbound, pod []netip.Addr, found sidecar.Sidecar) (out []string) {
	port := enforced.Address.Port()
	for _, ip := range pod {
		if !slices.ContainsFunc(found.Inbounds, func(in sidecar.Inbound) bool {
			return in.Address.IsValid() && (in.Address.Port() == port || in.Address.Port() == 0) && in.Takes(ip)
		}) {
			out = append(out, fmt.Sprintf("no inbound takes connections to port %d of %s, which is an address of the pod, as its node says: callers reach the workload past the sidecar there", port, ip))
		}
	}
	return out
}

// machineOf returns the addresses of the machine that the Dataplanes of some subjects state.
func machineOf(subjects []*subject) (out []netip.Addr) {
	for _, s := range subjects {
		out = append(append(out, s.addresses...), s.machine...)
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}
