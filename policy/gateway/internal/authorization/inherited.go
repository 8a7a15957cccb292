package authorization

import (
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

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
