package harness

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// A harness works alike with Envoy as a process and in a container. The test is skipped if
// there is no Docker, unless MESHPROOF_REQUIRE_DOCKER demands it.
func TestHarnessInAContainer(t *testing.T) {
	t.Parallel()
	h, err := Start(t.Context(), WithRuntime(Container))
	if errors.Is(err, envoy.ErrNoDocker) && os.Getenv("MESHPROOF_REQUIRE_DOCKER") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.Runtime() != Container || h.envoy.PID() != 0 || h.envoy.ContainerID() == "" {
		t.Errorf("Envoy runs as a %s, process %d, container %q", h.Runtime(), h.envoy.PID(), h.envoy.ContainerID())
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	m, other := h.Mesh(t, inbounds(t, onlyFrontend)), h.Mesh(t, inbounds(t, allOf(policy.Deny)))
	var requests []Request
	var want []evidence.Finding
	friend, foe := mint(t, m, frontend), mint(t, m, intruder)
	for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC, policy.TCP} {
		requests = append(requests, call(p, false, Request{Credential: friend}), call(p, false, Request{Credential: foe}), call(p, false, Request{Plaintext: true}))
		want = append(want, served(p), refused(p), evidence.Finding{Form: evidence.HandshakeFailed})
	}
	findings, moved := send(t, m, requests...)
	if diff := cmp.Diff(want, findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if got, want := moved["tcp"], (evidence.Counters{Allowed: 1, Denied: 1, ShadowDenied: 2}); got != want {
		t.Errorf("counters moved by %s, want %s", got, want)
	}
	if err := m.SetFilters(t.Context(), map[string]xds.Filters{"tcp": spoilt(t)}); !errors.Is(err, xds.ErrNACK) || !strings.Contains(err.Error(), missing) {
		t.Errorf("error %v, want one that wraps %q and says %q", err, xds.ErrNACK, missing)
	}
	for _, m := range []*Mesh{m, other} {
		if err := m.SetFilters(t.Context(), map[string]xds.Filters{"tcp": compile(t, constant(policy.L4, policy.Allow))}); err != nil {
			t.Fatal(err)
		}
		findings, _ := send(t, m, call(policy.TCP, false, Request{Credential: mint(t, m, intruder)}))
		checkForms(t, findings, evidence.Served)
	}
}
