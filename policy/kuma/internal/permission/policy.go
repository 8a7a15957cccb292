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
	Doc    manifest.Document
	ID     kri.KRI
	Origin string
	Labels map[string]string
	// namespace is where the Kubernetes form lies, whatever its labels say.
	Namespace string
	// universal is false for the Kubernetes form.
	Universal bool
	Target    Target
	Rules     []Rule
	// from is the legacy form; a policy has rules or from.
	From []FromItem
}

// KRI returns the identifier under which Envoy reports the policy. Its zone and
// namespace are those of the labels kuma.io/zone and k8s.kuma.io/namespace, else
// of the Kubernetes metadata; its name is the display name.
func (p Policy) KRI() kri.KRI { return p.ID }

// String returns the KRI in text form.
func (p Policy) String() string { return p.Origin }

// Place returns "file:line" of the policy.
func (p Policy) Place() string { return p.Doc.Place("") }

// rule is one item of rules; the short spelling makes one rule too.
type Rule struct {
	Form form
	// field is the path of the lists below, or of the item that has conditions. Its
	// conditions are the list that its action names.
	Field string
	Lists [3][]Matcher
	// written tells an empty list from an absent one.
	Written [3]bool
}

// list is one of the three lists of a rule.
type List uint8

const (
	Deny List = iota
	AllowWithShadowDeny
	Allow
)

var ListNames = [...]string{Deny: "deny", AllowWithShadowDeny: "allowWithShadowDeny", Allow: "allow"}

func (l List) String() string { return ListNames[l] }

// matcher matches the requests that meet all of its fields; a field that is not
// set asks nothing. One at least is set, but for the matcher that stands for a
// rule without conditions.
type Matcher struct {
	Field    string
	Identity *policy.Match
	Path     *policy.Match
	Method   string
	// when is the same as a condition, for L7.
	When policy.Condition
}

// needsL7 reports whether a connection alone cannot be judged by the matcher.
func (m Matcher) NeedsL7() bool { return m.Path != nil || m.Method != "" }

func (p *Policy) Warn(field, format string, a ...any) policy.Warning {
	return policy.Warning{Place: p.Doc.Place(field), Policy: p.Origin, Message: fmt.Sprintf(format, a...)}
}

// isFrom reports whether the policy is of the legacy form, be its list empty.
func (p *Policy) IsFrom() bool { return p.From != nil }

// actions are what the lists mean.
var Actions = [...]tree.Action{Deny: tree.Deny, AllowWithShadowDeny: tree.AllowWithShadowDeny, Allow: tree.Allow}

// Route returns the name of the route that the top-level targetRef asks for, ""
// where the policy does not ask for one.
func (p Policy) Route() string {
	if p.Target.Kind != Route {
		return ""
	}
	return p.Target.Name
}

// Section returns the sectionName of the top-level targetRef, "" where the policy
// does not ask for one inbound of a workload.
func (p Policy) Section() string { return p.Target.Section }
