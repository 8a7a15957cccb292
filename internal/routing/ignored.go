package routing

// Ignored is a policy, or a part of one, that has no effect on a sidecar.
type Ignored struct {
	// Origin is the identifier of the policy.
	Origin string
	// Place is "file:line" of the policy, or "file:line: field" of the part.
	Place  string
	Reason string
	// Missing is true where the policy names something that no document describes.
	Missing bool
}

// String names the place, the policy and the reason.
func (i Ignored) String() string { return i.Place + ": " + i.Origin + ": " + i.Reason }
