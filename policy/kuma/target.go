package kuma

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// target is the top-level targetRef; the zero value selects every inbound.
type target struct {
	dataplane bool
	name      string
	// labels are sorted by key, for the reason to name the same one every time.
	labels  []label
	section string
}

type label struct{ key, value string }

func parseTarget(doc manifest.Document, ref *targetSchema) (target, error) {
	const field = "spec.targetRef"
	if ref == nil {
		return target{}, nil
	}
	switch ref.Kind {
	case "", "Mesh":
		return target{}, checkMesh(doc, field, *ref)
	case "Dataplane":
		if ref.Name != "" && len(ref.Labels) > 0 {
			return target{}, doc.Errorf(field+".labels", "must not be set beside name: select by one of them")
		}
		t := target{dataplane: true, name: ref.Name, section: ref.SectionName}
		for _, key := range slices.Sorted(maps.Keys(ref.Labels)) {
			t.labels = append(t.labels, label{key, ref.Labels[key]})
		}
		return t, nil
	default:
		return target{}, doc.Errorf(field+".kind", "kind %q is not supported: use Mesh or Dataplane", ref.Kind)
	}
}

// checkMesh refuses a selection among the workloads of a mesh. No kind means the
// mesh only where nothing else is said either.
func checkMesh(doc manifest.Document, field string, ref targetSchema) error {
	for _, part := range []struct {
		key string
		set bool
	}{{"name", ref.Name != ""}, {"labels", ref.Labels != nil}, {"sectionName", ref.SectionName != ""}} {
		switch {
		case !part.set:
		case ref.Kind == "":
			return doc.Errorf(field+".kind", "the kind is missing: use Mesh or Dataplane")
		default:
			return doc.Errorf(field+"."+part.key, "must not be set with kind Mesh: use kind Dataplane")
		}
	}
	return nil
}

// misses returns why the target does not select the inbound, "" if it does.
func (t *target) misses(in *policy.Inbound) string {
	if t.name != "" && t.name != in.Workload.Name {
		return fmt.Sprintf("targetRef.name is %q", t.name)
	}
	for _, want := range t.labels {
		if got := workloadLabel(&in.Workload, want.key); got != want.value {
			return fmt.Sprintf("targetRef.labels asks for %s=%q, the workload has %q", want.key, want.value, got)
		}
	}
	if t.section != "" && t.section != in.Section() {
		return fmt.Sprintf("targetRef.sectionName is %q, the inbound's is %q", t.section, in.Section())
	}
	return ""
}

// workloadLabel returns a label of the workload, or what a control plane puts
// into one that the workload does not carry itself.
func workloadLabel(w *policy.Workload, label string) string {
	if value, ok := w.Labels[label]; ok {
		return value
	}
	switch label {
	case labelDisplayName:
		return w.Name
	case labelMesh:
		return cmp.Or(w.Mesh, defaultMesh)
	case labelZone:
		return w.Zone
	case labelOrigin:
		return w.Origin
	case labelNamespace:
		return w.Namespace
	}
	return ""
}
