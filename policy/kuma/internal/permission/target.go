package permission

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
	kind targetKind
	name string
	// labels are sorted by key, for the reason to name the same one every time. The
	// legacy kinds have their tags here.
	labels  []label
	section string
}

// targetKind is a kind of targetRef; the kinds are numbered by rising weight.
type targetKind uint8

const (
	wholeMesh targetKind = iota
	dataplane
	meshSubset
	meshService
	meshServiceSubset
	route
)

type label struct{ key, value string }

const targetField = "spec.targetRef"

// parseTarget reads the targetRef of a policy; more kinds are known where it has
// the legacy from.
func parseTarget(doc manifest.Document, ref *targetSchema, legacy bool) (target, error) {
	if ref == nil {
		return target{}, nil
	}
	if legacy && ref.Kind != "" && ref.Kind != "Dataplane" {
		return parseLegacyTarget(doc, *ref)
	}
	if ref.Tags != nil {
		return target{}, doc.Errorf(targetField+".tags", "must not be set with rules or default, nor with kind Dataplane: select by labels")
	}
	switch ref.Kind {
	case "", "Mesh":
		return target{}, checkMesh(doc, targetField, *ref)
	case "Dataplane":
		if ref.Name != "" && len(ref.Labels) > 0 {
			return target{}, doc.Errorf(targetField+".labels", "must not be set beside name: select by one of them")
		}
		t := target{kind: dataplane, name: ref.Name, section: ref.SectionName}
		t.labels = sortedLabels(ref.Labels)
		return t, nil
	default:
		return target{}, doc.Errorf(targetField+".kind", "kind %q is not supported: use Mesh or Dataplane", ref.Kind)
	}
}

func sortedLabels(labels map[string]string) []label {
	var out []label
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, label{key, labels[key]})
	}
	return out
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
	if t.kind > dataplane {
		return t.legacyMisses(in)
	}
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
