package suite_test

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
)

// BenchmarkStories runs the nine user stories on one warm Envoy, with their configuration.
// Then a plain loop makes as many connections of the same protocols and callers, and
// gathers no evidence. The ratio is the price of configuration and evidence. The loop
// sends an allowed request in place of a refused one, which costs it a little more.
func BenchmarkStories(b *testing.B) {
	all, err := cases.Stories()
	if err != nil {
		b.Fatal(err)
	}
	var stories []cases.Case
	for _, c := range all {
		if strings.HasPrefix(c.Story, "mesh-operator-") || strings.HasPrefix(c.Story, "service-owner-") {
			stories = append(stories, c)
		}
	}
	h := harness.New(b, harness.WithRuntime(envoy.Process))
	open := openMesh(b, h)
	suite.Runner{Harness: h}.Run(b.Context(), stories...)
	var proven, bare time.Duration
	decisions := 0
	for b.Loop() {
		began := time.Now()
		var calls []result.Request
		for _, r := range (suite.Runner{Harness: h}).Run(b.Context(), stories...) {
			if !r.Passed() {
				b.Fatal(r.Case.Name, r.Err)
			}
			calls = append(calls, r.Requests...)
		}
		proven += time.Since(began)
		began = time.Now()
		open.repeat(b, calls)
		bare += time.Since(began)
		decisions += len(calls)
	}
	b.ReportMetric(float64(decisions)/proven.Seconds(), "decisions/s")
	b.ReportMetric(float64(decisions)/bare.Seconds(), "bare/s")
	b.ReportMetric(proven.Seconds()/bare.Seconds(), "ratio")
}

// open has a call for each protocol to an inbound that lets every caller in.
type open map[policy.Protocol]caller.Call

func openMesh(b *testing.B, h *harness.Harness) open {
	b.Helper()
	td := spiffeid.RequireTrustDomainFromString("bare.mesh")
	spec := harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{td}}
	for i, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC, policy.TCP} {
		spec.Inbounds = append(spec.Inbounds, harness.Inbound{
			Name: p.String(), Identity: spiffeid.RequireFromPath(td, "/server"), Protocol: p,
			Address: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(8080+i)),
		})
	}
	mesh := h.Mesh(b, spec)
	ca, err := mesh.Authority(td)
	if err != nil {
		b.Fatal(err)
	}
	client, err := ca.Mint(spiffeid.RequireFromPath(td, "/client"))
	if err != nil {
		b.Fatal(err)
	}
	calls := open{}
	for _, in := range spec.Inbounds {
		request := harness.Request{To: in.Name, Credential: client}
		if in.Protocol == policy.GRPC {
			request.GRPC = "bench.Bench/Call"
		}
		batch, err := mesh.Send(b.Context(), request)
		if err != nil {
			b.Fatal(err)
		}
		calls[in.Protocol] = batch.Evidence[0].Call
	}
	return calls
}

// repeat makes a connection for each request, as many at once as the harness does.
func (o open) repeat(b *testing.B, requests []result.Request) {
	var callers sync.WaitGroup
	free := make(chan struct{}, 8)
	for _, q := range requests {
		call := o[q.Evidence.Call.Protocol]
		call.Plaintext = q.Evidence.Call.Plaintext
		if q.Finding.Form == evidence.HandshakeFailed {
			call.Credential = nil
		}
		free <- struct{}{}
		callers.Go(func() {
			defer func() { <-free }()
			conn := connection.Open(context.Background(), call, 0)
			defer conn.Close()
			if answer := conn.Send(call); answer.Outcome == caller.Fault {
				b.Error(answer)
			}
		})
	}
	callers.Wait()
}
