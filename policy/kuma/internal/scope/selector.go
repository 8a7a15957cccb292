// Package scope says whether a policy applies to a proxy, and how strong it is among the
// others that do: by its targetRef, its mesh, zone, namespace and role.
//
// It guarantees that a policy that does not apply has its reason. It reads no rule.
package scope

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// Selector is what of a policy decides whether the policy applies, and how strong it is.
type Selector struct {
	Resource *resource.Resource
	Target   *target.Target
	// Role is one of [resource.Roles].
	Role string
}

// Miss says why the policy does not apply to the inbound, nil where it does.
func (s Selector) Miss(in *policy.Inbound) capability.Reason {
	return capability.FirstMiss(s.Misses(in))
}

// Misses are the requirements of the policy that the inbound does not meet, in the order in which they are checked.
func (s Selector) Misses(in *policy.Inbound) iter.Seq[capability.Miss] {
	return func(yield func(capability.Miss) bool) { s.eachMiss(in, yield) }
}

func (s Selector) eachMiss(in *policy.Inbound, yield func(capability.Miss) bool) {
	id, w := s.Resource.ID, &in.Workload
	mesh, namespace := cmp.Or(w.Mesh, resource.DefaultMesh), cmp.Or(w.Namespace, resource.DefaultNamespace)
	if s.Resource.Labels[resource.LabelEffect] == resource.EffectShadow && !yield(capability.Miss{Reason: capability.ReasonOf("the label kuma.io/effect makes it a shadow policy")}) {
		return
	}
	if id.Mesh != mesh && !yield(capability.PlaceMiss("mesh", id.Mesh, mesh)) {
		return
	}
	if s.Role != resource.RoleProducer && w.Origin == resource.OriginZone && s.Resource.Labels[resource.LabelOrigin] == resource.OriginZone && !isOneZone(id.Zone, w.Zone) &&
		!yield(capability.PlaceMiss("zone", id.Zone, w.Zone)) {
		return
	}
	if (s.Role == resource.RoleConsumer || s.Role == resource.RoleOwner) && id.Namespace != namespace &&
		!yield(capability.PlaceMiss("namespace", id.Namespace, namespace)) {
		return
	}
	if s.ownName() && id.Namespace != namespace && !yield(differs(id.Namespace, namespace, func() string {
		return fmt.Sprintf("targetRef.name names a Dataplane of the policy's own namespace %q, the workload is of namespace %q", id.Namespace, namespace)
	})) {
		return
	}
	if s.names() && !s.Resource.MayNameDataplane(w.Zone) && !yield(differs(id.Zone, w.Zone, s.otherZone(w.Zone))) {
		return
	}
	if s.Target.Kind > target.Dataplane {
		eachLegacyMiss(s.Target, in, yield)
	} else {
		eachTargetMiss(s.Target, in, yield)
	}
}

// differs is the miss of an inbound that has another value than the policy wants.
func differs(wanted, found string, reason capability.Reason) capability.Miss {
	return capability.Miss{Reason: reason, Wanted: wanted, Found: found}
}

// isOneZone reports whether a policy and a workload are of one zone. As in Kuma, one of both that states no zone is of
// the zone of the control plane, and so of the zone of the other.
func isOneZone(a, b string) bool { return a == "" || b == "" || a == b }

// names reports whether the target names a Dataplane, which is one of the policy's own zone.
func (s Selector) names() bool { return s.Target.Kind == target.Dataplane && s.Target.Name != "" }

// ownName reports whether the target names a Dataplane, which on Kubernetes is one of the policy's own namespace: a
// policy of the system names none of another.
func (s Selector) ownName() bool { return s.names() && !s.Resource.Universal }

// otherZone says why the target does not name a Dataplane of a zone.
func (s Selector) otherZone(zone string) capability.Reason {
	if s.Resource.IsGlobal() {
		return capability.ReasonOf("targetRef.name names a Dataplane of the policy's own zone, and a global policy has none: select by labels")
	}
	return func() string {
		return fmt.Sprintf("targetRef.name names a Dataplane of the policy's own zone %q, the workload is of zone %q: select by labels", s.Resource.ID.Zone, zone)
	}
}

// eachTargetMiss is [Selector.Misses] for the targetRef.
func eachTargetMiss(t *target.Target, in *policy.Inbound, yield func(capability.Miss) bool) {
	if got := in.Workload.Name; t.Name != "" && t.Name != got && !yield(differs(t.Name, got, func() string { return fmt.Sprintf("targetRef.name is %q", t.Name) })) {
		return
	}
	for _, want := range t.Labels {
		if got := WorkloadLabel(&in.Workload, want.Key); got != want.Value && !yield(differs(want.Value, got, func() string {
			return fmt.Sprintf("targetRef.labels asks for %s=%q, the workload has %s", want.Key, want.Value, orNone(got))
		})) {
			return
		}
	}
	if t.Section != "" && t.Section != in.Section() {
		got := in.Section()
		yield(differs(t.Section, got, func() string { return fmt.Sprintf("targetRef.sectionName is %q, the inbound's is %q", t.Section, got) }))
	}
}

// orNone quotes the value of a label or a tag.
func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return strconv.Quote(value)
}

// eachLegacyMiss is [Selector.Misses] for a targetRef of the legacy kinds.
func eachLegacyMiss(t *target.Target, in *policy.Inbound, yield func(capability.Miss) bool) {
	if t.Kind == target.Route {
		if in.Protocol.Layer() == policy.L4 {
			yield(capability.Miss{Reason: func() string {
				return fmt.Sprintf("targetRef names the route %q, but a tcp inbound has no routes", t.Name)
			}})
		} else if !slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == t.Name }) {
			yield(capability.Miss{Reason: func() string {
				return fmt.Sprintf("targetRef names the route %q, which the inbound does not have", t.Name)
			}})
		}
		return
	}
	for _, want := range t.Labels {
		if got, owner := InboundTag(in, want.Key); got != want.Value && !yield(differs(want.Value, got, func() string {
			return fmt.Sprintf("targetRef asks for %s=%q, the %s has %s", want.Key, want.Value, owner, orNone(got))
		})) {
			return
		}
	}
}

// WorkloadLabel returns a label of the workload. Where the workload lacks the label, it
// is the value that a control plane would compute. None computes the display name of a workload
// without a namespace, as a Dataplane in universal form is.
func WorkloadLabel(w *policy.Workload, label string) string {
	if value, ok := w.Labels[label]; ok {
		return value
	}
	switch label {
	case resource.LabelDisplayName:
		if w.Namespace == "" {
			return ""
		}
		return w.Name
	case resource.LabelMesh:
		return cmp.Or(w.Mesh, resource.DefaultMesh)
	case resource.LabelZone:
		return w.Zone
	case resource.LabelOrigin:
		return w.Origin
	case resource.LabelNamespace:
		return w.Namespace
	}
	return ""
}

// InboundTag returns a tag of the inbound, and of its workload where the inbound lacks
// it. The owner is "inbound" or "workload".
func InboundTag(in *policy.Inbound, key string) (value, owner string) {
	if value, ok := in.Tags[key]; ok {
		return value, "inbound"
	}
	return workloadTag(&in.Workload, key), "workload"
}

// workloadTag returns a tag of the workload. The default of the service is the name of
// the workload.
func workloadTag(w *policy.Workload, key string) string {
	if key == target.TagService && w.Labels[key] == "" {
		return w.Name
	}
	return WorkloadLabel(w, key)
}
