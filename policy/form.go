package policy

// Form is the way in which Envoy's RBAC filter holds the rules of a gate.
type Form uint8

const (
	// Ordered rules are a matcher (xds.type.matcher.v3.Matcher): the first that
	// matches decides. It sees the peer as one text, see [Identity].
	Ordered Form = iota
	// Named rules are the policies of envoy.config.rbac.v3.RBAC with action ALLOW:
	// the request passes if one of them matches, and the first in the order of their
	// names is the effective one. It sees each URI SAN by itself, see [URI].
	Named
)

var formNames = [...]string{Ordered: "ordered", Named: "named"}

// String returns "ordered" or "named".
func (f Form) String() string { return formNames[f] }
