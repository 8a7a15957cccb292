package networkpolicy

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// Targets returns what the specs select, in order: the workloads of each, and their inbound on
// each port that its rules of ingress name. Where the rules name ports, an inbound on another
// port is a target too.
func Targets(ps []Policy, opts Options) []capability.Target {
	var out []capability.Target
	for _, p := range ps {
		for _, s := range p.specs {
			t := capability.Target{
				Policy: p.String(), Name: p.resource.Metadata.Name, Place: p.doc.Place(""), Key: fmt.Sprint(s.subject.requirements),
				Inert: len(s.allow)+len(s.deny) == 0,
				Miss: func(in policy.Inbound) string {
					if misses := s.misses(identityOf(in.Workload, opts)); len(misses) > 0 {
						return misses[0].reason
					}
					return ""
				},
				Fit: func(in policy.Inbound) policy.Inbound { return s.subject.fit(in, opts) },
			}
			out = append(out, t.OnPorts(s.portNumbers())...)
		}
	}
	return out
}

// portNumbers returns the ports that the rules of ingress name, in order.
func (s spec) portNumbers() (out []uint16) {
	for _, r := range slices.Concat(s.deny, s.allow) {
		for _, entry := range r.ports {
			for _, p := range entry.ports {
				if p.tcp && p.last > 0 {
					out = append(out, max(p.first, 1), p.last)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
