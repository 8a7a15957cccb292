package authorization

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// Selection is what applies to one inbound, and what does not.
type Selection struct {
	// Policies are in the order of their names.
	Policies []Policy
	Ignored  []Ignored
}

// Ignored is a policy that does not apply, with the reason.
type Ignored struct {
	Policy Policy
	Reason string
}

// Select returns the policies that apply to the workload of the inbound. A policy
// applies to all inbounds of a workload or to none. Ignored keeps the order of ps;
// nothing else of the result depends on it.
func Select(ps []Policy, in policy.Inbound) Selection {
	var sel Selection
	for _, p := range ps {
		if reason := p.missReason(in.Workload); reason != "" {
			sel.Ignored = append(sel.Ignored, Ignored{Policy: p, Reason: reason})
			continue
		}
		sel.Policies = append(sel.Policies, p)
	}
	slices.SortStableFunc(sel.Policies, func(a, b Policy) int { return strings.Compare(a.String(), b.String()) })
	return sel
}

// missReason says why the policy does not apply to the workload, "" where it does.
func (p Policy) missReason(w policy.Workload) string {
	if p.selector == nil {
		return "it has no target"
	}
	if own, theirs := p.resource.Metadata.Namespace, cmp.Or(w.Namespace, defaultNamespace); own != theirs {
		return fmt.Sprintf("it is of namespace %q, the workload of namespace %q", own, theirs)
	}
	requirements, _ := p.selector.Requirements()
	for _, r := range requirements {
		if !r.Matches(labels.Set(w.Labels)) {
			return fmt.Sprintf("its selector asks for %s, the workload has %s", phrase(r), quoteLabel(w.Labels, r.Key()))
		}
	}
	return ""
}

// phrase names a requirement in a reason.
func phrase(r labels.Requirement) string {
	values := r.ValuesUnsorted()
	slices.Sort(values)
	switch r.Operator() {
	case selection.Exists:
		return fmt.Sprintf("any label %q", r.Key())
	case selection.DoesNotExist:
		return fmt.Sprintf("no label %q", r.Key())
	case selection.NotIn:
		return fmt.Sprintf("a label %q that is none of %q", r.Key(), values)
	case selection.In:
		return fmt.Sprintf("a label %q that is one of %q", r.Key(), values)
	default:
		return fmt.Sprintf("the label %q with value %q", r.Key(), values[0])
	}
}

// quoteLabel returns a label of the workload in quotes, or "none".
func quoteLabel(set map[string]string, key string) string {
	if value, ok := set[key]; ok {
		return fmt.Sprintf("%q", value)
	}
	return "none"
}

// InheritedPolicies returns the policies that select the pod, in the order of their
// names, as gwctl lists them (GEP-3779, "Enhanced Discoverability").
func InheritedPolicies(ps []Policy, pod policy.Workload) []capability.Inherited {
	var out []capability.Inherited
	for _, p := range Select(ps, policy.Inbound{Workload: pod}).Policies {
		target := p.resource.Spec.TargetRefs[0]
		out = append(out, capability.Inherited{
			Type: p.resource.Kind, Name: p.resource.Metadata.Name,
			TargetKind: target.Kind, Target: "Selector=" + target.Selector.expression(),
		})
	}
	return out
}
