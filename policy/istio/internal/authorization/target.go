package authorization

import (
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// Targets returns what the policies select, in order: the workloads of each policy, and their
// inbound on each port that its rules name. Where the rules name ports, an inbound on another
// port is a target too.
func Targets(ps []Policy, opts Options) []capability.Target {
	var out []capability.Target
	for _, p := range ps {
		miss := func(in policy.Inbound) capability.Reason { return p.missReason(in.Workload, opts) }
		t := p.reach(opts).Target(p.resource.Object, p.doc.Place(""), miss)
		for _, on := range t.OnPorts(p.ports()) {
			out = append(out, on.OnAddresses(p.addresses())...)
		}
	}
	return out
}

// ports returns the ports that the rules name, in order. No inbound has port 0.
func (p Policy) ports() []uint16 {
	var out []uint16
	for t := range p.terms {
		if t.subject.name != "ports" {
			continue
		}
		for _, value := range append(slices.Clone(t.values), t.not...) {
			if port := uint16(portOf(value)); port > 0 {
				out = append(out, port)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// addresses returns the blocks of destination addresses that the rules name, in order.
func (p Policy) addresses() []netip.Prefix {
	var out []netip.Prefix
	for t := range p.terms {
		if t.subject.name != "destination.ip" {
			continue
		}
		for _, value := range append(slices.Clone(t.values), t.not...) {
			if block, err := blockOf(value); err == nil {
				out = append(out, block)
			}
		}
	}
	slices.SortFunc(out, netip.Prefix.Compare)
	return slices.Compact(out)
}
