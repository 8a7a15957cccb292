package policy

import "fmt"

// Effect is what a rule does to a request that it matches. The zero value denies, so
// that a rule whose effect was forgotten fails closed.
type Effect uint8

// The effects of rules are the actions of envoy.config.rbac.v3.RBAC.Action. A rule that logs
// decides nothing: it lets the request pass, and Envoy marks its access log entry.
//
// NoRoute is no effect of a rule: Envoy answers 404 to a request of a program with
// RoutesOnly that no route takes.
const (
	Deny Effect = iota
	Allow
	Log
	NoRoute
)

var effectNames = [...]string{Deny: "deny", Allow: "allow", Log: "log", NoRoute: "no route"}

// String returns "deny", "allow", "log" or "no route".
func (e Effect) String() string {
	if int(e) < len(effectNames) {
		return effectNames[e]
	}
	return fmt.Sprintf("effect %d", uint8(e))
}

// Layer says on which layer a gate judges. The layer decides what the gate sees of a
// request, and which form a refusal takes.
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

// Verdict is an effect together with its origin.
type Verdict struct {
	Effect Effect
	// Origin is the name that Envoy reports as effective policy: a KRI, the name
	// of a rule, or "default".
	Origin string
}

// String returns the effect and, where there is one, its origin. A gate that logs lets
// a request pass that none of its rules logs: that is "pass".
func (v Verdict) String() string {
	switch {
	case v == Verdict{Effect: Log}:
		return "pass"
	case v.Origin == "":
		return v.Effect.String()
	default:
		return fmt.Sprintf("%s by %s", v.Effect, v.Origin)
	}
}
