package attribute

import "github.com/meshproof/meshproof/policy"

// Method is the HTTP method. It is case sensitive, and GET does not cover HEAD.
var Method = add(&policy.Attribute{
	Name:     "method",
	Phrase:   "method",
	Layer:    policy.L7,
	Text:     func(r *policy.Request) (string, bool) { return r.Method, true },
	Always:   true,
	Kinds:    []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex},
	Forms:    []policy.Form{policy.Ordered, policy.Named},
	Routable: true,
})
