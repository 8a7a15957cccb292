package networkpolicy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// Targets returns what the specs select, in order: the workloads of each, and their inbound on
// each port that its rules of ingress name, by number or by name. Where the rules name numbers, an
// inbound on another port is a target too.
func Targets(ps []Policy, opts Options) []capability.Target {
	var out []capability.Target
	for _, p := range ps {
		if p.ofNodes {
			out = append(out, capability.Elsewhere(p.String(), p.resource.Metadata.Name, p.doc.Place(""), "it is about nodes, and meshproof proves workloads", false))
		}
		if p.ofEgress() {
			t := capability.Elsewhere(p.String(), p.resource.Metadata.Name, p.doc.Place(""), "it has rules of egress alone: they are about calls of the workload, and nothing asks for these", true)
			t.IsExcluded = true
			out = append(out, t)
			continue
		}
		for _, s := range p.specs {
			t := capability.Target{
				Policy: p.String(), Name: p.resource.Metadata.Name, Place: p.doc.Place(""), Key: fmt.Sprint(s.subject.requirements),
				Inert: len(s.allow)+len(s.deny) == 0,
				Miss: func(in policy.Inbound) capability.Reason {
					return capability.FirstMiss(s.misses(identityOf(in.Workload, opts)))
				},
				Fit:  func(in policy.Inbound) policy.Inbound { return s.subject.fit(in, opts) },
				Vary: func(in policy.Inbound) []policy.Inbound { return s.subject.vary(in, opts) },
			}
			numbers, spans, names := s.portsNamed()
			out = append(out, t.OnPorts(numbers, spans...)...)
			for _, name := range names {
				out = append(out, onName(t, name))
			}
		}
	}
	return out
}

// ofEgress reports whether a policy says something of the calls of workloads, and nothing of those to them.
func (p Policy) ofEgress() bool {
	return len(p.specs) > 0 && !slices.ContainsFunc(p.specs, func(s spec) bool { return len(s.egress) == 0 || s.defaultDeny || len(s.allow)+len(s.deny) > 0 })
}

// onName narrows a target to the inbounds of a name.
func onName(t capability.Target, name string) capability.Target {
	miss, fit := t.Miss, t.Fit
	t.Key += " port " + name
	t.Miss = func(in policy.Inbound) capability.Reason {
		if reason := miss(in); reason != nil || strings.EqualFold(in.Name, name) {
			return reason
		}
		return func() string {
			if in.Name == "" {
				return fmt.Sprintf("its rules ask for the port %q, the inbound has no name", name)
			}
			return fmt.Sprintf("its rules ask for the port %q, the inbound has the name %q", name, in.Name)
		}
	}
	t.Fit = func(in policy.Inbound) policy.Inbound {
		in = fit(in)
		in.Name = name
		return in
	}
	return t
}

// portsNamed returns the ports that the rules of ingress tell apart, in order: by number, and by name. Of a range they are its ends and
// the ports beside it: a range of another policy may end there. The spans are what a range has between two of the numbers.
func (s spec) portsNamed() (numbers []uint16, spans [][2]uint16, names []string) {
	var ranges []portRange
	for _, r := range slices.Concat(s.deny, s.allow) {
		for _, entry := range r.ports {
			for _, p := range entry.ports {
				switch {
				case p.tcp && p.name != "":
					names = append(names, strings.ToLower(p.name))
				case p.tcp && p.last > 0:
					numbers = append(numbers, max(p.first, 1), p.last)
					if p.last > p.first {
						ranges = append(ranges, p)
						numbers = append(numbers, max(p.first, 2)-1, min(p.last, math.MaxUint16-1)+1)
					}
				}
			}
		}
	}
	slices.Sort(numbers)
	slices.Sort(names)
	numbers = slices.Compact(numbers)
	for i, last := range numbers[min(1, len(numbers)):] {
		first := numbers[i]
		if last-first > 1 && slices.ContainsFunc(ranges, func(p portRange) bool { return p.first <= first && last <= p.last }) {
			spans = append(spans, [2]uint16{first, last})
		}
	}
	return numbers, spans, slices.Compact(names)
}
