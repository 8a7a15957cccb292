package permission

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/kri"
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
	// Namespace is that of the Kubernetes metadata, whatever the labels say.
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
	Path     *policy.Match
	Method   string
	// When is the matcher as a condition, on L7.
	When policy.Condition
}

// NeedsL7 reports whether the matcher asks for something that a connection does not
// show.
func (m Matcher) NeedsL7() bool { return m.Path != nil || m.Method != "" }

// Warn returns a warning about a field of the policy.
func (p *Policy) Warn(field, format string, a ...any) policy.Warning {
	return policy.Warning{Place: p.Doc.Place(field), Policy: p.Origin, Message: fmt.Sprintf(format, a...)}
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
