package mutation

// Kind is a kind of mistake.
type Kind uint8

// The kinds of mistakes.
const (
	// DenyMoved moves a deny after the last allow of its list.
	DenyMoved Kind = iota
	// ExactToPrefix compares only the beginning of a value.
	ExactToPrefix
	// LastRuleLost drops the last rule of a list.
	LastRuleLost
	// NoMatchDropped drops the verdict for requests that no rule matches.
	NoMatchDropped
	// NoMatchInverted inverts the verdict for requests that no rule matches.
	NoMatchInverted
	// ShadowSwapped enforces the shadow, and only observes the enforced rules.
	ShadowSwapped
	// AndToOr asks for one of several conditions instead of all.
	AndToOr
	// RawPaths judges paths without normalization.
	RawPaths
	// WrongFilter configures the filter of another protocol, which judges nothing.
	WrongFilter
	// StaleTrust keeps the CAs from before a rotation in Envoy.
	StaleTrust

	kinds
)

var kindNames = [kinds]string{
	DenyMoved: "deny moved behind an allow", ExactToPrefix: "exact turned prefix", LastRuleLost: "last rule lost",
	NoMatchDropped: "no-match dropped", NoMatchInverted: "no-match inverted", ShadowSwapped: "shadow swapped with enforced",
	AndToOr: "and turned or", RawPaths: "path without normalization", WrongFilter: "wrong kind of filter", StaleTrust: "stale trust bundle",
}

// String names the mistake in a few words.
func (k Kind) String() string { return kindNames[k] }

// Kinds returns all kinds.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for k := range out {
		out[k] = Kind(k)
	}
	return out
}
