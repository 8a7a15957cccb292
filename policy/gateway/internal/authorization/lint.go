package authorization

import (
	"fmt"
	"iter"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// Lint warns, in the order of ps, of policies without rules, rules with an empty list
// of sources, rules that were written apart, policies that select no workload, and ports that no selected workload
// has.
func Lint(ps []Policy, inbounds []policy.Inbound) []policy.Warning {
	var out []policy.Warning
	for _, p := range ps {
		out = append(out, p.lintRules()...)
		out = append(out, p.lintSplit()...)
		out = append(out, p.lintReach(inbounds)...)
	}
	return out
}

func (p Policy) lintRules() []policy.Warning {
	if len(p.rules()) == 0 {
		return []policy.Warning{p.warn(warning.NoRules, "spec.rules", "there is no rule: no caller gets in by this policy, and no caller at all where no other policy selects the pod")}
	}
	var out []policy.Warning
	for i, rule := range p.rules() {
		if rule.Sources != nil && len(*rule.Sources) == 0 {
			out = append(out, p.warn(warning.EmptyList, item("spec.rules", i)+".sources", "the list is empty: the rule lets no caller in"))
		}
	}
	return out
}

// lintSplit warns of the first rule of ports for everybody, beside one of callers on every port: their author may have
// meant one rule.
func (p Policy) lintSplit() []policy.Warning {
	hasPorts := func(r Rule) bool { return r.NetworkAttributes != nil && r.NetworkAttributes.Ports != nil }
	ofCallers := slices.IndexFunc(p.rules(), func(r Rule) bool { return r.Sources != nil && len(*r.Sources) > 0 && !hasPorts(r) })
	ofPorts := slices.IndexFunc(p.rules(), func(r Rule) bool { return r.Sources == nil && hasPorts(r) })
	if ofCallers < 0 || ofPorts < 0 {
		return nil
	}
	return []policy.Warning{p.warn(warning.SplitRule, item("spec.rules", ofPorts),
		"the rule lets in everybody on its ports, and %s lets in its callers on every port: write sources and networkAttributes in one item if both have to hold", item("spec.rules", ofCallers))}
}

// lintReach warns where no workload is selected, or no selected workload has a port.
func (p Policy) lintReach(inbounds []policy.Inbound) []policy.Warning {
	var ports []uint16
	for _, in := range inbounds {
		if p.missReason(in.Workload) == nil {
			ports = append(ports, in.Port)
		}
	}
	switch {
	case len(inbounds) == 0:
		return nil
	case len(ports) == 0:
		nearest, reason := capability.Nearest(inbounds, func(in policy.Inbound) iter.Seq[capability.Miss] { return p.misses(in.Workload) })
		return []policy.Warning{p.warn(warning.SelectsNothing, "", "the policy selects no workload (%s: %s)", nearest.Workload.Name, reason)}
	}
	var out []policy.Warning
	for i, rule := range p.rules() {
		if rule.NetworkAttributes == nil || rule.NetworkAttributes.Ports == nil {
			continue
		}
		for k, port := range *rule.NetworkAttributes.Ports {
			if !slices.Contains(ports, port) {
				at := fmt.Sprintf("%s.networkAttributes.ports[%d]", item("spec.rules", i), k)
				out = append(out, p.warn(warning.PortOfNoInbound, at, "no selected workload has an inbound on port %d: a port is the workload's, not that of a Service", port))
			}
		}
	}
	return out
}
