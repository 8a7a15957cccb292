package legacy

import (
	"fmt"
	"strings"
)

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

// Observed reports whether the action asks for a shadow.
func (a Action) Observed() bool { return a == AllowWithShadowDeny || a == DenyWithShadowAllow }

// admittedByShadow is the accepted form: the shadow allows DenyWithShadowAllow only.
func admittedByShadow(a Action) bool { return a == DenyWithShadowAllow }

// admittedByPreciseShadow is the precise form: the shadow decides as if it were enforced.
func admittedByPreciseShadow(a Action) bool { return a == DenyWithShadowAllow || a == Allow }
