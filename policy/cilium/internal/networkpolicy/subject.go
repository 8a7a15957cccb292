package networkpolicy

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/labelselector"
)

// subject is what a selector of endpoints, or of nodes, asks for, alike for two that ask for the same in another
// way of writing.
type subject struct {
	// namespace is that of the policy, "" for a clusterwide one. Selectors of peers mean workloads of it.
	namespace    string
	nodes        bool
	requirements []requirement
}

// subjectOf returns the subject of a spec.
func (p Policy) subjectOf(s *Spec) subject {
	out := subject{namespace: p.resource.Metadata.Namespace, nodes: s.EndpointSelector == nil}
	from := cmp.Or(s.EndpointSelector, s.NodeSelector, &Selector{})
	ask := func(written, operator string, values []string) {
		source, key := sourceOf(written)
		if source == sourceReserved {
			key = written
		}
		out.requirements = append(out.requirements, requirement{key: key, operator: operator, values: slices.Sorted(slices.Values(values))})
	}
	selector := *from
	if out.namespace != "" {
		// Cilium puts the policy's own namespace in the place of another one.
		selector.MatchLabels = maps.Clone(selector.MatchLabels)
		delete(selector.MatchLabels, sourceK8s+":"+namespaceLabel)
		ask(namespaceLabel, labelselector.In, []string{out.namespace})
	}
	for _, e := range selector.Requirements() {
		ask(e.Key, e.Operator, e.Values)
	}
	return out
}

// texts returns what the selector asks for, in order, each once.
func (s subject) texts() (out []string) {
	for _, r := range s.requirements {
		out = append(out, r.wants())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// String says which endpoints the subject has.
func (s subject) String() string {
	kind := "endpoint"
	if s.nodes {
		kind = "node"
	}
	if len(s.requirements) == 0 {
		return "every " + kind
	}
	return "each " + kind + " with " + strings.Join(s.texts(), ", ")
}

// ofRule says which endpoints a rule is about, and whose peers it means.
func (s subject) ofRule() string {
	if s.namespace == "" {
		return " for " + s.String() + ", clusterwide"
	}
	return " for " + s.String()
}

// covers reports whether the subject surely has each endpoint of another one: whatever it asks for, the other one asks for
// that too, or for less values.
func (s subject) covers(o subject) bool {
	return s.nodes == o.nodes && !slices.ContainsFunc(s.requirements, func(r requirement) bool {
		return !slices.ContainsFunc(o.requirements, r.follows)
	})
}

// follows reports whether each endpoint that meets another requirement surely meets this one.
func (r requirement) follows(from requirement) bool {
	lists := func(value string) bool {
		return labelselector.Expression{Operator: r.operator, Values: r.values}.Meets(value, true)
	}
	switch {
	case from.key != r.key:
		return false
	case from.wants() == r.wants():
		return true
	case from.operator == labelselector.In:
		return !slices.ContainsFunc(from.values, func(value string) bool { return !lists(value) })
	case from.operator == labelselector.NotIn && r.operator == labelselector.NotIn:
		return !slices.ContainsFunc(r.values, func(value string) bool { return !slices.Contains(from.values, value) })
	default:
		return false
	}
}

// isApart reports whether the two surely have no endpoint in common: no value of a label is good for both. An
// endpoint has one value of each label.
func (s subject) isApart(o subject) bool {
	if s.nodes || o.nodes {
		return false
	}
	both := slices.Concat(s.requirements, o.requirements)
	return slices.ContainsFunc(both, func(named requirement) bool {
		return named.operator == labelselector.In && !slices.ContainsFunc(named.values, func(value string) bool {
			return !slices.ContainsFunc(both, func(r requirement) bool {
				return r.key == named.key && !labelselector.Expression{Operator: r.operator, Values: r.values}.Meets(value, true)
			})
		})
	})
}
