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

// onPorts returns the inbound of a chain for every port once for each kind of port: for one in each interval of ports in which no
// condition of the filters or of the policies changes, and for each one by which policies select. Envoy takes no connection of a port
// with a chain of its own there, unless that chain asks for more and the other one is the default: where each port of an interval has
// one, nothing is asked there. Other inbounds are as they are.
func (s *subject) onPorts(enforced sidecar.Inbound, found sidecar.Sidecar) ([]sidecar.Inbound, error) {
	if !s.anyPort || !enforced.Address.IsValid() || enforced.Address.Port() != 0 {
		return []sidecar.Inbound{enforced}, nil
	}
	reading, err := s.source.readFor(s.inbound, enforced)
	if err != nil {
		return nil, err
	}
	lifted, _ := enforced.Program()
	begins := slices.Concat([]int{1}, beginsOf(reading.Inbounds()[0].Program.Program), beginsOf(lifted))
	for _, port := range portsOfTargets(reading.Set(), s.inbound.Inbound) {
		begins = append(begins, int(port), int(port)+1)
	}
	var out []sidecar.Inbound
	for _, port := range witnesses(begins, chainPorts(found, enforced)) {
		one := enforced
		one.Address = netip.AddrPortFrom(enforced.Address.Addr(), port)
		out = append(out, one)
	}
	return out, nil
}

const (
	// behindPorts is the number behind the last port.
	behindPorts = 1 << 16
	// firstUser is the first port that a workload without rights of the system may have.
	firstUser = 1024
)

// witnesses returns a port of each interval, without those that are taken: each interval goes from one beginning to the next one. Where
// it can, it is one that any workload may have.
func witnesses(begins []int, taken map[uint16]bool) (out []uint16) {
	begins = append(slices.DeleteFunc(begins, func(port int) bool { return port < 1 || port >= behindPorts }), behindPorts)
	slices.Sort(begins)
	for i, first := range begins[:len(begins)-1] {
		behind := begins[i+1]
		likely := min(max(first, firstUser), behind)
		for _, interval := range [][2]int{{likely, behind}, {first, likely}} {
			if port, ok := untakenIn(interval[0], interval[1], taken); ok {
				out = append(out, port)
				break
			}
		}
	}
	return out
}

// untakenIn returns the first port that is not taken, from a first one to the one behind the last.
func untakenIn(first, behind int, taken map[uint16]bool) (uint16, bool) {
	for port := first; port < behind; port++ {
		if !taken[uint16(port)] {
			return uint16(port), true
		}
	}
	return 0, false
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

// beginsOf returns the ports at which a condition of a program changes.
func beginsOf(p policy.Program) (out []int) {
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
		if err == nil {
			out = append(out, int(first), int(last)+1)
		}
	}
	return out
}

// chainPorts returns the ports of which another chain of the listener takes each connection that the
// chain for every port might take. Where the chains of a port ask for more than the port, what none of them
// takes goes to the default chain, and to no other one.
func chainPorts(found sidecar.Sidecar, every sidecar.Inbound) map[uint16]bool {
	out := map[uint16]bool{}
	for _, in := range found.Inbounds {
		if port := in.Match.GetDestinationPort().GetValue(); port > 0 && in.SharesListener(every) && (!every.Default || asksForPortAlone(in.Match)) {
			out[uint16(port)] = true
		}
	}
	return out
}

// asksForPortAlone reports whether a chain takes each connection to its port.
func asksForPortAlone(m *listenerv3.FilterChainMatch) bool {
	m = proto.CloneOf(m)
	m.DestinationPort = nil
	return proto.Equal(m, &listenerv3.FilterChainMatch{})
}
