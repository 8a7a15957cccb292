package permission

import (
	"slices"

	"github.com/meshproof/meshproof/policy/manifest"
)

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
