package permission

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

var legacyKinds = map[string]targetKind{
	"MeshSubset": meshSubset, "MeshService": meshService, "MeshServiceSubset": meshServiceSubset, "MeshHTTPRoute": route, "MeshGatewayRoute": route,
}

// parseLegacyTarget reads a targetRef by kind that is not Dataplane. A service is
// kept as a tag, which it is of the workloads it selects.
func parseLegacyTarget(doc manifest.Document, ref targetSchema) (target, error) {
	for _, part := range []struct {
		key string
		set bool
	}{{"labels", ref.Labels != nil}, {"sectionName", ref.SectionName != ""}} {
		if part.set {
			return target{}, doc.Errorf(targetField+"."+part.key, "must not be set with kind %s: use kind Dataplane", ref.Kind)
		}
	}
	kind, known := legacyKinds[ref.Kind]
	switch {
	case ref.Kind == "Mesh":
		return target{}, subsetKinds[ref.Kind].check(doc, targetField, ref.Kind, ref.Name, ref.Tags)
	case !known:
		return target{}, doc.Errorf(targetField+".kind", "kind %q is not supported: use Mesh, MeshSubset, MeshService, MeshServiceSubset, Dataplane, MeshHTTPRoute or MeshGatewayRoute", ref.Kind)
	case kind == route && ref.Name == "":
		return target{}, doc.Errorf(targetField+".name", "the name is missing: kind %s names a route", ref.Kind)
	case kind == route && ref.Tags != nil:
		return target{}, doc.Errorf(targetField+".tags", "must not be set with kind %s", ref.Kind)
	case kind == route:
		return target{kind: route, name: ref.Name}, nil
	}
	if err := subsetKinds[ref.Kind].check(doc, targetField, ref.Kind, ref.Name, ref.Tags); err != nil {
		return target{}, err
	}
	t := target{kind: kind, labels: sortedLabels(ref.Tags)}
	if ref.Name != "" {
		t.labels = slices.Insert(t.labels, 0, label{tagService, ref.Name})
	}
	return t, nil
}

func (t *target) legacyMisses(in *policy.Inbound) string {
	if t.kind == route {
		if in.Protocol.Layer() == policy.L4 {
			return fmt.Sprintf("targetRef names the route %q, but a tcp inbound has no routes", t.name)
		}
		if !slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == t.name }) {
			return fmt.Sprintf("targetRef names the route %q, which the inbound does not have", t.name)
		}
		return ""
	}
	for _, want := range t.labels {
		if got, owner := inboundTag(in, want.key); got != want.value {
			return fmt.Sprintf("targetRef asks for %s=%q, the %s has %q", want.key, want.value, owner, got)
		}
	}
	return ""
}

// inboundTag returns a tag of the inbound, or of its workload where the inbound
// lacks it, and whose it is.
func inboundTag(in *policy.Inbound, key string) (value, owner string) {
	if value, ok := in.Tags[key]; ok {
		return value, "inbound"
	}
	return workloadTag(&in.Workload, key), "workload"
}

// workloadTag returns a tag of the workload; its service is named like itself
// where it does not say so.
func workloadTag(w *policy.Workload, key string) string {
	if key == tagService && w.Labels[key] == "" {
		return w.Name
	}
	return workloadLabel(w, key)
}

// Route returns the name of the route that the top-level targetRef asks for, ""
// where the policy does not ask for one.
func (p Policy) Route() string {
	if p.target.kind != route {
		return ""
	}
	return p.target.name
}
