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
		ports := p.ports()
		if len(ports) == 0 {
			out = append(out, t)
			continue
		}
		for _, port := range ports {
			onIt := onPort(t, fmt.Sprintf("port %d", port), func(uint16) uint16 { return port })
			onIt.Vary = func(in policy.Inbound) []policy.Inbound {
				if in.Port != port {
					return nil
				}
				in.Port = in.Port%65535 + 1
				return []policy.Inbound{in}
			}
			out = append(out, onIt)
		}
		out = append(out, onPort(t, fmt.Sprintf("a port that is none of %v", ports), func(port uint16) uint16 {
			for port == 0 || slices.Contains(ports, port) {
				port++
			}
			return port
		}))
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

// onPort narrows a target to the inbounds whose port is what the function makes of it.
func onPort(t capability.Target, phrase string, choose func(uint16) uint16) capability.Target {
	miss, fit := t.Miss, t.Fit
	t.Key += " " + phrase
	t.Miss = func(in policy.Inbound) string {
		if reason := miss(in); reason != "" || choose(in.Port) == in.Port {
			return reason
		}
		return fmt.Sprintf("its rules ask for %s, the inbound has %d", phrase, in.Port)
	}
	t.Fit = func(in policy.Inbound) policy.Inbound {
		in = fit(in)
		in.Port = choose(in.Port)
		return in
	}
	return t
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
