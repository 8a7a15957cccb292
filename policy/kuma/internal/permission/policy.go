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
	"fmt"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
	"github.com/meshproof/meshproof/policy/kuma/internal/tree"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Policy is a valid MeshTrafficPermission. It is immutable; [Parse] makes it. The
// zero value has no rules and applies to no inbound.
type Policy struct {
	resource.Resource
	Target target.Target
	Rules  []Rule
	// From is the legacy form. A policy has Rules or From.
	From []FromItem
}

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
	if p.Target.Kind != target.Route {
		return ""
	}
	return p.Target.Name
}

// kind is the kind of a MeshTrafficPermission.
var kind = resource.Kind{Name: KindName, Type: kri.MeshTrafficPermission}

// KindName is the kind of the policies that the package reads.
const KindName = "MeshTrafficPermission"

// Kinds are the two forms of a MeshTrafficPermission.
var Kinds = kind.Heads()

// Owns reports whether the document is a MeshTrafficPermission, in any version.
func Owns(doc manifest.Document) bool { return kind.Owns(doc) }

// ParseAll parses each document as [resource.ParseAll] does.
func ParseAll(docs []manifest.Document) ([]Policy, error) {
	return resource.ParseAll(docs, Parse, func(p *Policy) resource.Resource { return p.Resource })
}

// Parse reads one policy. Every error is a [*manifest.Error]. It refuses fields that
// are unknown or of a wrong type, and texts that would not mean what they say.
func Parse(doc manifest.Document) (Policy, error) {
	head, spec, err := resource.Parse[specSchema](kind, doc)
	if err != nil {
		return Policy{}, err
	}
	p := Policy{Resource: head}
	if p.Target, err = target.Parse(doc, spec.TargetRef, spec.From != nil); err != nil {
		return Policy{}, err
	}
	if p.Rules, err = parseRules(doc, spec); err != nil {
		return Policy{}, err
	}
	if p.From, err = parseFrom(doc, p.ID.Mesh, spec.From); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// Role returns the role of the policy, which its label states or a control plane would
// compute.
func (p *Policy) Role(opts Options) string {
	return p.Resource.Role(opts.ControlPlaneNamespace(), resource.RoleOwner)
}
