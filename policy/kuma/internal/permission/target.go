package permission

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
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

// checkMeshName demands a name that can be a trust domain: certificates have it as
// one.
func checkMeshName(mesh string) error {
	if td, err := spiffeid.TrustDomainFromString(mesh); err != nil || td.Name() != mesh {
		return fmt.Errorf("mesh %q is no trust domain, so that no certificate names it: use lower-case letters, digits, '.', '_' and '-'", mesh)
	}
	return nil
}

// checkServiceIdentity demands that spiffe://<mesh>/<service> is a SPIFFE ID.
func checkServiceIdentity(mesh, service string) error {
	if err := checkMeshName(mesh); err != nil {
		return err
	}
	td := spiffeid.RequireTrustDomainFromString(mesh)
	if _, err := spiffeid.FromSegments(td, service); err != nil {
		return fmt.Errorf("service %q of mesh %q makes no SPIFFE ID: %w", service, mesh, err)
	}
	return nil
}

// FromItem is one item of the legacy from list.
type FromItem struct {
	// Field is the path of the item's targetRef.
	Field string
	// Service is the name of a service of ServiceMesh; "" means any client.
	Service, ServiceMesh string
	// Mesh is the mesh of the clients; "" means every mesh.
	Mesh string
	// Tags are sorted by key. They do not have kuma.io/service: that is Service.
	Tags   []Label
	Action legacy.Action
	// Compiled is the item as package legacy takes it.
	Compiled legacy.Item
}

type fromSchema struct {
	TargetRef *fromTargetSchema `yaml:"targetRef"`
	Default   *fromConfSchema   `yaml:"default"`
}

type fromTargetSchema struct {
	Kind string            `yaml:"kind"`
	Name string            `yaml:"name"`
	Mesh string            `yaml:"mesh"`
	Tags map[string]string `yaml:"tags"`
}

type fromConfSchema struct {
	Action *legacy.Action `yaml:"action"`
}

// parseFrom reads the items of a policy that belongs to the mesh.
func parseFrom(doc manifest.Document, mesh string, from *[]fromSchema) ([]FromItem, error) {
	if from == nil {
		return nil, nil
	}
	items := make([]FromItem, len(*from))
	for i, schema := range *from {
		item, err := parseFromItem(doc, fmt.Sprintf("spec.from[%d]", i), mesh, schema)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return items, nil
}

func parseFromItem(doc manifest.Document, field, mesh string, schema fromSchema) (FromItem, error) {
	switch {
	case schema.TargetRef == nil:
		return FromItem{}, doc.Errorf(field+".targetRef", "the targetRef is missing: name the clients by kind Mesh, MeshSubset, MeshService or MeshServiceSubset")
	case schema.Default == nil || schema.Default.Action == nil:
		return FromItem{}, doc.Errorf(field+".default.action", "the action is missing: use Allow, Deny, AllowWithShadowDeny or DenyWithShadowAllow")
	}
	ref := *schema.TargetRef
	field += ".targetRef"
	item := FromItem{Field: field, Mesh: ref.Mesh, ServiceMesh: mesh, Action: *schema.Default.Action}
	if ref.Mesh != "" {
		item.ServiceMesh = ref.Mesh
		if err := checkMeshName(ref.Mesh); err != nil {
			return FromItem{}, doc.Errorf(field+".mesh", "%v", err)
		}
	}
	needs, known := subsetKinds[ref.Kind]
	if !known {
		return FromItem{}, doc.Errorf(field+".kind", "kind %q is not supported: use Mesh, MeshSubset, MeshService or MeshServiceSubset", ref.Kind)
	}
	if err := needs.check(doc, field, ref.Kind, ref.Name, ref.Tags); err != nil {
		return FromItem{}, err
	}
	item.Service = ref.Name
	for _, key := range slices.Sorted(maps.Keys(ref.Tags)) {
		if key == TagService {
			item.Service = ref.Tags[key]
			continue
		}
		item.Tags = append(item.Tags, Label{key, ref.Tags[key]})
	}
	if item.Service != "" {
		if err := checkServiceIdentity(item.ServiceMesh, item.Service); err != nil {
			return FromItem{}, doc.Errorf(field, "%v", err)
		}
	}
	item.Compiled = item.compile()
	return item, nil
}

// compile returns the item's tags in the order of their keys, the service last.
func (i FromItem) compile() legacy.Item {
	out := legacy.Item{Action: i.Action}
	for _, tag := range i.Tags {
		out.Tags = append(out.Tags, legacy.Label(tag.Key, tag.Value))
	}
	switch {
	case i.Service != "":
		out.Tags = append(out.Tags, legacy.Service(i.ServiceMesh, i.Service))
	case i.Mesh != "":
		out.Tags = append(out.Tags, legacy.Member(i.Mesh))
	}
	return out
}
