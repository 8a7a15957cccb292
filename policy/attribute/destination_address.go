package attribute

import "github.com/meshproof/meshproof/policy"

// DestinationAddress is the address that the caller connects to: the local address of the
// connection, or what a listener filter restores of it. A caller of IPv6 connects to an address
// of IPv6. The input is
// envoy.extensions.matching.common_inputs.network.v3.DestinationIPInput, and the permission is
// destination_ip of envoy.config.rbac.v3.Permission.
var DestinationAddress = add(&policy.Attribute{
	Name:   "destination-address",
	Phrase: "destination address",
	Layer:  policy.L4,
	Text:   func(r *policy.Request) (string, bool) { return addressText(r.Destination) },
	Kinds:  []policy.MatchKind{policy.Exact, policy.CIDR},
	Forms:  []policy.Form{policy.Ordered, policy.Named},
})
