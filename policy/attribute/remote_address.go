package attribute

import "github.com/meshproof/meshproof/policy"

// RemoteAddress is the address of the caller as Envoy takes it: from a header on L7 where the
// HTTP connection manager trusts one, else from the PROXY protocol where a listener filter
// reads it, else the peer's. The input is
// envoy.extensions.matching.common_inputs.network.v3.SourceIPInput, and the principal is
// remote_ip of envoy.config.rbac.v3.Principal.
var RemoteAddress = add(&policy.Attribute{
	Name:   "remote-address",
	Phrase: "remote address",
	Layer:  policy.L4,
	Text: func(r *policy.Request) (string, bool) {
		if r.Remote.IsValid() {
			return addressText(r.Remote)
		}
		return addressText(r.Source)
	},
	Kinds: []policy.MatchKind{policy.Exact, policy.CIDR},
	Forms: []policy.Form{policy.Ordered, policy.Named},
})
