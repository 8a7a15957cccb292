package policy

import "fmt"

// Effect is what a rule does to a request it matches. The zero value denies, so
// that a rule whose effect was forgotten fails closed.
type Effect uint8

// The two effects of envoy.config.rbac.v3.RBAC.Action that decide a request.
const (
	Deny Effect = iota
	Allow
)

// String returns "deny" or "allow".
func (e Effect) String() string {
	if e == Allow {
		return "allow"
	}
	return "deny"
}

// Layer tells on which layer a gate judges, and with that what it can see of a
// request and which form its refusal takes.
type Layer uint8

const (
	// L4 judges a connection: it sees the peer and refuses by closing.
	L4 Layer = iota
	// L7 judges a request: it also sees method and path and refuses with a 403,
	// or with gRPC's PERMISSION_DENIED.
	L7
)

// String returns "L4" or "L7".
func (l Layer) String() string {
	if l == L7 {
		return "L7"
	}
	return "L4"
}

// Verdict is an effect together with the origin that is answerable for it.
type Verdict struct {
	Effect Effect
	// Origin is the name that Envoy reports as effective policy: a KRI, the name
	// of a rule, or "default".
	Origin string
}

// String returns the effect and, where there is one, its origin.
func (v Verdict) String() string {
	if v.Origin == "" {
		return v.Effect.String()
	}
	return fmt.Sprintf("%s by %s", v.Effect, v.Origin)
}
