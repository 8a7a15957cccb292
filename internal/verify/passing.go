package verify

import (
	"fmt"
	"net/netip"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// ipv6Metadata is the name under which the node of a Kuma sidecar says whether its machine has addresses of IPv6.
const ipv6Metadata = "ipv6Enabled"

// passOn takes a listener of Kuma's transparent proxy, which has the redirected connections that no other listener has, and
// passes them on without authorization.
func (v *Verification) passOn(passing sidecar.Inbound, unknown []dump.Unknown, here []*subject) {
	if reason := opens(passing, here, v.sidecar); reason != "" {
		v.notVerified(Contradicted, title(passing), reason)
	} else {
		v.Findings = append(v.Findings, Finding{Fact: PassesOn, Inbound: title(passing)})
	}
	if judges := otherJudges(unknown); len(judges) > 0 {
		v.notVerified(OtherJudges, title(passing), judges...)
	}
}

// haveDataplanes reports whether Dataplanes state the address of each subject.
func haveDataplanes(subjects []*subject) bool {
	return len(subjects) > 0 && !slices.ContainsFunc(subjects, func(s *subject) bool { return len(s.addresses) == 0 })
}

// opens says how a listener that passes redirected connections on leads past the inbounds of Dataplanes; "" where it gets
// none of their connections. A workload may listen on each address of its machine.
func opens(passing sidecar.Inbound, here []*subject, found sidecar.Sidecar) string {
	own, ofIPv4, machine := passing.Address.Port(), passing.Address.Addr().Is4(), machineOf(here)
	isOfFamily := func(address netip.Addr) bool { return address.Is4() == ofIPv4 }
	if !slices.ContainsFunc(machine, isOfFamily) && (ofIPv4 || !lackIPv6(found.Nodes)) {
		return fmt.Sprintf("it passes connections on without authorization, also those to an address of the workload beside %s", machine[0])
	}
	ports := workloadPorts(here, found)
	for _, address := range machine {
		if ofIPv4 && !address.Is4() {
			continue
		}
		if own != 0 && !isGuarded(passing, netip.AddrPortFrom(address, own), found) {
			return fmt.Sprintf("it passes connections to port %d of %s on without authorization, and no listener has this port there%s", own, address, translated(address, here))
		}
		for _, to := range ports {
			if (own == 0 || own == to.port) && !isGuarded(passing, netip.AddrPortFrom(address, to.port), found) {
				return fmt.Sprintf("it passes connections to port %d of %s on without authorization%s: no listener, and no chain by port and address alone, takes each of them%s", to.port, address, to.why, translated(address, here))
			}
		}
	}
	return ""
}

// translated says what to do about an address that no inbound of a Dataplane has, where it may be that of another machine; "" for one of an inbound.
func translated(address netip.Addr, here []*subject) string {
	if slices.ContainsFunc(here, func(s *subject) bool { return s.hasAddress(address) }) {
		return ""
	}
	return ". Give the inbounds this address too; where it is another machine's, which translates it (NAT), leave it out of the Dataplane"
}

// workloadPort is a port on which a workload may listen, and why.
type workloadPort struct {
	port uint16
	why  string
}

// workloadPorts returns the ports of the workloads: those that the policies' side states, and those to which the inbounds lead. An inbound whose
// cluster has no endpoint leads to its own port.
func workloadPorts(here []*subject, found sidecar.Sidecar) (out []workloadPort) {
	seen := map[uint16]bool{0: true}
	add := func(port uint16, why string) {
		if !seen[port] {
			seen[port] = true
			out = append(out, workloadPort{port, why})
		}
	}
	for _, s := range here {
		add(s.inbound.Port, "")
		for _, workload := range s.workloads {
			add(workload.Port(), "")
		}
	}
	for _, in := range found.Inbounds {
		for _, to := range in.Leads {
			if !to.Mirror {
				add(to.Port(), fmt.Sprintf(", past the inbound on port %d, which leads there", in.Address.Port()))
			}
		}
	}
	return out
}

// isGuarded reports whether each connection to an address, which is redirected to a listener that passes connections on, comes to
// an inbound instead: to that of another listener with this very address, to which it is handed over, or to a chain of the same
// listener. A chain that asks for more takes some of them alone.
func isGuarded(passing sidecar.Inbound, to netip.AddrPort, found sidecar.Sidecar) bool {
	return slices.ContainsFunc(found.Inbounds, func(in sidecar.Inbound) bool {
		switch {
		case in.PassesOn:
			return false
		case in.SharesListener(passing) && in.Socket == passing.Socket:
			return asksForAddressAlone(in.Match, to)
		default:
			// Envoy looks for the text of the address.
			return in.Socket == to
		}
	})
}

// asksForAddressAlone reports whether a chain takes each connection to an address and a port. Envoy holds no connection of IPv4 against a
// block in the notation of IPv6.
func asksForAddressAlone(m *listenerv3.FilterChainMatch, to netip.AddrPort) bool {
	for _, block := range m.GetPrefixRanges() {
		ip, err := netip.ParseAddr(block.GetAddressPrefix())
		if err != nil || ip != to.Addr() || block.GetPrefixLen().GetValue() != uint32(ip.BitLen()) {
			return false
		}
	}
	if m.GetDestinationPort().GetValue() != uint32(to.Port()) || len(m.GetPrefixRanges()) == 0 {
		return false
	}
	m = proto.CloneOf(m)
	m.PrefixRanges = nil
	return asksForPortAlone(m)
}

// lackIPv6 reports whether all nodes say that their machine has no address of IPv6.
func lackIPv6(nodes []dump.Node) bool {
	for _, node := range nodes {
		if has, ok := node.Metadata[ipv6Metadata].(bool); !ok || has {
			return false
		}
	}
	return len(nodes) > 0
}
