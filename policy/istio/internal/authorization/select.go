package authorization

import (
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/object"
)

// Selection is what applies to one inbound, and what does not.
type Selection struct {
	// Policies are in the order of their names.
	Policies []Policy
	// Ignored writes a line for each policy that does not apply.
	Ignored []capability.Reason
}

// Select returns the policies that apply to the workload of the inbound. A policy applies to
// all inbounds of a workload or to none. Ignored keeps the order of ps; nothing else of the
// result depends on it.
func Select(ps []Policy, in policy.Inbound, opts Options) Selection {
	selected, ignored := policylist.Select(ps, func(p Policy) capability.Reason { return p.missReason(in.Workload, opts) })
	return Selection{selected, ignored}
}

// missReason says why the policy does not apply to the workload, nil where it does.
func (p Policy) missReason(w policy.Workload, opts Options) capability.Reason {
	return capability.FirstMiss(p.reach(opts).Misses(w))
}

// reach is which workloads the policy is about.
func (p Policy) reach(opts Options) object.Reach {
	return object.Reach{Namespace: p.resource.Metadata.Namespace, Root: opts.RootNamespace, Labels: p.labels()}
}

// labels are the labels that the policy selects by.
func (p Policy) labels() map[string]string { return p.resource.Spec.Selector.Labels() }
