package attribute

import (
	"net/netip"

	"github.com/meshproof/meshproof/policy"
)

// SourceAddress is the address of the peer of the connection. Neither a header nor the PROXY
// protocol changes it. The input is
// envoy.extensions.matching.common_inputs.network.v3.DirectSourceIPInput, and the principal is
// direct_remote_ip of envoy.config.rbac.v3.Principal.
var SourceAddress = add(&policy.Attribute{
	Name:   "source-address",
	Phrase: "source address",
	Layer:  policy.L4,
	Text:   func(r *policy.Request) (string, bool) { return addressText(r.Source) },
	Kinds:  []policy.MatchKind{policy.Exact, policy.CIDR},
	Forms:  []policy.Form{policy.Ordered, policy.Named},
})

func addressText(address netip.Addr) (string, bool) {
	if !address.IsValid() {
		return "", false
	}
	return address.String(), true
}
