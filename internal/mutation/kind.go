package mutation

// Kind is what is wrong.
type Kind uint8

// The kinds of mistakes.
const (
	// DenyMoved puts a deny behind the last allow of its list.
	DenyMoved Kind = iota
	// ExactToPrefix compares the beginning where the whole is meant.
	ExactToPrefix
	// LastRuleLost leaves out the last rule of a list.
	LastRuleLost
	// NoMatchDropped leaves out what holds where no rule matches.
	NoMatchDropped
	// NoMatchInverted lets pass where no rule matches, or denies where that lets pass.
	NoMatchInverted
	// ShadowSwapped enforces the shadow, and observes what was to be enforced.
	ShadowSwapped
	// AndToOr asks for one of two things where both are meant.
	AndToOr
	// RawPaths judges paths as they are written, without normalization.
	RawPaths
	// WrongFilter configures the filter of the other protocol, which judges nothing.
	WrongFilter
	// StaleTrust leaves Envoy with the CAs of before a rotation.
	StaleTrust

	kinds
)

var kindNames = [kinds]string{
	DenyMoved: "deny moved behind an allow", ExactToPrefix: "exact turned prefix", LastRuleLost: "last rule lost",
	NoMatchDropped: "no-match dropped", NoMatchInverted: "no-match inverted", ShadowSwapped: "shadow swapped with enforced",
	AndToOr: "and turned or", RawPaths: "path without normalization", WrongFilter: "wrong kind of filter", StaleTrust: "stale trust bundle",
}

// String says what is wrong in a few words.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns all kinds.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for k := range out {
		out[k] = Kind(k)
	}
	return out
}
