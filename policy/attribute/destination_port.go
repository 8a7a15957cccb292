package attribute

import (
	"strconv"

	"github.com/meshproof/meshproof/policy"
)

// DestinationPort is the port that the caller connects to: the local port of the connection,
// or what a listener filter restores of it. The input is
// envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput, and the permissions
// are destination_port and destination_port_range of envoy.config.rbac.v3.Permission.
var DestinationPort = add(&policy.Attribute{
	Name:   "destination-port",
	Phrase: "destination port",
	Layer:  policy.L4,
	Text:   func(r *policy.Request) (string, bool) { return strconv.Itoa(int(r.Port)), r.Port != 0 },
	Kinds:  []policy.MatchKind{policy.Exact, policy.Range},
	Forms:  []policy.Form{policy.Ordered, policy.Named},
})
