package permission

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Owns reports whether the document is a MeshTrafficPermission, in any version.
func Owns(doc manifest.Document) bool {
	head := doc.Type()
	return head.Type == KindName || head.Kind == KindName && strings.HasPrefix(head.APIVersion, apiGroup)
}

// ParseAll parses each document, and refuses a policy that is there twice. Where
// there is an error it returns no policies, and all errors joined, one line each.
func ParseAll(docs []manifest.Document) ([]Policy, error) {
	var errs []error
	ps := make([]Policy, 0, len(docs))
	places := make(map[kri.KRI]string, len(docs))
	for _, doc := range docs {
		p, err := Parse(doc)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if first, ok := places[p.ID]; ok {
			errs = append(errs, doc.Errorf(p.nameField(), "%s is defined twice, first at %s", p, first))
			continue
		}
		places[p.ID] = p.Place()
		ps = append(ps, p)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return ps, nil
}

// Parse reads one policy. Every error is a [*manifest.Error]. It refuses fields that
// are unknown or of a wrong type, and texts that would not mean what they say.
func Parse(doc manifest.Document) (Policy, error) {
	head := doc.Type()
	if head.APIVersion != "" || head.Type == "" {
		return parseKubernetes(doc, head)
	}
	var schema universalSchema
	if err := doc.Decode(&schema); err != nil {
		return Policy{}, err
	}
	if schema.Type != KindName {
		return Policy{}, doc.Errorf("type", "%q is not %s", schema.Type, KindName)
	}
	p := Policy{Doc: doc, Labels: schema.Labels, Universal: true}
	return p.build(schema.Name, schema.Mesh, "", schema.Spec)
}

func parseKubernetes(doc manifest.Document, head manifest.Head) (Policy, error) {
	if strings.HasPrefix(head.APIVersion, apiGroup) && head.APIVersion != apiVersion {
		return Policy{}, doc.Errorf("apiVersion", "version %q is not supported: use %s", head.APIVersion, apiVersion)
	}
	var schema kubernetesSchema
	if err := doc.Decode(&schema); err != nil {
		return Policy{}, err
	}
	if schema.APIVersion != apiVersion || schema.Kind != KindName {
		return Policy{}, doc.Errorf("kind", "%s %q is not %s %s", schema.APIVersion, schema.Kind, apiVersion, KindName)
	}
	p := Policy{Doc: doc, Labels: schema.Metadata.Labels}
	return p.build(schema.Metadata.Name, "", cmp.Or(schema.Metadata.Namespace, DefaultNamespace), schema.Spec)
}

func (p Policy) build(name, mesh, namespace string, spec specSchema) (Policy, error) {
	if name == "" {
		return Policy{}, p.Doc.Errorf(p.nameField(), "a name is required")
	}
	p.Namespace = namespace
	label := p.Labels[LabelMesh]
	if mesh != "" && label != "" && mesh != label {
		return Policy{}, p.Doc.Errorf(p.labelField(LabelMesh), "%q contradicts mesh %q", label, mesh)
	}
	p.ID = kri.KRI{
		Type:      kri.MeshTrafficPermission,
		Mesh:      cmp.Or(mesh, label, DefaultMesh),
		Zone:      p.Labels[LabelZone],
		Namespace: cmp.Or(p.Labels[LabelNamespace], namespace),
		Name:      cmp.Or(p.Labels[LabelDisplayName], name),
	}
	if err := p.ID.Validate(); err != nil {
		return Policy{}, p.Doc.Errorf(p.nameField(), "no resource identifier can be made: %v", err)
	}
	p.Origin = p.ID.String()
	if err := p.checkLabels(); err != nil {
		return Policy{}, err
	}
	var err error
	if p.Target, err = parseTarget(p.Doc, spec.TargetRef, spec.From != nil); err != nil {
		return Policy{}, err
	}
	if p.Rules, err = parseRules(p.Doc, spec); err != nil {
		return Policy{}, err
	}
	if p.From, err = parseFrom(p.Doc, p.ID.Mesh, spec.From); err != nil {
		return Policy{}, err
	}
	return p, nil
}

func (p Policy) nameField() string {
	if p.Universal {
		return "name"
	}
	return "metadata.name"
}

func (p Policy) labelField(label string) string {
	if p.Universal {
		return fmt.Sprintf("labels[%q]", label)
	}
	return fmt.Sprintf("metadata.labels[%q]", label)
}
