package legacy

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Item gives its action to the clients that have all of its tags. An item without tags
// names every client. The zero value denies every client.
type Item struct {
	Tags   []Tag
	Action Action
}

// condition holds for the clients of the item.
func (i Item) condition() policy.Condition {
	switch len(i.Tags) {
	case 0:
		return policy.Always
	case 1:
		return i.Tags[0].condition()
	}
	all := make(policy.And, len(i.Tags))
	for k, tag := range i.Tags {
		all[k] = tag.condition()
	}
	return all
}

// tagsOf returns the tags of the items, each once, in the order of their first
// places.
func tagsOf(items []Item) []Tag {
	var out []Tag
	seen := make(map[Tag]bool)
	for _, item := range items {
		for _, tag := range item.Tags {
			if !seen[tag] {
				seen[tag] = true
				out = append(out, tag)
			}
		}
	}
	return out
}

// Action is what an item does to the clients it names. The zero value denies.
type Action uint8

// The actions. AllowWithShadowDeny and DenyWithShadowAllow decide one way, and the
// shadow shows the other way.
const (
	Deny Action = iota
	Allow
	AllowWithShadowDeny
	DenyWithShadowAllow
)

// The design writes ALLOW_WITH_SHADOW_DENY, the released form AllowWithShadowDeny.
var (
	actionNames    = [...]string{Deny: "Deny", Allow: "Allow", AllowWithShadowDeny: "AllowWithShadowDeny", DenyWithShadowAllow: "DenyWithShadowAllow"}
	designedNames  = [...]string{Deny: "DENY", Allow: "ALLOW", AllowWithShadowDeny: "ALLOW_WITH_SHADOW_DENY", DenyWithShadowAllow: "DENY_WITH_SHADOW_ALLOW"}
	knownSpellings = strings.Join(append(actionNames[:len(actionNames):len(actionNames)], designedNames[:]...), ", ")
)

// String returns the name in the released spelling, such as AllowWithShadowDeny.
func (a Action) String() string { return actionNames[a] }

// UnmarshalText reads both spellings. Any other text is an error that lists them.
func (a *Action) UnmarshalText(text []byte) error {
	for i := range actionNames {
		if s := string(text); s == actionNames[i] || s == designedNames[i] {
			*a = Action(i)
			return nil
		}
	}
	return fmt.Errorf("action %q is unknown: use one of %s", text, knownSpellings)
}

// Allows reports whether the clients may pass.
func (a Action) Allows() bool { return a == Allow || a == AllowWithShadowDeny }

// asksForShadow reports whether the action asks for a shadow.
func (a Action) asksForShadow() bool { return a == AllowWithShadowDeny || a == DenyWithShadowAllow }

// admittedByShadow is the accepted form: the shadow allows DenyWithShadowAllow only.
func admittedByShadow(a Action) bool { return a == DenyWithShadowAllow }

// admittedByPreciseShadow is the precise form: the shadow decides as if it were enforced.
func admittedByPreciseShadow(a Action) bool { return a == DenyWithShadowAllow || a == Allow }

// Tag is one property of a client, which its certificate has as a URI SAN. Tags are
// comparable.
type Tag struct {
	kind tagKind
	// key belongs to a label, mesh to a service or member.
	key, mesh string
	san       string
}

type tagKind uint8

const (
	label tagKind = iota
	service
	member
)

// Label is the tag that stands in the certificate as kuma://<key>/<value>.
func Label(key, value string) Tag {
	return Tag{kind: label, key: key, san: "kuma://" + key + "/" + value}
}

// Service is the tag of the instances of a service: spiffe://<mesh>/<name>.
func Service(mesh, name string) Tag {
	return Tag{kind: service, mesh: mesh, san: "spiffe://" + mesh + "/" + name}
}

// Member is the tag of all clients of a mesh, whose certificates have a URI SAN
// below spiffe://<mesh>/.
func Member(mesh string) Tag {
	return Tag{kind: member, mesh: mesh, san: "spiffe://" + mesh + "/"}
}

// String returns the URI SAN, and the beginning of the URI SANs for a [Member].
func (t Tag) String() string { return t.san }

// condition holds for the clients that have the tag.
func (t Tag) condition() policy.Condition {
	if t.kind == member {
		return attribute.URISAN.Prefix(t.san)
	}
	return attribute.URISAN.Exact(t.san)
}

// excludes reports whether no client has both tags: two values of one key, two
// services, or two meshes.
func (t Tag) excludes(u Tag) bool {
	switch {
	case t == u:
		return false
	case t.kind == label || u.kind == label:
		return t.kind == u.kind && t.key == u.key
	case t.kind == u.kind:
		return true
	default:
		return t.mesh != u.mesh
	}
}

// implies reports whether every client with the tag has the other tag too: a client of
// a service is a member of its mesh.
func (t Tag) implies(u Tag) bool {
	return t.kind == service && u.kind == member && t.mesh == u.mesh
}
