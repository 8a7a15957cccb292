package routing

import (
	"strconv"

	"github.com/meshproof/meshproof/policy"
)

// Normalization is what the listener of an outbound does to paths before routes and inbounds see them, as
// Kuma's does: it resolves dot segments and escapes of characters that need none, and keeps slashes.
var Normalization = policy.PathNormalization{KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}

// Program returns the routes as a program that can be cut into classes: the origin of a decision
// is the number of the route that takes the request. It denies what no route takes. It is for no
// Envoy.
func (o Outbound) Program() policy.Program {
	if o.Protocol.Layer() == policy.L4 {
		return policy.Program{}
	}
	gate := policy.Gate{Layer: policy.L7, Default: policy.Verdict{Origin: "no route"}}
	for i, r := range o.Routes {
		when := r.When
		if when == nil {
			when = policy.Always
		}
		gate.Rules = append(gate.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: strconv.Itoa(i)}, When: when})
	}
	return policy.Program{Gates: []policy.Gate{gate}}
}
