// Package resource reads what all resources of Kuma share: the head of a document in its
// universal or its Kubernetes form.
//
// It guarantees that a resource has an identifier, that a label which decides about
// selection or order has a known value, and that a refusal names file, line and field.
// What stands under spec is the business of the package of each kind.
package resource

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Resource is the head of a resource. It is immutable; [Parse] makes it.
type Resource struct {
	Doc manifest.Document
	// ID is the identifier under which Envoy reports the resource. Its zone and namespace
	// are those of the labels kuma.io/zone and k8s.kuma.io/namespace, else those of the
	// Kubernetes metadata. Its name is the display name.
	ID kri.KRI
	// Origin is ID as text.
	Origin string
	Labels map[string]string
	// Namespace is the namespace of the Kubernetes metadata. A label does not change it.
	Namespace string
	// Universal is false for the Kubernetes form.
	Universal bool
}

// String returns the origin.
func (r Resource) String() string { return r.Origin }

// Place returns "file:line" of the resource.
func (r Resource) Place() string { return r.Doc.Place("") }

// Kind is a kind of resource.
type Kind struct {
	// Name is the kind as it is written, such as MeshTrafficPermission.
	Name string
	// Type is the short name in an identifier, such as [kri.MeshTrafficPermission].
	Type string
}

const (
	apiGroup   = "kuma.io/"
	apiVersion = apiGroup + "v1alpha1"
)

// Heads are the two forms of the kind.
func (k Kind) Heads() []manifest.Head {
	return []manifest.Head{{Type: k.Name}, {APIVersion: apiVersion, Kind: k.Name}}
}

// Owns reports whether the document is of the kind, in any version.
func (k Kind) Owns(doc manifest.Document) bool {
	head := doc.Type()
	return head.Type == k.Name || head.Kind == k.Name && strings.HasPrefix(head.APIVersion, apiGroup)
}

// universalSchema is the form that kumactl reads.
type universalSchema[Spec any] struct {
	metadata.Universal

	Type   string            `yaml:"type"`
	Mesh   string            `yaml:"mesh"`
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
	Spec   Spec              `yaml:"spec"`
}

// kubernetesSchema is the form of the custom resource.
type kubernetesSchema[Spec any] struct {
	APIVersion string          `yaml:"apiVersion"`
	Kind       string          `yaml:"kind"`
	Metadata   metadata.Object `yaml:"metadata"`
	Spec       Spec            `yaml:"spec"`
	Status     any             `yaml:"status"`
}

// Parse reads a document of a kind, and what stands under its spec. Every error is a
// [*manifest.Error]. It refuses fields that are unknown or of a wrong type.
func Parse[Spec any](kind Kind, doc manifest.Document) (Resource, Spec, error) {
	head := doc.Type()
	if head.APIVersion != "" || head.Type == "" {
		return parseKubernetes[Spec](kind, doc, head)
	}
	var schema universalSchema[Spec]
	if err := doc.Decode(&schema); err != nil {
		return Resource{}, schema.Spec, err
	}
	if schema.Type != kind.Name {
		return Resource{}, schema.Spec, doc.Errorf("type", "%q is not %s", schema.Type, kind.Name)
	}
	r := Resource{Doc: doc, Labels: schema.Labels, Universal: true}
	return r, schema.Spec, r.identify(kind, schema.Name, schema.Mesh)
}

func parseKubernetes[Spec any](kind Kind, doc manifest.Document, head manifest.Head) (Resource, Spec, error) {
	var schema kubernetesSchema[Spec]
	if strings.HasPrefix(head.APIVersion, apiGroup) && head.APIVersion != apiVersion {
		return Resource{}, schema.Spec, doc.Errorf("apiVersion", "version %q is not supported: use %s", head.APIVersion, apiVersion)
	}
	if err := doc.Decode(&schema); err != nil {
		return Resource{}, schema.Spec, err
	}
	if schema.APIVersion != apiVersion || schema.Kind != kind.Name {
		return Resource{}, schema.Spec, doc.Errorf("kind", "%s %q is not %s %s", schema.APIVersion, schema.Kind, apiVersion, kind.Name)
	}
	r := Resource{Doc: doc, Labels: schema.Metadata.KumaLabels(), Namespace: cmp.Or(schema.Metadata.Namespace, DefaultNamespace)}
	if problem := metadata.NameProblem(schema.Metadata.Name); problem != "" {
		return Resource{}, schema.Spec, doc.Errorf("metadata.name", "%s", problem)
	}
	return r, schema.Spec, r.identify(kind, schema.Metadata.Name, "")
}

// identify sets the identifier.
func (r *Resource) identify(kind Kind, name, mesh string) error {
	if name == "" {
		return r.Doc.Errorf(r.nameField(), "a name is required")
	}
	label := r.Labels[LabelMesh]
	if mesh != "" && label != "" && mesh != label {
		return r.Doc.Errorf(r.labelField(LabelMesh), "%q contradicts mesh %q", label, mesh)
	}
	r.ID = kri.KRI{
		Type:      kind.Type,
		Mesh:      cmp.Or(mesh, label, DefaultMesh),
		Zone:      r.Labels[LabelZone],
		Namespace: cmp.Or(r.Labels[LabelNamespace], r.Namespace),
		Name:      cmp.Or(r.Labels[LabelDisplayName], name),
	}
	if err := r.ID.Validate(); err != nil {
		return r.Doc.Errorf(r.nameField(), "no resource identifier can be made: %v", err)
	}
	r.Origin = r.ID.String()
	return r.checkLabels()
}

// nameField is the path of the resource's name.
func (r Resource) nameField() string {
	if r.Universal {
		return "name"
	}
	return "metadata.name"
}

func (r Resource) labelField(label string) string {
	if r.Universal {
		return fmt.Sprintf("labels[%q]", label)
	}
	return fmt.Sprintf("metadata.labels[%q]", label)
}

// ParseAll parses each document, and refuses a resource that is there twice. Where there
// is an error it returns no resources, and all errors joined, one line each.
func ParseAll[T any](docs []manifest.Document, parse func(manifest.Document) (T, error), head func(*T) Resource) ([]T, error) {
	var errs []error
	all := make([]T, 0, len(docs))
	places := make(map[kri.KRI]string, len(docs))
	for _, doc := range docs {
		parsed, err := parse(doc)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		r := head(&parsed)
		if first, ok := places[r.ID]; ok {
			errs = append(errs, metadata.RefuseTwice(doc, r.nameField(), r.String(), first))
			continue
		}
		places[r.ID] = r.Place()
		all = append(all, parsed)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return all, nil
}

// checkLabels refuses an unknown value of a label that decides about selection or
// order. Without the error, a misspelt role could let a policy select more proxies.
func (r Resource) checkLabels() error {
	for _, known := range []struct {
		label  string
		values []string
	}{
		{LabelRole, Roles}, {LabelOrigin, []string{OriginGlobal, OriginZone}}, {LabelEffect, []string{EffectShadow}},
	} {
		if value, ok := r.Labels[known.label]; ok && !slices.Contains(known.values, value) {
			return r.Doc.Errorf(r.labelField(known.label), "%q is unknown: use %s", value, strings.Join(known.values, ", "))
		}
	}
	return nil
}
