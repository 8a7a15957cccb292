package attribute

import "github.com/meshproof/meshproof/policy"

// Path is the normalized path without its query. A matcher of a gate of ordered rules sees
// the query too, so that such a gate cannot ask for the end of a path.
var Path = add(&policy.Attribute{
	Name:     "path",
	Phrase:   "path",
	Layer:    policy.L7,
	Text:     func(r *policy.Request) (string, bool) { return r.PathOnly(), true },
	Always:   true,
	Kinds:    []policy.MatchKind{policy.Exact, policy.Prefix, policy.Segments, policy.Suffix, policy.Contains, policy.Regex, policy.Template},
	Forms:    []policy.Form{policy.Ordered, policy.Named},
	Routable: true,
})
