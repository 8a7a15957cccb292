package authorization

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/object"
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

// Select returns the policies that apply to the workload of the inbound. A policy applies to
// all inbounds of a workload or to none. Ignored keeps the order of ps; nothing else of the
// result depends on it.
func Select(ps []Policy, in policy.Inbound, opts Options) Selection {
	var sel Selection
	for _, p := range ps {
		if reason := p.missReason(in.Workload, opts); reason != "" {
			sel.Ignored = append(sel.Ignored, Ignored{Policy: p, Reason: reason})
			continue
		}
		sel.Policies = append(sel.Policies, p)
	}
	slices.SortStableFunc(sel.Policies, func(a, b Policy) int { return strings.Compare(a.String(), b.String()) })
	return sel
}

// missReason says why the policy does not apply to the workload, "" where it does.
func (p Policy) missReason(w policy.Workload, opts Options) string {
	return capability.FirstMiss(p.reach(opts).Misses(w))
}

// reach is which workloads the policy is about.
func (p Policy) reach(opts Options) object.Reach {
	return object.Reach{Namespace: p.resource.Metadata.Namespace, Root: opts.RootNamespace, Labels: p.labels()}
}

// labels are the labels that the policy selects by.
func (p Policy) labels() map[string]string { return p.resource.Spec.Selector.Labels() }
