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
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// planned returns the proof of a case.
func planned(t testing.TB, c cases.Case) *proof.Proof {
	t.Helper()
	p, err := proof.Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The nine user stories hold for every request, and so does the shortest case of every other
// story. With -short the test takes the shortest case of each of the nine stories. `make prove`
// proves all cases.
func TestProofsOfStoriesHold(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	shortest := map[string]int{}
	for i, c := range all {
		if best, ok := shortest[c.Story]; c.ExpectError == "" && len(c.Inbounds) > 0 && (!ok || len(c.Source) < len(all[best].Source)) {
			shortest[c.Story] = i
		}
	}
	var proofs []*proof.Proof
	var asked []*verdict.Reading
	for i, c := range all {
		nine := strings.HasPrefix(c.Story, "mesh-operator-") || strings.HasPrefix(c.Story, "service-owner-")
		if testing.Short() && !nine {
			continue
		}
		if best, ok := shortest[c.Story]; c.ExpectError != "" || c.Story == "legacy-size" || (!nine || testing.Short()) && (!ok || best != i) {
			continue
		}
		p := planned(t, c)
		proofs, asked = append(proofs, p), append(asked, p.Reading)
	}
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	classes := 0
	for i, r := range (suite.Runner{Harness: h, Kept: true}).Readings(t.Context(), asked...) {
		v := proofs[i].Judge(r)
		proven, of := v.Counts()
		classes += of
		if !v.Holds() || !v.Complete() {
			t.Errorf("%s: %s: %d of %d classes, complete: %t: %v", r.Case.Place, r.Case.Name, proven, of, v.Complete(), v.Err)
		}
		for _, q := range v.Disagreements {
			t.Errorf("%s: %s %s %s as %s: %q", r.Case.Place, q.To, q.Method, q.Path, q.From.Name, q.Problems)
		}
	}
	least := 300
	if testing.Short() {
		least = 50
	}
	if classes < least {
		t.Errorf("%d classes in all", classes)
	}
}

// The same classes, asked on fresh connections and on kept ones, are decided alike.
func TestKeptConnectionsDecideAlike(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	p := planned(t, casetest.Parse(t, `
case: scrapes
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080, protocol: http}, {name: tcp-port, port: 5432, protocol: tcp}]}]
policies:
  - type: MeshTrafficPermission
    name: p
    spec:
      default:
        deny: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/legacy/sa/a}}]
        allow:
          - spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/observability/}
            path: {type: Prefix, value: /metrics}
requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]
`))
	fresh := suite.Runner{Harness: h}.Case(t.Context(), p.Case)
	kept := suite.Runner{Harness: h, Kept: true}.Case(t.Context(), p.Case)
	if !p.Judge(fresh).Holds() || !p.Judge(kept).Holds() {
		t.Fatalf("%v; %v", fresh.Err, kept.Err)
	}
	for i := range fresh.Requests {
		if a, b := fresh.Requests[i], kept.Requests[i]; a.Finding != b.Finding {
			t.Errorf("%s as %s: %+v; kept: %+v", a.Path, a.From.Name, a.Finding, b.Finding)
		}
	}
}

// No certificate of an attacker passes for the certificate of a caller that is let in.
func TestAttackOnEnvoy(t *testing.T) {
	t.Parallel()
	p := planned(t, casetest.Parse(t, `
case: x
workloads: [{name: backend, inbounds: [{name: http-port, port: 80, protocol: http}, {name: tcp-port, port: 81, protocol: tcp}]}]
policies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/shop/sa/victim}}]}}}]
requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]
`))
	p.Attack()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	if v := p.Judge(suite.Runner{Harness: h, Kept: true}.Case(t.Context(), p.Case)); !v.Holds() {
		t.Errorf("%v", v.Err)
		for _, q := range v.Disagreements {
			t.Errorf("%s to %s: %q", q.From.Name, q.To, q.Problems)
		}
	}
	// A compiler that allows everything lets in every caller that mTLS accepts.
	if v := p.Judge(suite.Runner{Harness: h, Compiler: suite.AllowEverything}.Case(t.Context(), p.Case)); len(v.Disagreements) < 20 {
		t.Errorf("%d disagreements", len(v.Disagreements))
	}
}

// BenchmarkStories runs the nine user stories on one warm Envoy, with their configuration.
// Then a plain loop makes as many connections of the same protocols and callers, and
// gathers no evidence. The ratio is the price of configuration and evidence. The loop
// sends an allowed request in place of a refused one, which costs it a little more.
func BenchmarkStories(b *testing.B) {
	all := casetest.Stories(b)
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

// openCalls has a call for each protocol to an inbound that lets every caller in.
type openCalls map[policy.Protocol]caller.Call

func openMesh(b *testing.B, h *harness.Harness) openCalls {
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
	calls := openCalls{}
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
func (o openCalls) repeat(b *testing.B, requests []result.Request) {
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
