package lab

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// target is a distinct target of a set. It is described if it selects a described inbound.
type target struct {
	capability.Target
	changed, described bool
	// least is the least inbound that it selects.
	least policy.Inbound
	// policies have the same target; each has its place.
	policies []string
}

// targets returns the distinct targets of a set.
func (p *populator) targets(set PolicySet) []*target {
	targeter, ok := set.Policies.(capability.Targeter)
	if !ok {
		p.Unasked = append(p.Unasked, Unasked{Policy: "the set of policies", Reason: "its dialect does not say what a policy selects"})
		return nil
	}
	blank := p.blank()
	var out []*target
	known := map[string]*target{}
	var inert []Unasked
	for _, t := range targeter.Targets() {
		if t.Elsewhere != "" {
			if t.Inert && set.Changed == nil {
				inert = append(inert, Unasked{Policy: t.Policy, Place: t.Place, Reason: t.Elsewhere})
			}
			// What another set of documents does with it is not known.
			if set.Changed == nil && !t.Inert || set.Changed != nil && set.Changed(t.Place) {
				p.Unasked = append(p.Unasked, Unasked{Policy: t.Policy, Place: t.Place, Reason: t.Elsewhere, OutsideText: t.OutsideText, IsExcluded: t.IsExcluded})
			}
			continue
		}
		if reason := set.unstated(t); reason != "" {
			p.Unasked = append(p.Unasked, Unasked{Policy: t.Policy, Place: t.Place, Reason: reason})
		}
		changed, name := set.Changed != nil && (t.Linked || set.Changed(t.Place)), fmt.Sprintf("%s (%s)", t.Policy, t.Place)
		if same := known[t.Key]; same != nil {
			same.changed, same.Conditions = same.changed || changed, same.Conditions || t.Conditions
			same.policies = append(same.policies, name)
			continue
		}
		described := slices.ContainsFunc(set.Described, func(in policy.Inbound) bool { return t.Selects(in) })
		least := t.Fit(blank)
		if reason := t.Miss(least).String(); reason != "" && !described {
			if !t.Inert {
				reason = "its requirements contradict each other; on the nearest workload, " + reason
			}
			if t.Inert && set.Changed == nil {
				inert = append(inert, Unasked{Policy: t.Policy, Place: t.Place, Reason: reason})
			}
			u := Unasked{Policy: t.Policy, Place: t.Place, Reason: reason, Inert: t.Inert}
			if !slices.Contains(p.Unasked, u) {
				p.Unasked = append(p.Unasked, u)
			}
			continue
		}
		known[t.Key] = &target{t, changed, described, least, []string{name}}
		out = append(out, known[t.Key])
	}
	if len(out) == 0 && set.assumed(p.template) != "" {
		// Nothing is asked of this set but an inbound that is assumed, which would be a tick for nothing.
		p.Unasked = append(p.Unasked, inert...)
	}
	return out
}

// blank is the given inbound without its labels and names.
func (p *populator) blank() policy.Inbound {
	blank := p.template
	blank.Name, blank.Tags, blank.Routes = "", nil, nil
	blank.Workload.Name, blank.Workload.Labels = madeName, nil
	return blank
}

// unstated says why nobody knows whether a target selects one of the described inbounds, "" where that is known.
// An inbound that flags describe is as they say. A comparison asks for what is changed alone.
func (s PolicySet) unstated(t capability.Target) string {
	if t.Unstated == nil || t.Inert || s.Chosen || s.Changed != nil && !s.Changed(t.Place) {
		return ""
	}
	for _, in := range s.Described {
		if reason := t.Unstated(in); reason != "" {
			return reason
		}
	}
	return ""
}
