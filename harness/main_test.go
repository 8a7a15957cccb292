package harness

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"os"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/testbed"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// sharedEnvoy is the Envoy that tests share if they leave it unchanged. The other tests start
// their own.
var sharedEnvoy = testbed.Bed[*Harness]{Start: func() (*Harness, error) {
	return Start(context.Background(), WithRuntime(Process), WithEnvoy(cmp.Or(os.Getenv("MESHPROOF_ENVOY"), DefaultVersion)))
}}

func TestMain(m *testing.M) { sharedEnvoy.Main(m) }

// ownHarness starts a harness for a test that changes or breaks it.
func ownHarness(t *testing.T, opts ...Option) *Harness {
	t.Helper()
	return New(t, append([]Option{WithRuntime(Process)}, opts...)...)
}

var (
	domain   = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	stranger = spiffeid.RequireTrustDomainFromString("stranger.mesh")
	frontend = spiffeid.RequireFromPath(domain, "/ns/default/sa/frontend")
	intruder = spiffeid.RequireFromPath(domain, "/ns/default/sa/intruder")
	backend  = spiffeid.RequireFromPath(domain, "/ns/default/sa/backend")
)

const byDefault = "default"

// constant decides all requests alike.
func constant(layer policy.Layer, effect policy.Effect) policy.Program {
	return policy.Program{Gates: []policy.Gate{{Layer: layer, Default: policy.Verdict{Effect: effect, Origin: byDefault}}}}
}

// onlyFrontend lets only the frontend in; its shadow denies every caller.
func onlyFrontend(layer policy.Layer) policy.Program {
	return policy.Program{
		Gates: []policy.Gate{{
			Layer:   layer,
			Rules:   []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "friends only"}, When: attribute.Identity.Exact(frontend.String())}},
			Default: policy.Verdict{Origin: byDefault},
		}},
		Shadows: []policy.Gate{{Layer: layer, Default: policy.Verdict{Origin: "lockdown"}}},
	}
}

func compile(t testing.TB, p policy.Program) xds.Filters {
	t.Helper()
	f, err := xds.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// inbounds returns inbounds of each protocol, with the program for their layer. The strict
// ones have the name of the protocol and a port below 9000. The permissive ones are called
// "open ..." and have a port above it.
func inbounds(t testing.TB, program func(policy.Layer) policy.Program) MeshSpec {
	t.Helper()
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC, policy.TCP} {
		in := Inbound{Name: p.String(), Identity: backend, Address: address(8000 + uint16(p)), Protocol: p, Filters: compile(t, program(p.Layer()))}
		spec.Inbounds = append(spec.Inbounds, in)
		in.Name, in.Address, in.MTLS = "open "+in.Name, address(9000+uint16(p)), xds.Permissive
		spec.Inbounds = append(spec.Inbounds, in)
	}
	return spec
}

func address(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 7}), port)
}

func allOf(effect policy.Effect) func(policy.Layer) policy.Program {
	return func(layer policy.Layer) policy.Program { return constant(layer, effect) }
}

func mint(t testing.TB, m *Mesh, id spiffeid.ID) *certs.Credential {
	t.Helper()
	ca, err := m.Authority(id.TrustDomain())
	if err != nil {
		t.Fatal(err)
	}
	svid, err := ca.Mint(id)
	if err != nil {
		t.Fatal(err)
	}
	return svid
}

// inContainer starts a harness in a container, and closes it at the end of the test. The test is
// skipped without Docker, see [testbed.NeedDocker].
func inContainer(t *testing.T, opts ...Option) *Harness {
	t.Helper()
	h, err := Start(t.Context(), append(opts, WithRuntime(Container))...)
	if errors.Is(err, envoy.ErrNoDocker) {
		testbed.NeedDocker(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// send sends each request over a connection of its own and returns the findings. A disagreement
// fails the test.
func send(t testing.TB, m *Mesh, requests ...Request) ([]evidence.Finding, map[string]evidence.Counters) {
	t.Helper()
	return find(t, m.Send, requests)
}

// stream sends the requests over few connections, which costs a fifth where there are hundreds.
// TestStreamIsSend shows that the findings are the same.
func stream(t testing.TB, m *Mesh, requests ...Request) []evidence.Finding {
	t.Helper()
	findings, _ := find(t, m.Stream, requests)
	return findings
}

func find(t testing.TB, deliver func(context.Context, ...Request) (Batch, error), requests []Request) ([]evidence.Finding, map[string]evidence.Counters) {
	t.Helper()
	batch, err := deliver(t.Context(), requests...)
	if err != nil {
		t.Fatal(err)
	}
	findings := make([]evidence.Finding, len(requests))
	for i, e := range batch.Evidence {
		if findings[i], err = e.Find(); err != nil {
			t.Errorf("request %d, to %s: %v", i, requests[i].To, err)
		}
	}
	return findings, batch.Counters
}
