package mistake

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Selection is how policies are selected for an inbound.
type Selection struct {
	// Inbound is the one that a mistake takes for another.
	Inbound policy.Inbound
	// OtherInbounds are the other inbounds that there are.
	OtherInbounds []policy.Inbound
	// Namespaces are those of the policies.
	Namespaces []string
	// Policies are the names of the policies, and of other documents that belong to them.
	Policies []string
	// Texts are all texts of the policies, among them those that they select by.
	Texts []string
	// Program selects the policies of an inbound.
	Program func(policy.Inbound) policy.Program
	// ProgramWithout selects the policies of the inbound without the one at an index. It returns false where the others
	// have no meaning.
	ProgramWithout func(i int) (policy.Program, bool)
}

// InSelection makes the mistakes in the selection of the policies of an inbound. Some of them change no decision.
func InSelection(s Selection) []Mistake {
	var out []Mistake
	as := func(k Kind, where string, in policy.Inbound) {
		out = append(out, Mistake{Kind: k, Where: where, Program: s.Program(in)})
	}
	for i := range ends(len(s.Policies)) {
		if program, ok := s.ProgramWithout(i); ok {
			out = append(out, Mistake{Kind: PolicyLost, Where: s.Policies[i], Program: program})
		}
	}
	for _, other := range s.OtherInbounds {
		in := s.Inbound
		if other.Workload.Name == in.Workload.Name && other.Workload.Namespace == in.Workload.Namespace {
			in.Name, in.Port = other.Name, other.Port
			as(OtherSection, "those of "+other.String(), in)
			continue
		}
		in.Workload, in.Tags = other.Workload, other.Tags
		as(OtherWorkload, "those of "+other.Workload.Name, in)
	}
	unnamed := s.Inbound
	unnamed.Name, unnamed.Port = "", s.Inbound.Port%math.MaxUint16+1
	as(OtherSection, fmt.Sprintf("those of port %d", unnamed.Port), unnamed)
	for _, namespace := range s.Namespaces {
		if in := s.Inbound; in.Workload.Namespace != namespace {
			in.Workload.Namespace = namespace
			as(OtherNamespace, "those of "+namespace, in)
		}
	}
	for where, in := range s.beginnings {
		as(LabelBeginning, where, in)
	}
	return limitKinds(out)
}

// beginnings yields the inbound with a label, a tag or a name of which a text of the policies is the beginning cut to that text.
func (s Selection) beginnings(yield func(where string, in policy.Inbound) bool) {
	for _, text := range slices.Compact(slices.Sorted(slices.Values(s.Texts))) {
		begins := func(whole string) bool { return text != "" && text != whole && strings.HasPrefix(whole, text) }
		if in := s.Inbound; begins(in.Workload.Name) {
			in.Workload.Name = text
			if !yield("the name "+text, in) {
				return
			}
		}
		for _, field := range []func(*policy.Inbound) *map[string]string{
			func(in *policy.Inbound) *map[string]string { return &in.Workload.Labels },
			func(in *policy.Inbound) *map[string]string { return &in.Tags },
		} {
			in := s.Inbound
			labels := field(&in)
			for _, key := range slices.Sorted(maps.Keys(*labels)) {
				if !begins((*labels)[key]) {
					continue
				}
				cut := in
				of := field(&cut)
				*of = maps.Clone(*labels)
				(*of)[key] = text
				if !yield(key+"="+text, cut) {
					return
				}
			}
		}
	}
}
