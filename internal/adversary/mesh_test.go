package adversary_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/policy"
)

// TestPlainRequestsGoThroughAMesh: what is not raw may be sent by a harness, and is
// answered as over Exchange.
func TestPlainRequestsGoThroughAMesh(t *testing.T) {
	t.Parallel()
	const inbound = "deny-path"
	filters := requestFilters(t)[inbound]
	h := harness.New(t, harness.WithRuntime(envoy.Process), harness.WithEnvoy(tested()), harness.WithMeshes(1))
	spec := harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	for _, protocol := range []policy.Protocol{policy.HTTP, policy.HTTP2} {
		spec.Inbounds = append(spec.Inbounds, harness.Inbound{
			Name: protocol.String(), Identity: backend, Protocol: protocol, Filters: filters,
			Address: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.7"), 8000+uint16(protocol)),
		})
	}
	m := h.Mesh(t, spec)
	credential := must(must(m.Authority(domain))(t).Mint(attacker))(t)
	var plain []adversary.Request
	var requests []harness.Request
	for _, r := range append(adversary.Requests(protectedMethod, protectedPath), adversary.Headers(protectedHeader, protectedValue)...) {
		if r.Raw() {
			continue
		}
		plain = append(plain, r)
		requests = append(requests, harness.Request{
			To: r.Protocol.String(), Credential: credential, Method: r.Method, Path: r.Path, Authority: r.Authority, Headers: r.Headers,
		})
	}
	batch := must(m.Send(t.Context(), requests...))(t)
	l := startLab(t, tested(), requestFilters(t))
	for i, a := range measureRequests(t, l, plain, []string{inbound}) {
		answer, log := batch.Evidence[i].Answer, batch.Evidence[i].Log
		if answer.Outcome != caller.Answered || fmt.Sprint(answer.Status) != a.reply.String() || log.Enforced != a.log.Enforced {
			t.Errorf("%s: %s, %v; over Exchange %s, %v", plain[i].Name, answer, log.Enforced, a.reply, a.log.Enforced)
		}
	}
}
