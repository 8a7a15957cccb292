package authorization

import (
	"fmt"
	"maps"
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
		t := capability.Target{
			Policy: p.String(), Name: p.resource.Metadata.Name, Place: p.doc.Place(""),
			Key:  p.resource.Metadata.Namespace + " " + fmt.Sprint(p.labels()),
			Miss: func(in policy.Inbound) string { return p.missReason(in.Workload, opts) },
			Fit:  func(in policy.Inbound) policy.Inbound { return p.fit(in, opts) },
		}
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

// fit changes the namespace and the labels of the inbound's workload so that the policy selects
// it.
func (p Policy) fit(in policy.Inbound, opts Options) policy.Inbound {
	w := &in.Workload
	if own := p.resource.Metadata.Namespace; own != opts.RootNamespace {
		w.Namespace = own
	}
	w.Labels = maps.Clone(w.Labels)
	if w.Labels == nil {
		w.Labels = map[string]string{}
	}
	maps.Copy(w.Labels, p.labels())
	return in
}
