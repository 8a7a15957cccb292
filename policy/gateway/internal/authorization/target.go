package authorization

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/labelselector"
	"github.com/meshproof/meshproof/policy"
)

// Targets returns what the policies select, in order: the workloads of each policy, and
// their inbound on each port that its rules name. Where the rules name ports, an inbound on
// another port is a target too.
func Targets(ps []Policy) []capability.Target {
	var out []capability.Target
	for _, p := range ps {
		t := capability.Target{
			Policy: p.String(), Name: p.resource.Metadata.Name, Place: p.doc.Place(""),
			Miss: func(in policy.Inbound) capability.Reason { return capability.FirstMiss(p.misses(in.Workload)) },
			Fit:  p.fit,
		}
		selector := p.resource.Spec.TargetRefs[0].Selector
		t.Key = p.resource.Metadata.Namespace + " " + selector.expression()
		if len(selector.MatchExpressions) > 0 {
			t.Vary = func(in policy.Inbound) []policy.Inbound { return vary(selector, in) }
		}
		out = append(out, t.OnPorts(p.ports())...)
	}
	return out
}

// ports returns the ports that the rules name, in order.
func (p Policy) ports() []uint16 {
	var out []uint16
	for _, rule := range p.rules() {
		if a := rule.NetworkAttributes; a != nil && a.Ports != nil {
			out = append(out, *a.Ports...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fit changes the namespace and the labels of the inbound's workload so that the policy
// selects it.
func (p Policy) fit(in policy.Inbound) policy.Inbound {
	w := &in.Workload
	w.Namespace = p.resource.Metadata.Namespace
	w.Labels = maps.Clone(w.Labels)
	if w.Labels == nil {
		w.Labels = map[string]string{}
	}
	selector := p.resource.Spec.TargetRefs[0].Selector
	maps.Copy(w.Labels, selector.MatchLabels)
	for _, r := range selector.MatchExpressions {
		fitKey(w.Labels, selector, r.Key)
	}
	return in
}

// fitKey gives a key the value that it has already, or the first other value that meets all
// requirements about it. It changes nothing where there is none.
func fitKey(set map[string]string, s *LabelSelector, key string) {
	without := maps.Clone(set)
	delete(without, key)
	if s.meets(set, key) {
		return
	}
	candidates := []map[string]string{without}
	var values, refused []string
	for _, r := range s.MatchExpressions {
		if r.Key == key && r.Operator == "In" {
			values = append(values, r.Values...)
		}
		refused = append(refused, r.Values...)
	}
	for _, value := range append([]string{labelselector.OtherThan(refused)}, values...) {
		with := maps.Clone(set)
		with[key] = value
		candidates = append(candidates, with)
	}
	for _, c := range candidates {
		if s.meets(c, key) {
			clear(set)
			maps.Copy(set, c)
			return
		}
	}
}

// meets reports whether labels meet the requirements about a key.
func (s *LabelSelector) meets(set map[string]string, key string) bool {
	value, exists := set[key]
	if want, ok := s.MatchLabels[key]; ok && (!exists || value != want) {
		return false
	}
	return !slices.ContainsFunc(s.MatchExpressions, func(r Requirement) bool {
		if r.Key != key {
			return false
		}
		listed := exists && slices.Contains(r.Values, value)
		return !map[string]bool{"In": listed, "NotIn": !listed, "Exists": exists, "DoesNotExist": !exists}[r.Operator]
	})
}

// vary returns an inbound for each value of a label that the expressions list, for one that
// they do not list, and for the lack of the label.
func vary(s *LabelSelector, in policy.Inbound) (out []policy.Inbound) {
	for _, r := range s.MatchExpressions {
		without := in
		without.Workload.Labels = maps.Clone(in.Workload.Labels)
		delete(without.Workload.Labels, r.Key)
		out = append(out, without)
		// A label may have the empty value, which is not the lack of it.
		for _, value := range append(slices.Clone(r.Values), labelselector.OtherThan(r.Values)) {
			varied := in
			varied.Workload.Labels = map[string]string{r.Key: value}
			maps.Copy(varied.Workload.Labels, without.Workload.Labels)
			out = append(out, varied)
		}
	}
	return out
}
