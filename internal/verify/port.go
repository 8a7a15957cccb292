package verify

import (
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// onPorts returns the inbound of a chain for every port once for each kind of port: for those at
// which a condition of the filters or of the policies changes, and for one that none of them names. Envoy
// takes no connection of a port with a chain of its own there. Other inbounds are as they are.
func (s *subject) onPorts(enforced sidecar.Inbound, found sidecar.Sidecar) ([]sidecar.Inbound, error) {
	if !s.anyPort || !enforced.Address.IsValid() || enforced.Address.Port() != 0 {
		return []sidecar.Inbound{enforced}, nil
	}
	reading, err := s.source.on(s.inbound, enforced)
	if err != nil {
		return nil, err
	}
	lifted, _ := enforced.Program()
	ports := append(portsOf(reading.Inbounds()[0].Program.Program), portsOf(lifted)...)
	slices.Sort(ports)
	ports = slices.Compact(ports)
	unnamed := uint16(1024)
	for hasChain(found, unnamed) || slices.Contains(ports, unnamed) {
		unnamed++
	}
	ports = slices.DeleteFunc(append(ports, unnamed), func(port uint16) bool { return hasChain(found, port) })
	var out []sidecar.Inbound
	for _, port := range ports {
		one := enforced
		one.Address = netip.AddrPortFrom(enforced.Address.Addr(), port)
		out = append(out, one)
	}
	return out, nil
}

// portsOf returns the ports that the conditions of a program name, and those on both sides of
// them.
func portsOf(p policy.Program) (out []uint16) {
	for c := range p.Conditions() {
		is, ok := c.(policy.Is)
		if !ok || is.Attribute != attribute.DestinationPort {
			continue
		}
		first, last, err := endpoint.Ports(is.Match.Value)
		if is.Match.Kind == policy.Exact {
			first, err = endpoint.Port(is.Match.Value)
			last = first
		}
		if err != nil {
			continue
		}
		for _, port := range []int{int(first) - 1, int(first), int(last), int(last) + 1} {
			if port > 0 && port <= 65535 {
				out = append(out, uint16(port))
			}
		}
	}
	return out
}

// hasChain reports whether a chain of the sidecar serves the port alone.
func hasChain(found sidecar.Sidecar, port uint16) bool {
	return slices.ContainsFunc(found.Inbounds, func(in sidecar.Inbound) bool {
		return in.Address.Port() == port
	})
}
