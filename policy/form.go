package policy

import "strconv"

// Form is how Envoy's RBAC filter holds the rules of a gate.
type Form uint8

const (
	// Ordered rules are a matcher (xds.type.matcher.v3.Matcher): the first that
	// matches decides. It sees the peer as one text: this is the attribute identity.
	Ordered Form = iota
	// Named rules are the policies of one envoy.config.rbac.v3.RBAC. Its action is the
	// effect of all of them. They are asked in the order of their names, and the first
	// that matches is the effective one. The default of the gate says which effect that is:
	// rules beside the default deny all allow, rules beside the default allow all deny, and
	// rules beside the default log all log. Named rules see each URI SAN by itself: this is the attribute uri-san.
	Named
)

var formNames = [...]string{Ordered: "ordered", Named: "named"}

// String returns "ordered" or "named".
func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return "form " + strconv.Itoa(int(f))
}
