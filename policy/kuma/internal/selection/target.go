package selection

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// targetMissReason says why the target does not select the inbound, "" where it does.
func targetMissReason(t *permission.Target, in *policy.Inbound) string {
	if t.Kind > permission.Dataplane {
		return legacyMissReason(t, in)
	}
	if t.Name != "" && t.Name != in.Workload.Name {
		return fmt.Sprintf("targetRef.name is %q", t.Name)
	}
	for _, want := range t.Labels {
		if got := workloadLabel(&in.Workload, want.Key); got != want.Value {
			return fmt.Sprintf("targetRef.labels asks for %s=%q, the workload has %q", want.Key, want.Value, got)
		}
	}
	if t.Section != "" && t.Section != in.Section() {
		return fmt.Sprintf("targetRef.sectionName is %q, the inbound's is %q", t.Section, in.Section())
	}
	return ""
}

// workloadLabel returns a label of the workload. Where the workload lacks the label, it
// is the value that a control plane would compute.
func workloadLabel(w *policy.Workload, label string) string {
	if value, ok := w.Labels[label]; ok {
		return value
	}
	switch label {
	case permission.LabelDisplayName:
		return w.Name
	case permission.LabelMesh:
		return cmp.Or(w.Mesh, permission.DefaultMesh)
	case permission.LabelZone:
		return w.Zone
	case permission.LabelOrigin:
		return w.Origin
	case permission.LabelNamespace:
		return w.Namespace
	}
	return ""
}

func legacyMissReason(t *permission.Target, in *policy.Inbound) string {
	if t.Kind == permission.Route {
		if in.Protocol.Layer() == policy.L4 {
			return fmt.Sprintf("targetRef names the route %q, but a tcp inbound has no routes", t.Name)
		}
		if !slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == t.Name }) {
			return fmt.Sprintf("targetRef names the route %q, which the inbound does not have", t.Name)
		}
		return ""
	}
	for _, want := range t.Labels {
		if got, owner := inboundTag(in, want.Key); got != want.Value {
			return fmt.Sprintf("targetRef asks for %s=%q, the %s has %q", want.Key, want.Value, owner, got)
		}
	}
	return ""
}

// inboundTag returns a tag of the inbound, and of its workload where the inbound lacks
// it. The owner is "inbound" or "workload".
func inboundTag(in *policy.Inbound, key string) (value, owner string) {
	if value, ok := in.Tags[key]; ok {
		return value, "inbound"
	}
	return workloadTag(&in.Workload, key), "workload"
}

// workloadTag returns a tag of the workload. The default of the service is the name of
// the workload.
func workloadTag(w *policy.Workload, key string) string {
	if key == permission.TagService && w.Labels[key] == "" {
		return w.Name
	}
	return workloadLabel(w, key)
}
