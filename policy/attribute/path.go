package attribute

import "github.com/meshproof/meshproof/policy"

// Path is the normalized path without its query.
var Path = add(&policy.Attribute{
	Name:     "path",
	Phrase:   "path",
	Layer:    policy.L7,
	Value:    func(r *policy.Request, i int) (string, bool) { return r.PathOnly(), i == 0 },
	Always:   true,
	Kinds:    []policy.MatchKind{policy.Exact, policy.Segments},
	Forms:    []policy.Form{policy.Ordered, policy.Named},
	Routable: true,
})
