// Package target reads the targetRef at the top of a policy: the proxies that the policy is
// for.
//
// It guarantees that a targetRef means what it says, and that a refusal names file, line and
// field. Package scope says which proxies meet it.
package target

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Target is the top-level targetRef. The zero value selects every inbound.
type Target struct {
	Kind Kind
	Name string
	// Labels are sorted by key, so that a reason names the same label every time, and nil where none are
	// written. The legacy kinds have their tags here.
	Labels  []Label
	Section string
}

// Kind is a kind of targetRef. A heavier kind has a greater number.
type Kind uint8

// The kinds that others ask for.
const (
	wholeMesh Kind = iota
	Dataplane
	meshSubset
	meshService
	meshServiceSubset
	Route
)

// Label is a label or a tag.
type Label struct{ Key, Value string }

// Ref is the schema of a targetRef.
type Ref struct {
	Kind        string            `yaml:"kind"`
	Name        string            `yaml:"name"`
	Labels      map[string]string `yaml:"labels"`
	SectionName string            `yaml:"sectionName"`
	// Tags belong to policies with from.
	Tags map[string]string `yaml:"tags"`
}

const targetField = "spec.targetRef"

// Parse reads the targetRef of a policy. The legacy form has more kinds.
func Parse(doc manifest.Document, ref *Ref, legacy bool) (Target, error) {
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
		if ref.Name != "" && !kri.IsName(ref.Name) {
			return Target{}, doc.Errorf(targetField+".name", "%q is no name of a Dataplane: use lower-case letters, digits, '-' and '.' only", ref.Name)
		}
		if ref.Name != "" && len(ref.Labels) > 0 {
			return Target{}, doc.Errorf(targetField+".labels", "must not be set beside name: select by one of them")
		}
		if ref.Name != "" && ref.Labels != nil {
			return Target{}, doc.Errorf(targetField+".labels", "the labels are empty, and Kuma then selects every Dataplane, also beside a name: leave them out")
		}
		t := Target{Kind: Dataplane, Name: ref.Name, Section: ref.SectionName}
		t.Labels = sortedLabels(ref.Labels)
		return t, nil
	default:
		return Target{}, doc.Errorf(targetField+".kind", "kind %q is not supported: use Mesh or Dataplane", ref.Kind)
	}
}

// ParseOutbound reads the targetRef of a policy with a list to, which selects the proxies of
// callers: by the labels or the name of a Dataplane, or by the tags of a MeshSubset.
func ParseOutbound(doc manifest.Document, ref *Ref) (Target, error) {
	switch {
	case ref == nil:
		return Target{}, nil
	case ref.SectionName != "":
		return Target{}, doc.Errorf(targetField+".sectionName", "must not be set beside to: a caller has no inbound there")
	case ref.Kind == "MeshSubset":
		return parseLegacyTarget(doc, *ref)
	case ref.Kind == "" || ref.Kind == "Mesh" || ref.Kind == "Dataplane":
		return Parse(doc, ref, false)
	default:
		if ref.Kind == "MeshHTTPRoute" || ref.Kind == "MeshTCPRoute" {
			return Target{}, doc.Errorf(targetField+".kind", "kind %q is not supported here: name the route in the targetRef of an item of spec.to", ref.Kind)
		}
		return Target{}, doc.Errorf(targetField+".kind", "kind %q is not supported: use Mesh, MeshSubset or Dataplane", ref.Kind)
	}
}

func sortedLabels(labels map[string]string) []Label {
	if labels == nil {
		return nil
	}
	out := []Label{}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, Label{key, labels[key]})
	}
	return out
}

// checkMesh refuses fields that select among the workloads of a mesh. A targetRef
// without a kind means the mesh, and then it has to be empty.
func checkMesh(doc manifest.Document, field string, ref Ref) error {
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

var legacyKinds = map[string]Kind{
	"MeshSubset": meshSubset, "MeshService": meshService, "MeshServiceSubset": meshServiceSubset, "MeshHTTPRoute": Route, "MeshGatewayRoute": Route,
}

// parseLegacyTarget reads a targetRef of another kind than Dataplane. The name of a
// service is kept as a tag: the workloads have it as one.
func parseLegacyTarget(doc manifest.Document, ref Ref) (Target, error) {
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

// TagService is the tag with the name of a workload's service.
const TagService = "kuma.io/service"

// subsetKind says which fields a kind of the legacy form takes.
type subsetKind struct{ name, tags bool }

var subsetKinds = map[string]subsetKind{
	"Mesh":              {},
	"MeshSubset":        {tags: true},
	"MeshService":       {name: true},
	"MeshServiceSubset": {name: true, tags: true},
}

// CheckSubset reports whether a kind of the legacy form is known, and what of name and tags
// the kind does not take.
func CheckSubset(doc manifest.Document, field, kind, name string, tags map[string]string) (known bool, err error) {
	k, known := subsetKinds[kind]
	if !known {
		return false, nil
	}
	return true, k.check(doc, field, kind, name, tags)
}

func (k subsetKind) check(doc manifest.Document, field, kind, name string, tags map[string]string) error {
	switch {
	case k.name && name == "":
		return doc.Errorf(field+".name", "the name is missing: kind %s names a service", kind)
	case !k.name && name != "":
		return doc.Errorf(field+".name", "must not be set with kind %s", kind)
	case k.tags && len(tags) == 0:
		return doc.Errorf(field+".tags", "the tags are missing: kind %s without tags is kind %s", kind, kind[:len(kind)-len("Subset")])
	case !k.tags && tags != nil:
		return doc.Errorf(field+".tags", "must not be set with kind %s", kind)
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if err := checkTag(key, tags[key]); err != nil {
			return doc.Errorf(fmt.Sprintf("%s.tags[%q]", field, key), "%v", err)
		}
	}
	if _, twice := tags[TagService]; twice && k.name {
		return doc.Errorf(fmt.Sprintf("%s.tags[%q]", field, TagService), "must not be set beside name: they are the same")
	}
	return nil
}

// A value has no slash, so that key and value can be told apart in a URI SAN.
var (
	tagKey   = regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`)
	tagValue = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)
)

func checkTag(key, value string) error {
	switch {
	case !tagKey.MatchString(key):
		return fmt.Errorf("%q is no tag: use letters, digits, '.', '_', '-' and single slashes", key)
	case !tagValue.MatchString(value):
		return fmt.Errorf("%q is no value of a tag: use letters, digits, '.', '_', ':' and '-'", value)
	}
	return nil
}
