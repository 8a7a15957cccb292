package attribute

import "github.com/meshproof/meshproof/policy"

// URISAN is each URI SAN of the peer's certificate, and each DNS SAN too. One match is
// enough. The principal "authenticated" of envoy.config.rbac.v3 does not tell the kinds of
// names apart: a DNS SAN with the text of a SPIFFE ID counts, with URI SANs beside it and
// without.
var URISAN = add(&policy.Attribute{
	Name:   "uri-san",
	Phrase: "a URI SAN",
	Layer:  policy.L4,
	Each: func(r *policy.Request, i int) (string, bool) {
		if i < len(r.URIs) {
			return r.URIs[i], true
		}
		return valueAt(r.DNS, i-len(r.URIs))
	},
	Kinds: []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex},
	Forms: []policy.Form{policy.Named},
})
