package routing

import "github.com/meshproof/meshproof/internal/warning"

// Ignored is a policy, or a part of one, that has no effect on a sidecar.
type Ignored struct {
	// Origin is the identifier of the policy.
	Origin string
	// Place is "file:line" of the policy, or "file:line: field" of the part.
	Place string
	// Policy is "file:line" of the policy, also where Place is that of a part.
	Policy string
	Reason string
	// Kind is the kind of warning where it has no effect on any sidecar; empty where that is a
	// limit of the lab, and no fault of the policy.
	Kind warning.Kind
	// Missing is true where the policy names something that no document describes. Unproven is true where
	// a control plane may give it an effect, and the lab does not.
	Missing, Unproven bool
}

// Part is a rule of a route, or a limit of a timeout, which has an effect on some sidecar or on none.
type Part struct {
	// Origin is the identifier of the policy.
	Origin string
	// Place is "file:line: field", Sends that of the backends of a rule. Item and Policy are those of
	// what the part is in, as [Ignored] has them.
	Place, Sends, Item, Policy string
	// Limit is true for a limit.
	Limit bool
}

// String names the place, the policy and the reason.
func (i Ignored) String() string { return i.Place + ": " + i.Origin + ": " + i.Reason }
