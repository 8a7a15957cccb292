package authentication

import (
	"slices"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// Lint warns of each policy that says whose tokens are taken, where no policy of its inbounds asks for one: a request without a token is judged as if the
// policy were not there.
func Lint(ps []Policy, inbounds []policy.Inbound, rootNamespace string, asks func(policy.Inbound) bool) (out []policy.Warning) {
	for _, p := range ps {
		selected := slices.DeleteFunc(slices.Clone(inbounds), func(in policy.Inbound) bool {
			return in.Protocol.Layer() != policy.L7 || p.missReason(in.Workload, rootNamespace) != nil
		})
		if len(p.resource.Spec.Rules) == 0 || len(selected) == 0 || slices.ContainsFunc(selected, asks) {
			continue
		}
		out = append(out, policy.Warning{
			Kind: warning.TokenNotRequired, Place: p.place, Policy: p.String(),
			Message: "it refuses bad tokens and demands none, and no AuthorizationPolicy of these files asks for one: a request without a token is let in as if this were not there. Demand one by requestPrincipals",
		})
	}
	return out
}
