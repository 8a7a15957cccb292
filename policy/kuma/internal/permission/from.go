package permission

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
	"github.com/meshproof/meshproof/policy/manifest"
)

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
	Tags   []target.Label
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
	switch known, err := target.CheckSubset(doc, field, ref.Kind, ref.Name, ref.Tags); {
	case !known:
		return FromItem{}, doc.Errorf(field+".kind", "kind %q is not supported: use Mesh, MeshSubset, MeshService or MeshServiceSubset", ref.Kind)
	case err != nil:
		return FromItem{}, err
	}
	item.Service = ref.Name
	for _, key := range slices.Sorted(maps.Keys(ref.Tags)) {
		if key == target.TagService {
			item.Service = ref.Tags[key]
			continue
		}
		item.Tags = append(item.Tags, target.Label{Key: key, Value: ref.Tags[key]})
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
