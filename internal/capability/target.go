package capability

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
)

// Selects reports whether the target selects an inbound.
func (t Target) Selects(in policy.Inbound) bool { return t.Miss(in) == nil }

// OnPorts returns the target on each of the ports, which are in order and above 0, on a port within each of the spans, and on one
// that is none of them. A span lies between two of the ports, which do not belong to it. Without any port it returns the target alone.
func (t Target) OnPorts(ports []uint16, spans ...[2]uint16) []Target {
	if len(ports) == 0 {
		return []Target{t}
	}
	t.Base = t.Place + " " + t.Key
	var out []Target
	for _, port := range ports {
		on := t.onPort(fmt.Sprintf("port %d", port), func(uint16) uint16 { return port })
		on.VaryPort = func(in policy.Inbound) []policy.Inbound {
			if in.Port != port {
				return nil
			}
			in.Port = in.Port%65535 + 1
			return []policy.Inbound{in}
		}
		on.Vary = func(in policy.Inbound) (varied []policy.Inbound) {
			if t.Vary != nil {
				varied = t.Vary(in)
			}
			return append(varied, on.VaryPort(in)...)
		}
		out = append(out, on)
	}
	isOutside := func(port uint16) bool {
		return port > 0 && !slices.Contains(ports, port) && !slices.ContainsFunc(spans, func(s [2]uint16) bool { return s[0] < port && port < s[1] })
	}
	for _, s := range spans {
		out = append(out, t.onPort(fmt.Sprintf("a port between %d and %d", s[0], s[1]), func(port uint16) uint16 {
			if s[0] < port && port < s[1] {
				return port
			}
			return s[0] + 1
		}))
	}
	phrase := fmt.Sprintf("a port that is none of %v", ports)
	if spans != nil {
		phrase += fmt.Sprintf(" and not between %v", spans)
	}
	other := uint16(1)
	for ; other > 0 && !isOutside(other); other++ {
	}
	if other == 0 {
		return out // they are all ports
	}
	return append(out, t.onPort(phrase, func(port uint16) uint16 {
		for !isOutside(port) {
			port++
		}
		return port
	}))
}

// OnAddresses returns the target on an address of each of the blocks, and on one that is in none of
// them. Blocks within each other have addresses of their own. Without any block it returns the
// target alone. The lab has no inbound on an address of IPv6: a target that is about one has
// nothing that it can be held against.
func (t Target) OnAddresses(blocks []netip.Prefix) []Target {
	if len(blocks) == 0 {
		return []Target{t}
	}
	if slices.ContainsFunc(blocks, func(b netip.Prefix) bool { return !b.Addr().Is4() }) {
		return []Target{Elsewhere(t.Policy, t.Name, t.Place, "its rules ask for a destination address of IPv6, and no workload here has one", false)}
	}
	var candidates []netip.Addr
	for _, b := range blocks {
		// The first address of a block is the name of the block for many.
		if second := b.Addr().Next(); b.Contains(second) {
			candidates = append(candidates, second)
		}
		candidates = append(candidates, b.Addr(), endpoint.Last(b), endpoint.Last(b).Next())
	}
	candidates = append(candidates, netip.MustParseAddr("10.64.0.1"), netip.MustParseAddr("172.16.0.1"), netip.MustParseAddr("203.0.113.1"))
	candidates = slices.DeleteFunc(candidates, func(ip netip.Addr) bool {
		_, err := endpoint.Caller(ip.String())
		return err != nil || !ip.Is4()
	})
	// within says in which blocks an address is.
	within := func(ip netip.Addr) string {
		return fmt.Sprint(slices.Collect(func(yield func(bool) bool) {
			for _, b := range blocks {
				yield(b.Contains(ip))
			}
		}))
	}
	var out []Target
	known := map[string]bool{}
	for _, ip := range candidates {
		if known[within(ip)] {
			continue
		}
		known[within(ip)] = true
		isAlike := func(other netip.Addr) bool { return other.IsValid() && within(other) == within(ip) }
		out = append(out, t.onAddress(ip, isAlike, candidates))
	}
	return out
}

// onAddress narrows the target to the workloads with an address that is like the given one. It varies by all addresses at which the
// blocks begin or end: the blocks of another target may end there too.
func (t Target) onAddress(ip netip.Addr, isAlike func(netip.Addr) bool, all []netip.Addr) Target {
	miss, fit, vary := t.Miss, t.Fit, t.Vary
	t.Key += " on " + ip.String()
	t.Base, t.VaryPort = "", nil // it varies by addresses too
	t.Miss = func(in policy.Inbound) Reason {
		if reason := miss(in); reason != nil || isAlike(in.Workload.IP) {
			return reason
		}
		return func() string {
			return fmt.Sprintf("its rules ask for the destination address, %s is one of those that they tell apart, and the inbound is not known to have one like it", ip)
		}
	}
	t.Fit = func(in policy.Inbound) policy.Inbound {
		if in = fit(in); !isAlike(in.Workload.IP) {
			in.Workload.IP = ip
		}
		return in
	}
	t.Vary = func(in policy.Inbound) (varied []policy.Inbound) {
		if vary != nil {
			varied = vary(in)
		}
		for _, other := range all {
			at := in
			at.Workload.IP = other
			varied = append(varied, at)
		}
		return varied
	}
	return t
}

// onPort narrows the target to the inbounds whose port is what the function makes of it.
func (t Target) onPort(phrase string, choose func(uint16) uint16) Target {
	miss, fit := t.Miss, t.Fit
	t.Key += " " + phrase
	t.Miss = func(in policy.Inbound) Reason {
		if reason := miss(in); reason != nil || choose(in.Port) == in.Port {
			return reason
		}
		return func() string { return fmt.Sprintf("its rules ask for %s, the inbound has %d", phrase, in.Port) }
	}
	t.Fit = func(in policy.Inbound) policy.Inbound {
		in = fit(in)
		in.Port = choose(in.Port)
		return in
	}
	return t
}

// Elsewhere returns the target of a document that nothing in the set can be held against, with the
// reason. Name is the full name of the document, short its own.
func Elsewhere(name, short, place, reason string, inert bool) Target {
	return Target{
		Policy: name, Name: short, Place: place, Key: place, Inert: inert, Elsewhere: reason,
		Miss: func(policy.Inbound) Reason { return ReasonOf(reason) },
		Fit:  func(in policy.Inbound) policy.Inbound { return in },
	}
}
