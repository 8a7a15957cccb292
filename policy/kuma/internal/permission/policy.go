package permission

import (
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Policy is a valid MeshTrafficPermission. It is immutable; [Parse] makes it. The
// zero value has no rules and applies to no inbound.
type Policy struct {
	doc    manifest.Document
	id     kri.KRI
	origin string
	labels map[string]string
	// namespace is where the Kubernetes form lies, whatever its labels say.
	namespace string
	// universal is false for the Kubernetes form.
	universal bool
	target    target
	rules     []rule
	// from is the legacy form; a policy has rules or from.
	from []fromItem
}

// KRI returns the identifier under which Envoy reports the policy. Its zone and
// namespace are those of the labels kuma.io/zone and k8s.kuma.io/namespace, else
// of the Kubernetes metadata; its name is the display name.
func (p Policy) KRI() kri.KRI { return p.id }

// String returns the KRI in text form.
func (p Policy) String() string { return p.origin }

// Place returns "file:line" of the policy.
func (p Policy) Place() string { return p.doc.Place("") }

// rule is one item of rules; the short spelling makes one rule too.
type rule struct {
	form form
	// field is the path of the lists below, or of the item that has conditions. Its
	// conditions are the list that its action names.
	field string
	lists [3][]matcher
	// written tells an empty list from an absent one.
	written [3]bool
}

// list is one of the three lists of a rule.
type list uint8

const (
	deny list = iota
	allowWithShadowDeny
	allow
)

var listNames = [...]string{deny: "deny", allowWithShadowDeny: "allowWithShadowDeny", allow: "allow"}

func (l list) String() string { return listNames[l] }

// matcher matches the requests that meet all of its fields; a field that is not
// set asks nothing. One at least is set, but for the matcher that stands for a
// rule without conditions.
type matcher struct {
	field    string
	identity *policy.Match
	path     *policy.Match
	method   string
	// when is the same as a condition, for L7.
	when policy.Condition
}

// needsL7 reports whether a connection alone cannot be judged by the matcher.
func (m matcher) needsL7() bool { return m.path != nil || m.method != "" }
