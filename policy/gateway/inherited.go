package gateway

import "github.com/meshproof/meshproof/policy"

// Inherited is one line of what gwctl is to tell of a pod (GEP-3779, "Enhanced
// Discoverability"): a policy that the pod is subject to, and by which target.
type Inherited struct {
	// Type is the kind of the policy, and Name its name.
	Type, Name string
	// TargetKind is the kind of the target, and Target the expression that selects
	// the pod, as in "Selector={app: backend}".
	TargetKind, Target string
}

// InheritedPolicies returns the policies that select the pod, in the order of
// their names.
func InheritedPolicies(ps []Policy, pod policy.Workload) []Inherited {
	var out []Inherited
	for _, p := range Select(ps, policy.Inbound{Workload: pod}).Policies {
		target := p.resource.Spec.TargetRefs[0]
		out = append(out, Inherited{
			Type: p.resource.Kind, Name: p.resource.Metadata.Name,
			TargetKind: target.Kind, Target: "Selector=" + target.Selector.expression(),
		})
	}
	return out
}
