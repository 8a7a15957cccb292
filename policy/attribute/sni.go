package attribute

import "github.com/meshproof/meshproof/policy"

// SNI is the server name of the TLS handshake, in lower case. It is the caller's word: no
// certificate proves it. A caller that sends none has no such text, so that no match meets
// it. Envoy learns the name from a TLS inspector alone: measured, without one no match meets
// any caller. The input is
// envoy.extensions.matching.common_inputs.network.v3.ServerNameInput, and the permission is
// requested_server_name of envoy.config.rbac.v3.Permission.
var SNI = add(&policy.Attribute{
	Name:   "sni",
	Phrase: "SNI",
	Layer:  policy.L4,
	Text:   func(r *policy.Request) (string, bool) { return r.SNI, r.SNI != "" },
	Kinds:  []policy.MatchKind{policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex},
	Forms:  []policy.Form{policy.Ordered, policy.Named},
})
