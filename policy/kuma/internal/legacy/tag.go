package legacy

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

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
