// Package permission reads MeshTrafficPermission in universal and Kubernetes form.
//
// A policy has rules, or the legacy from. Rules have deny, allowWithShadowDeny and
// allow lists ([Option1], and [Option2] with a single item), or conditions and an
// action ([Option3]). The items of from name clients by the tags in their
// certificates.
//
// The package guarantees that a policy is immutable, and that a refusal names file,
// line and field. What a policy decides is the business of packages selection,
// lowering and evaluation.
package permission

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Policy is a valid MeshTrafficPermission. It is immutable; [Parse] makes it. The
// zero value has no rules and applies to no inbound.
type Policy struct {
	Doc manifest.Document
	// ID is the identifier under which Envoy reports the policy. Its zone and namespace
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
	Target    Target
	Rules     []Rule
	// From is the legacy form. A policy has Rules or From.
	From []FromItem
}

// String returns the origin.
func (p Policy) String() string { return p.Origin }

// Place returns "file:line" of the policy.
func (p Policy) Place() string { return p.Doc.Place("") }

// Rule is one item of rules. The short spelling, default without rules, makes one
// rule too.
type Rule struct {
	Form Form
	// Field is the path of the lists, or of the item that has conditions. Conditions
	// are kept as the list that their action names.
	Field string
	Lists [3][]Matcher
	// Written is true for a list that is in the policy. The list may be empty.
	Written [3]bool
}

// List is one of the three lists of a rule.
type List uint8

// The lists, the strongest first.
const (
	Deny List = iota
	AllowWithShadowDeny
	Allow
)

// ListNames are the keys of the lists in a policy.
var ListNames = [...]string{Deny: "deny", AllowWithShadowDeny: "allowWithShadowDeny", Allow: "allow"}

// String returns the key of the list.
func (l List) String() string { return ListNames[l] }

// Matcher matches the requests that meet all of its fields. A field that is not set
// asks nothing. Only the matcher that stands for a rule without conditions has no
// field set.
type Matcher struct {
	Field    string
	Identity *policy.Match
	// SNI is the server name of the handshake.
	SNI    string
	Path   *policy.Match
	Method string
	// When is the matcher as a condition, on L7. OnConnection is the part of it that a
	// connection shows.
	When, OnConnection policy.Condition
}

// NeedsL7 reports whether the matcher asks for something that a connection does not
// show.
func (m Matcher) NeedsL7() bool { return m.Path != nil || m.Method != "" }

// Warn returns a warning about a field of the policy.
func (p *Policy) Warn(kind warning.Kind, field, format string, a ...any) policy.Warning {
	return policy.Warning{Kind: kind, Place: p.Doc.Place(field), Policy: p.Origin, Message: fmt.Sprintf(format, a...)}
}

// IsFrom reports whether the policy is of the legacy form. Its list may be empty.
func (p *Policy) IsFrom() bool { return p.From != nil }

// Actions are the actions that the lists stand for.
var Actions = [...]tree.Action{Deny: tree.Deny, AllowWithShadowDeny: tree.AllowWithShadowDeny, Allow: tree.Allow}

// Route returns the name of the route that the targetRef asks for, "" where it asks
// for no route.
func (p Policy) Route() string {
	if p.Target.Kind != Route {
		return ""
	}
	return p.Target.Name
}

// The labels that decide about selection and order. A control plane computes them on
// admission. A policy in a file may lack them.
const (
	LabelMesh        = "kuma.io/mesh"
	LabelZone        = "kuma.io/zone"
	LabelOrigin      = "kuma.io/origin"
	LabelDisplayName = "kuma.io/display-name"
	LabelRole        = "kuma.io/policy-role"
	LabelEffect      = "kuma.io/effect"
	LabelNamespace   = "k8s.kuma.io/namespace"
)

const (
	DefaultMesh      = "default"
	DefaultNamespace = "default"
	OriginGlobal     = "global"
	OriginZone       = "zone"
	EffectShadow     = "shadow"
)

// The policy roles, the weakest first.
const (
	RoleSystem   = "system"
	RoleProducer = "producer"
	RoleConsumer = "consumer"
	RoleOwner    = "workload-owner"
)

var Roles = []string{RoleSystem, RoleProducer, RoleConsumer, RoleOwner}

// checkLabels refuses an unknown value of a label that decides about selection or
// order. Without the error, a misspelt role could let a policy select more inbounds.
func (p Policy) checkLabels() error {
	for _, known := range []struct {
		label  string
		values []string
	}{
		{LabelRole, Roles}, {LabelOrigin, []string{OriginGlobal, OriginZone}}, {LabelEffect, []string{EffectShadow}},
	} {
		if value, ok := p.Labels[known.label]; ok && !slices.Contains(known.values, value) {
			return p.Doc.Errorf(p.labelField(known.label), "%q is unknown: use %s", value, strings.Join(known.values, ", "))
		}
	}
	return nil
}

// Kinds are the two forms of a MeshTrafficPermission.
var Kinds = []manifest.Head{{Type: KindName}, {APIVersion: apiVersion, Kind: KindName}}

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
