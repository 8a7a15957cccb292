package networkpolicy_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/evaluation"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
)

// An empty list of peers names nobody, whatever it lists. Both readings of the policies say so: a mistake that both have in
// common shows in no comparison of the two.
func TestEmptyListsOfPeersNameNobody(t *testing.T) {
	t.Parallel()
	in := inbounds()[1]
	for _, list := range []string{"fromEndpoints", "fromCIDR", "fromCIDRSet", "fromEntities"} {
		for body, want := range map[string]policy.Effect{
			"ingress: [{" + list + ": []}]":                                       policy.Deny,
			"ingress: [{fromEntities: [all]}], ingressDeny: [{" + list + ": []}]": policy.Allow,
			"ingress: [{toPorts: [{ports: [{port: '5432'}]}]}]":                   policy.Allow,
		} {
			ps := parseAll(t, one("CiliumNetworkPolicy", "name: p, namespace: default", "spec: {endpointSelector: {}, "+body+"}"))
			for _, caller := range []string{"spiffe://td/frontend", "spiffe://td/stranger"} {
				r := policy.Request{URIs: []string{caller}, Port: in.Port, Source: peers()[1].IP}
				if got := policy.Decide(networkpolicy.Lower(networkpolicy.Select(ps, in, options()), in, options()), r).Effect; got != want {
					t.Errorf("%s: the program says %s of %s, want %s", body, got, caller, want)
				}
				if got := evaluation.ForInbound(ps, in, options())(r).Effect; got != want {
					t.Errorf("%s: the plain evaluation says %s of %s, want %s", body, got, caller, want)
				}
			}
		}
	}
}
