// Package reference reads references from one resource to others, and finds the resources
// that are meant: the destinations of a route, its backends, and what a timeout is for.
//
// It guarantees that a reference names a kind that is known at its place, and that a refusal
// names file, line and field. Whether a resource exists is the caller's business: a reference
// to nothing is legal.
package reference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Ref is a reference, by name or by labels.
type Ref struct {
	Kind            string
	Name, Namespace string
	// Labels are what every resource that is meant has. They are nil for a reference by name.
	Labels map[string]string
	// Section is the name or the number of a port.
	Section string
	// Field is the path of the reference in its document.
	Field string
}

// Schema is the schema of a reference.
type Schema struct {
	Kind        string            `yaml:"kind"`
	Name        string            `yaml:"name"`
	Namespace   string            `yaml:"namespace"`
	Labels      map[string]string `yaml:"labels"`
	SectionName string            `yaml:"sectionName"`
}

// Mesh is the kind that means the whole mesh.
const Mesh = "Mesh"

// Kind is a kind that a reference may name, and whether it takes a sectionName.
type Kind struct {
	Name     string
	Sections bool
}

// Parse reads a reference to one of the kinds. Of two labels and a name, one is required.
func Parse(doc manifest.Document, field string, schema Schema, kinds ...Kind) (Ref, error) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == schema.Kind })
	if i < 0 {
		names := make([]string, len(kinds))
		for k := range kinds {
			names[k] = kinds[k].Name
		}
		if schema.Kind == "" {
			return Ref{}, doc.Errorf(field+".kind", "the kind is missing: use one of %s", strings.Join(names, ", "))
		}
		return Ref{}, doc.Errorf(field+".kind", "kind %q is not supported here: use one of %s", schema.Kind, strings.Join(names, ", "))
	}
	ref := Ref{Kind: schema.Kind, Name: schema.Name, Namespace: schema.Namespace, Labels: maps.Clone(schema.Labels), Section: schema.SectionName, Field: field}
	for _, part := range []struct {
		key  string
		set  bool
		fits bool
	}{
		{"name", ref.Name != "", ref.Kind != Mesh},
		{"namespace", ref.Namespace != "", ref.Kind != Mesh && ref.Labels == nil},
		{"labels", ref.Labels != nil, ref.Kind != Mesh && ref.Name == ""},
		{"sectionName", ref.Section != "", kinds[i].Sections},
	} {
		if part.set && !part.fits {
			why := "with kind " + ref.Kind
			if ref.Kind != Mesh && part.key != "sectionName" {
				why = "beside " + map[string]string{"namespace": "labels", "labels": "name"}[part.key] + ": select by one of them"
			}
			return Ref{}, doc.Errorf(field+"."+part.key, "must not be set %s", why)
		}
	}
	if ref.Kind != Mesh && ref.Name == "" && len(ref.Labels) == 0 {
		return Ref{}, doc.Errorf(field+".name", "the name is missing: kind %s is referred to by name or by labels", ref.Kind)
	}
	if err := resource.CheckSelector(doc, field+".labels", ref.Labels); err != nil {
		return Ref{}, err
	}
	return ref, nil
}

// Selects reports whether a reference by labels in a document means a resource of its kind.
func (ref Ref) Selects(r, from *resource.Resource) bool {
	if ref.Labels == nil || r.ID.Mesh != from.ID.Mesh {
		return false
	}
	for key, value := range ref.Labels {
		if r.Label(key) != value {
			return false
		}
	}
	return true
}

// Unstated returns a label that a reference asks for, that a control plane computes, and that a resource of its kind does
// not state, so that nobody knows whether it is meant; "" where that is known.
func (ref Ref) Unstated(r, from *resource.Resource) (unstated string) {
	if ref.Labels == nil || r.ID.Mesh != from.ID.Mesh {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(ref.Labels)) {
		switch got := r.Label(key); {
		case got == ref.Labels[key]:
		case got == "" && resource.IsComputed(key) && !r.IsGlobal():
			unstated = key
		default:
			return ""
		}
	}
	return unstated
}

// ownKinds are the kinds that a namespace produces. Services of other kinds belong to no namespace alone.
var ownKinds = []string{"MeshService", "MeshHTTPRoute", "MeshTCPRoute"}

// IsOwn reports whether a reference means what the namespace of its document produces. As in Kuma, a policy about a
// service of several zones or an external one is a consumer's, also where that is of the policy's own namespace.
func (ref Ref) IsOwn(from *resource.Resource) bool {
	return slices.Contains(ownKinds, ref.Kind) && ref.Name != "" && cmp.Or(ref.Namespace, from.ID.Namespace) == from.ID.Namespace
}

// String names the reference in messages.
func (ref Ref) String() string {
	switch {
	case ref.Kind == Mesh:
		return ref.Kind
	case ref.Labels != nil:
		var labels []string
		for _, key := range slices.Sorted(maps.Keys(ref.Labels)) {
			labels = append(labels, key+"="+ref.Labels[key])
		}
		return fmt.Sprintf("%s with labels %s", ref.Kind, strings.Join(labels, ", "))
	case ref.Namespace != "":
		return fmt.Sprintf("%s %q of namespace %q", ref.Kind, ref.Name, ref.Namespace)
	default:
		return fmt.Sprintf("%s %q", ref.Kind, ref.Name)
	}
}
