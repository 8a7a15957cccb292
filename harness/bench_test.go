package harness_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

var (
	benchDomain = spiffeid.RequireTrustDomainFromString("bench.mesh")
	benchClient = spiffeid.RequireFromPath(benchDomain, "/client")
)

// benchSpec returns a mesh of n http inbounds that let the client pass.
func benchSpec(b *testing.B, n int) harness.MeshSpec {
	b.Helper()
	spec := harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{benchDomain}}
	for i := range n {
		spec.Inbounds = append(spec.Inbounds, harness.Inbound{
			Name: fmt.Sprint("inbound", i), Identity: spiffeid.RequireFromPath(benchDomain, "/server"), Protocol: policy.HTTP,
			Address: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(8080+i)),
			Filters: benchFilters(b, policy.Allow, "policy"),
		})
	}
	return spec
}

func benchFilters(b *testing.B, effect policy.Effect, origin string) xds.Filters {
	b.Helper()
	filters, err := xds.Compile(policy.Program{Gates: []policy.Gate{{
		Layer: policy.L7,
		Rules: []policy.Rule{{
			Verdict: policy.Verdict{Effect: effect, Origin: origin},
			When:    attribute.Identity.Exact(benchClient.String()),
		}},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	return filters
}

func benchCredential(b *testing.B, m *harness.Mesh) *certs.Credential {
	b.Helper()
	ca, err := m.Authority(benchDomain)
	if err != nil {
		b.Fatal(err)
	}
	client, err := ca.Mint(benchClient)
	if err != nil {
		b.Fatal(err)
	}
	return client
}

// decide sends one request and returns how it was decided.
func decide(b *testing.B, m *harness.Mesh, client *certs.Credential) policy.Effect {
	b.Helper()
	batch, err := m.Send(b.Context(), harness.Request{To: "inbound0", Credential: client})
	if err != nil {
		b.Fatal(err)
	}
	found, err := batch.Evidence[0].Find()
	if err != nil {
		b.Fatal(err)
	}
	if found.Form == evidence.Served {
		return policy.Allow
	}
	return policy.Deny
}

// BenchmarkStart measures the time from nothing to the first decision with its evidence:
// Envoy, control plane, mesh and request.
func BenchmarkStart(b *testing.B) {
	for _, runtime := range []harness.Runtime{harness.Process, harness.Container} {
		b.Run(runtime.String(), func(b *testing.B) {
			warm, err := harness.Start(b.Context(), harness.WithRuntime(runtime))
			if err != nil {
				b.Skip(err)
			}
			if err := warm.Close(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				h, err := harness.Start(b.Context(), harness.WithRuntime(runtime))
				if err != nil {
					b.Fatal(err)
				}
				m, err := h.NewMesh(b.Context(), benchSpec(b, 1))
				if err != nil {
					b.Fatal(err)
				}
				if decide(b, m, benchCredential(b, m)) != policy.Allow {
					b.Fatal("the client was denied")
				}
				b.StopTimer()
				if err := h.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkSetFilters changes one policy of a mesh of 5 inbounds, and waits until the change
// is live. The mesh is alone on its Envoy, or among 500 other inbounds.
func BenchmarkSetFilters(b *testing.B) {
	for _, others := range []int{0, 500} {
		b.Run(fmt.Sprint(others, " other inbounds"), func(b *testing.B) {
			h := harness.New(b, harness.WithRuntime(harness.Process))
			m := h.Mesh(b, benchSpec(b, 5))
			for range others / 50 {
				h.Mesh(b, benchSpec(b, 50))
			}
			client := benchCredential(b, m)
			longest, n := time.Duration(0), 0
			for b.Loop() {
				effect := []policy.Effect{policy.Deny, policy.Allow}[n%2]
				filters := benchFilters(b, effect, fmt.Sprint("policy-", n))
				began := time.Now()
				if err := m.SetFilters(b.Context(), map[string]xds.Filters{"inbound0": filters}); err != nil {
					b.Fatal(err)
				}
				longest = max(longest, time.Since(began))
				b.StopTimer()
				if got := decide(b, m, client); got != effect {
					b.Fatalf("the change to %s is not live: got %s", effect, got)
				}
				b.StartTimer()
				n++
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
		})
	}
}
