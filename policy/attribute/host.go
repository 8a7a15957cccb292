package attribute

import "github.com/meshproof/meshproof/policy"

// Host is the authority of a request: the header Host of HTTP/1.1, and :authority of HTTP/2.
// Envoy compares it as the caller sends it, with its port and in its case: "a.com", "A.COM"
// and "a.com:8080" are three values.
var Host = add(&policy.Attribute{
	Name:     "host",
	Phrase:   "host",
	Layer:    policy.L7,
	Text:     func(r *policy.Request) (string, bool) { return r.Host, true },
	Always:   true,
	Kinds:    []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex, policy.Present},
	Forms:    []policy.Form{policy.Ordered, policy.Named},
	Routable: true,
})
