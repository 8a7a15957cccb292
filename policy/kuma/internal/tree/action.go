package tree

import "fmt"

// Action is what a rule does to the requests that meet one of its conditions. A
// heavier action has a greater value, so that the merged action is the greatest.
type Action uint8

// The actions, the lightest first. Nothing is the action of a request to which no rule
// applies: it is denied by "default".
const (
	Nothing Action = iota
	Allow
	AllowWithShadowDeny
	Deny
)

var actionNames = [...]string{Nothing: "Nothing", Allow: "Allow", AllowWithShadowDeny: "AllowWithShadowDeny", Deny: "Deny"}

// String returns the name used in policies.
func (a Action) String() string { return actionNames[a] }

// UnmarshalText reads the name used in policies. An unknown name is an error that
// lists the known ones. Nothing is no name that a policy can use.
func (a *Action) UnmarshalText(text []byte) error {
	for i, name := range actionNames {
		if name == string(text) && Action(i) != Nothing {
			*a = Action(i)
			return nil
		}
	}
	return fmt.Errorf("action %q is unknown: use Deny, Allow or AllowWithShadowDeny", text)
}

// Denies reports whether a request is refused.
func (a Action) Denies() bool { return a == Deny || a == Nothing }

// DeniesInShadow reports whether the shadow refuses a request: it would be refused
// if every AllowWithShadowDeny were a Deny.
func (a Action) DeniesInShadow() bool { return a != Allow }
