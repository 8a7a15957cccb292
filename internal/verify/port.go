package verify

import (
	"net/netip"
	"slices"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/language"
)

// onPorts returns the inbound of a chain for every port once for each kind of port: for those at
// which a condition of the filters or of the policies changes, for those by which policies select, and for one that none of them names. Envoy
// takes no connection of a port with a chain of its own there, unless that chain asks for more and the
// other one is the default. Other inbounds are as they are.
func (s *subject) onPorts(enforced sidecar.Inbound, found sidecar.Sidecar) ([]sidecar.Inbound, error) {
	if !s.anyPort || !enforced.Address.IsValid() || enforced.Address.Port() != 0 {
		return []sidecar.Inbound{enforced}, nil
	}
	reading, err := s.source.readFor(s.inbound, enforced)
	if err != nil {
		return nil, err
	}
	lifted, _ := enforced.Program()
	ports := slices.Concat(portsOf(reading.Inbounds()[0].Program.Program), portsOf(lifted), portsOfTargets(reading.Set(), s.inbound.Inbound))
	slices.Sort(ports)
	ports = slices.Compact(ports)
	unnamed := uint16(1024)
	for hasChain(found, enforced, unnamed) || slices.Contains(ports, unnamed) {
		unnamed++
	}
	ports = slices.DeleteFunc(append(ports, unnamed), func(port uint16) bool { return hasChain(found, enforced, port) })
	var out []sidecar.Inbound
	for _, port := range ports {
		one := enforced
		one.Address = netip.AddrPortFrom(enforced.Address.Addr(), port)
		out = append(out, one)
	}
	return out, nil
}

// portsOfTargets returns the ports by which policies select inbounds, such as those with a mode of mTLS of their own.
func portsOfTargets(set language.Policies, in policy.Inbound) (out []uint16) {
	targeter, ok := set.(capability.Targeter)
	if !ok {
		return nil
	}
	// A target that asks for no port leaves it at that.
	in.Port = 0
	add := func(fit policy.Inbound) {
		if fit.Port != 0 {
			out = append(out, fit.Port)
		}
	}
	for _, target := range targeter.Targets() {
		fit := target.Fit(in)
		add(fit)
		if target.Vary != nil {
			for _, varied := range target.Vary(fit) {
				add(varied)
			}
		}
	}
	return out
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

// hasChain reports whether another chain of the listener takes each connection to a port that the
// chain for every port might take. Where the chains of a port ask for more than the port, what none of them
// takes goes to the default chain, and to no other one.
func hasChain(found sidecar.Sidecar, every sidecar.Inbound, port uint16) bool {
	return slices.ContainsFunc(found.Inbounds, func(in sidecar.Inbound) bool {
		return in.SharesListener(every) && in.Match.GetDestinationPort().GetValue() == uint32(port) && (!every.Default || asksForPortAlone(in.Match))
	})
}

// asksForPortAlone reports whether a chain takes each connection to its port.
func asksForPortAlone(m *listenerv3.FilterChainMatch) bool {
	m = proto.CloneOf(m)
	m.DestinationPort = nil
	return proto.Equal(m, &listenerv3.FilterChainMatch{})
}
