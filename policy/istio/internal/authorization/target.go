package authorization

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/object"
)

// Targets returns what the policies select, in order: the workloads of each policy, and their
// inbound on each port that its rules name. Where the rules name ports, an inbound on another
// port is a target too.
func Targets(ps []Policy, opts Options) []capability.Target {
	var out []capability.Target
	for _, p := range ps {
		t := object.Reach{Namespace: p.resource.Metadata.Namespace, Root: opts.RootNamespace, Labels: p.labels()}.Target(capability.Target{
			Policy: p.String(), Name: p.resource.Metadata.Name, Place: p.doc.Place(""),
			Key:  p.resource.Metadata.Namespace + " " + fmt.Sprint(p.labels()),
			Miss: func(in policy.Inbound) string { return p.missReason(in.Workload, opts) },
		})
		out = append(out, t.OnPorts(p.ports())...)
	}
	return out
}

// ports returns the ports that the rules name, in order. No inbound has port 0.
func (p Policy) ports() []uint16 {
	var out []uint16
	for _, r := range p.rules {
		for t := range r.terms {
			if t.subject.name != "ports" {
				continue
			}
			for _, value := range append(slices.Clone(t.values), t.not...) {
				if port := uint16(portOf(value)); port > 0 {
					out = append(out, port)
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
