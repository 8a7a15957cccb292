package permission

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Target is the top-level targetRef. The zero value selects every inbound.
type Target struct {
	Kind targetKind
	Name string
	// Labels are sorted by key, so that a reason names the same label every time. The
	// legacy kinds have their tags here.
	Labels  []Label
	Section string
}

// targetKind is a kind of targetRef. A heavier kind has a greater number.
type targetKind uint8

const (
	wholeMesh targetKind = iota
	Dataplane
	meshSubset
	meshService
	meshServiceSubset
	Route
)

type Label struct{ Key, Value string }

const targetField = "spec.targetRef"

// parseTarget reads the targetRef of a policy. The legacy form has more kinds.
func parseTarget(doc manifest.Document, ref *targetSchema, legacy bool) (Target, error) {
	if ref == nil {
		return Target{}, nil
	}
	if legacy && ref.Kind != "" && ref.Kind != "Dataplane" {
		return parseLegacyTarget(doc, *ref)
	}
	if ref.Tags != nil {
		return Target{}, doc.Errorf(targetField+".tags", "must not be set with rules or default, nor with kind Dataplane: select by labels")
	}
	switch ref.Kind {
	case "", "Mesh":
		return Target{}, checkMesh(doc, targetField, *ref)
	case "Dataplane":
		if ref.Name != "" && len(ref.Labels) > 0 {
			return Target{}, doc.Errorf(targetField+".labels", "must not be set beside name: select by one of them")
		}
		t := Target{Kind: Dataplane, Name: ref.Name, Section: ref.SectionName}
		t.Labels = sortedLabels(ref.Labels)
		return t, nil
	default:
		return Target{}, doc.Errorf(targetField+".kind", "kind %q is not supported: use Mesh or Dataplane", ref.Kind)
	}
}

func sortedLabels(labels map[string]string) []Label {
	var out []Label
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, Label{key, labels[key]})
	}
	return out
}

// checkMesh refuses fields that select among the workloads of a mesh. A targetRef
// without a kind means the mesh, and then it has to be empty.
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

var legacyKinds = map[string]targetKind{
	"MeshSubset": meshSubset, "MeshService": meshService, "MeshServiceSubset": meshServiceSubset, "MeshHTTPRoute": Route, "MeshGatewayRoute": Route,
}

// parseLegacyTarget reads a targetRef of another kind than Dataplane. The name of a
// service is kept as a tag: the workloads have it as one.
func parseLegacyTarget(doc manifest.Document, ref targetSchema) (Target, error) {
	for _, part := range []struct {
		key string
		set bool
	}{{"labels", ref.Labels != nil}, {"sectionName", ref.SectionName != ""}} {
		if part.set {
			return Target{}, doc.Errorf(targetField+"."+part.key, "must not be set with kind %s: use kind Dataplane", ref.Kind)
		}
	}
	kind, known := legacyKinds[ref.Kind]
	switch {
	case ref.Kind == "Mesh":
		return Target{}, subsetKinds[ref.Kind].check(doc, targetField, ref.Kind, ref.Name, ref.Tags)
	case !known:
		return Target{}, doc.Errorf(targetField+".kind", "kind %q is not supported: use Mesh, MeshSubset, MeshService, MeshServiceSubset, Dataplane, MeshHTTPRoute or MeshGatewayRoute", ref.Kind)
	case kind == Route && ref.Name == "":
		return Target{}, doc.Errorf(targetField+".name", "the name is missing: kind %s names a route", ref.Kind)
	case kind == Route && ref.Tags != nil:
		return Target{}, doc.Errorf(targetField+".tags", "must not be set with kind %s", ref.Kind)
	case kind == Route:
		return Target{Kind: Route, Name: ref.Name}, nil
	}
	if err := subsetKinds[ref.Kind].check(doc, targetField, ref.Kind, ref.Name, ref.Tags); err != nil {
		return Target{}, err
	}
	t := Target{Kind: kind, Labels: sortedLabels(ref.Tags)}
	if ref.Name != "" {
		t.Labels = slices.Insert(t.Labels, 0, Label{TagService, ref.Name})
	}
	return t, nil
}
