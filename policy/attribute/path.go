package attribute

import "github.com/meshproof/meshproof/policy"

// Path is the normalized path without its query.
var Path = add(&policy.Attribute{
	Name:     "path",
	Phrase:   "path",
	Layer:    policy.L7,
	Text:     func(r *policy.Request) (string, bool) { return r.PathOnly(), true },
	Always:   true,
	Kinds:    []policy.MatchKind{policy.Exact, policy.Segments},
	Forms:    []policy.Form{policy.Ordered, policy.Named},
	Routable: true,
})
