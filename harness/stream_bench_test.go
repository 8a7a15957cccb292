package harness_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// BenchmarkStreamHTTP measures decisions per second over kept connections, with all their
// evidence. Half of them are denied. A plain loop in the same run sends as many requests of
// the same callers over as many connections, to an Envoy with the same inbound and without
// logs, and throws all answers away.
func BenchmarkStreamHTTP(b *testing.B) {
	benchBatch(b, policy.HTTP, (*harness.Mesh).Stream, 20_000, 32)
}
func BenchmarkStreamHTTP2(b *testing.B) {
	benchBatch(b, policy.HTTP2, (*harness.Mesh).Stream, 20_000, 32)
}
func BenchmarkStreamGRPC(b *testing.B) {
	benchBatch(b, policy.GRPC, (*harness.Mesh).Stream, 20_000, 32)
}

// BenchmarkStreamTCP and BenchmarkSendTCP measure the same for TCP, where each decision is an
// mTLS connection.
func BenchmarkStreamTCP(b *testing.B) { benchBatch(b, policy.TCP, (*harness.Mesh).Stream, 2_000, 8) }
func BenchmarkSendTCP(b *testing.B)   { benchBatch(b, policy.TCP, (*harness.Mesh).Send, 2_000, 8) }

type send func(*harness.Mesh, context.Context, ...harness.Request) (harness.Batch, error)

func benchBatch(b *testing.B, p policy.Protocol, send send, n, connections int) {
	m, requests, dial := benchRequests(b, p, n)
	calls := benchCalls(b, m, requests[:2])
	for i := range calls {
		calls[i].Dial = dial
	}
	bareLoop(b, calls, n/10, connections)
	var proven, bare []float64
	for b.Loop() {
		began := time.Now()
		batch, err := send(m, b.Context(), requests...)
		if err != nil {
			b.Fatal(err)
		}
		proven = append(proven, time.Since(began).Seconds())
		b.StopTimer()
		var denied int
		for i, e := range batch.Evidence {
			f, err := e.Find()
			if err != nil {
				b.Fatal(i, err)
			}
			if f.Form == evidence.Refused {
				denied++
			}
		}
		if denied == 0 || denied == n {
			b.Fatalf("%d of %d requests were denied", denied, n)
		}
		b.StartTimer()
		began = time.Now()
		bareLoop(b, calls, n, connections)
		bare = append(bare, time.Since(began).Seconds())
	}
	ratios := make([]float64, len(bare))
	for i := range bare {
		ratios[i] = proven[i] / bare[i]
	}
	b.ReportMetric(float64(n)/median(proven), "decisions/s")
	b.ReportMetric(float64(n)/median(bare), "bare/s")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(0, "ns/op")
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// benchRequests returns the requests of an allowed and of a denied caller, and the address
// of a plain Envoy with their inbound.
func benchRequests(b *testing.B, p policy.Protocol, n int) (*harness.Mesh, []harness.Request, string) {
	b.Helper()
	gate := policy.Gate{
		Layer:   p.Layer(),
		Rules:   []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "policy"}, When: attribute.Identity.Exact(benchClient.String())}},
		Default: policy.Verdict{Origin: "default"},
	}
	in := harness.Inbound{
		Name: "inbound", Identity: spiffeid.RequireFromPath(benchDomain, "/server"), Protocol: p, Address: netip.MustParseAddrPort("10.0.0.1:8080"),
		Filters: must(xds.Compile(policy.Program{Gates: []policy.Gate{gate}, Shadows: []policy.Gate{gate}}))(b),
	}
	h := harness.New(b, harness.WithRuntime(harness.Process))
	m := h.Mesh(b, harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{benchDomain}, Inbounds: []harness.Inbound{in}})
	ca := must(m.Authority(benchDomain))(b)
	callers := []*certs.Credential{must(ca.Mint(benchClient))(b), must(ca.Mint(spiffeid.RequireFromPath(benchDomain, "/other")))(b)}
	requests := make([]harness.Request, n)
	for i := range requests {
		requests[i] = harness.Request{To: "inbound", Credential: callers[i%2], Path: fmt.Sprint("/items/", i)}
		if p == policy.GRPC {
			requests[i].GRPC = "bench.Bench/Call"
		}
	}
	return m, requests, bareEnvoy(b, in, ca)
}

// benchCalls returns the calls of the requests.
func benchCalls(b *testing.B, m *harness.Mesh, requests []harness.Request) []caller.Call {
	b.Helper()
	batch, err := m.Send(b.Context(), requests...)
	if err != nil {
		b.Fatal(err)
	}
	calls := make([]caller.Call, len(requests))
	for i, e := range batch.Evidence {
		calls[i] = e.Call
	}
	return calls
}
