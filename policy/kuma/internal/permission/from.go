package permission

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// fromItem is one item of the legacy from list.
type fromItem struct {
	field string
	// service is the name of a service of serviceMesh, "" for any client.
	service, serviceMesh string
	// mesh is that of the clients, "" for those of every mesh.
	mesh string
	// tags are sorted by key; kuma.io/service is none of them.
	tags   []label
	action legacy.Action
	// compiled is the same for the compilers.
	compiled legacy.Item
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

// parseFrom reads the items of a policy of the mesh.
func parseFrom(doc manifest.Document, mesh string, from *[]fromSchema) ([]fromItem, error) {
	if from == nil {
		return nil, nil
	}
	items := make([]fromItem, len(*from))
	for i, schema := range *from {
		item, err := parseFromItem(doc, fmt.Sprintf("spec.from[%d]", i), mesh, schema)
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	return items, nil
}

func parseFromItem(doc manifest.Document, field, mesh string, schema fromSchema) (fromItem, error) {
	switch {
	case schema.TargetRef == nil:
		return fromItem{}, doc.Errorf(field+".targetRef", "the targetRef is missing: name the clients by kind Mesh, MeshSubset, MeshService or MeshServiceSubset")
	case schema.Default == nil || schema.Default.Action == nil:
		return fromItem{}, doc.Errorf(field+".default.action", "the action is missing: use Allow, Deny, AllowWithShadowDeny or DenyWithShadowAllow")
	}
	ref := *schema.TargetRef
	field += ".targetRef"
	item := fromItem{field: field, mesh: ref.Mesh, serviceMesh: mesh, action: *schema.Default.Action}
	if ref.Mesh != "" {
		item.serviceMesh = ref.Mesh
		if err := checkMeshName(ref.Mesh); err != nil {
			return fromItem{}, doc.Errorf(field+".mesh", "%v", err)
		}
	}
	needs, known := subsetKinds[ref.Kind]
	if !known {
		return fromItem{}, doc.Errorf(field+".kind", "kind %q is not supported: use Mesh, MeshSubset, MeshService or MeshServiceSubset", ref.Kind)
	}
	if err := needs.check(doc, field, ref.Kind, ref.Name, ref.Tags); err != nil {
		return fromItem{}, err
	}
	item.service = ref.Name
	for _, key := range slices.Sorted(maps.Keys(ref.Tags)) {
		if key == tagService {
			item.service = ref.Tags[key]
			continue
		}
		item.tags = append(item.tags, label{key, ref.Tags[key]})
	}
	if item.service != "" {
		if err := checkServiceIdentity(item.serviceMesh, item.service); err != nil {
			return fromItem{}, doc.Errorf(field, "%v", err)
		}
	}
	item.compiled = item.compile()
	return item, nil
}

// compile returns the item's tags in the order of their keys, the service last.
func (i fromItem) compile() legacy.Item {
	out := legacy.Item{Action: i.action}
	for _, tag := range i.tags {
		out.Tags = append(out.Tags, legacy.Label(tag.key, tag.value))
	}
	switch {
	case i.service != "":
		out.Tags = append(out.Tags, legacy.Service(i.serviceMesh, i.service))
	case i.mesh != "":
		out.Tags = append(out.Tags, legacy.Member(i.mesh))
	}
	return out
}
