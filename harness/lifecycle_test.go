package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// small is a mesh of one inbound, "tcp".
func small(t testing.TB, filters xds.Filters) MeshSpec {
	t.Helper()
	return MeshSpec{
		TrustDomains: []spiffeid.TrustDomain{domain},
		Inbounds:     []Inbound{{Name: "tcp", Identity: backend, Address: address(5432), Protocol: policy.TCP, Filters: filters}},
	}
}

func TestNothingIsLeftBehindClose(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h, err := Start(t.Context(), WithRuntime(Process), WithEnvoy(DefaultVersion), WithLog(&log))
	if err != nil {
		t.Fatal(err)
	}
	if h.Version() != DefaultVersion || h.Runtime() != Process {
		t.Errorf("Envoy %s as a %s, want %s as a process", h.Version(), h.Runtime(), DefaultVersion)
	}
	// Closing the harness closes its meshes.
	m, err := h.NewMesh(t.Context(), small(t, xds.Filters{}))
	if err != nil {
		t.Fatal(err)
	}
	folder, pid := filepath.Dir(h.plan.Surroundings().Admin), h.envoy.PID()
	if _, err := os.Stat(folder); err != nil || syscall.Kill(pid, 0) != nil {
		t.Errorf("while it runs: folder %s %v, process %d %v", folder, err, pid, syscall.Kill(pid, 0))
	}
	for range 2 {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder %s: %v, want none", folder, err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d: %v, want none", pid, err)
	}
	if !strings.Contains(log.String(), "SIGTERM") {
		t.Errorf("the log of Envoy does not tell of its end: %s", log.String())
	}
	_, made := h.NewMesh(t.Context(), small(t, xds.Filters{}))
	_, sent := m.Send(t.Context(), Request{To: "tcp"})
	set, down := m.SetFilters(t.Context(), nil), m.Close(t.Context())
	for name, err := range map[string]error{"NewMesh": made, "Send": sent, "SetFilters": set, "Close": down} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s on a closed harness: %v, want %q", name, err, errClosed)
		}
	}
}

func TestStartThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx  context.Context
		opts []Option
		want error
	}{
		"unknown version":   {t.Context(), []Option{WithEnvoy("0.0.1")}, ErrUnknownVersion},
		"cancelled context": {cancelled, nil, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := Start(tt.ctx, append(tt.opts, WithRuntime(Process))...)
			if !errors.Is(err, tt.want) || h != nil || !strings.HasPrefix(err.Error(), "harness: start: ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, %q; want one line that wraps %q", h, err, tt.want)
			}
		})
	}
}

// fatal is a testing.TB whose failure does not fail the real test.
type fatal struct {
	testing.TB
	failed bool
}

func (f *fatal) Helper() {}
func (f *fatal) Fatal(...any) {
	f.failed = true
	panic(f)
}

func TestNewFailsTheTestWithoutEnvoy(t *testing.T) {
	t.Parallel()
	f := &fatal{TB: t}
	defer func() {
		if recover() != f || !f.failed {
			t.Error("New passed over an Envoy that cannot be had")
		}
	}()
	New(f, WithRuntime(Process), WithEnvoy("0.0.1"))
}

func TestMeshCloses(t *testing.T) {
	t.Parallel()
	h := ownHarness(t, WithMeshes(1))
	for range 3 {
		// Each mesh takes over the only port, with its own filters.
		m, err := h.NewMesh(t.Context(), small(t, compile(t, onlyFrontend(policy.L4))))
		if err != nil {
			t.Fatal(err)
		}
		friend := Request{To: "tcp", Credential: mint(t, m, frontend)}
		findings, moved := send(t, m, friend)
		checkForms(t, findings, evidence.Served)
		if got := moved["tcp"]; got != (evidence.Counters{Allowed: 1, ShadowDenied: 1}) {
			t.Errorf("counters of a new mesh moved by %s", got)
		}
		for range 2 {
			if err := m.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if _, err := m.Send(t.Context(), friend); !errors.Is(err, errClosedMesh) {
			t.Errorf("Send on a closed mesh: %v, want %q", err, errClosedMesh)
		}
		if err := m.SetFilters(t.Context(), nil); !errors.Is(err, errClosedMesh) {
			t.Errorf("SetFilters on a closed mesh: %v, want %q", err, errClosedMesh)
		}
		if n := len(h.slots.free); n != 1 {
			t.Errorf("%d ports are free behind a closed mesh, want 1", n)
		}
	}
}

func TestMeshesWaitForAPort(t *testing.T) {
	t.Parallel()
	h := ownHarness(t, WithMeshes(2))
	first, _ := h.Mesh(t, small(t, xds.Filters{})), h.Mesh(t, small(t, xds.Filters{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.NewMesh(ctx, small(t, xds.Filters{})); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "all 2 ports of Envoy are lent") {
		t.Errorf("a third mesh on two ports: %v", err)
	}
	waiting := make(chan error)
	go func() {
		third, err := h.NewMesh(t.Context(), small(t, xds.Filters{}))
		if err == nil {
			err = third.Close(t.Context())
		}
		waiting <- err
	}()
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("a mesh that waited for a port: %v", err)
	}
}

// A mesh that fails leaves its port to the next mesh.
func TestNewMeshThatFailsGivesItsPortBack(t *testing.T) {
	t.Parallel()
	h := ownHarness(t, WithMeshes(1))
	nameless := small(t, xds.Filters{})
	nameless.Inbounds[0].Identity = spiffeid.ID{}
	for range 2 {
		if _, err := h.NewMesh(t.Context(), small(t, spoilt(t))); !errors.Is(err, xds.ErrNACK) || !strings.Contains(err.Error(), missing) {
			t.Errorf("error %v, want an error that wraps %q and says %q", err, xds.ErrNACK, missing)
		}
		if _, err := h.NewMesh(t.Context(), nameless); err == nil || !strings.Contains(err.Error(), `inbound "tcp": `) {
			t.Errorf("an inbound without identity: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := h.NewMesh(ctx, small(t, xds.Filters{})); !errors.Is(err, context.Canceled) {
			t.Errorf("with a cancelled context: %v", err)
		}
	}
	m := h.Mesh(t, small(t, xds.Filters{}))
	findings, _ := send(t, m, Request{To: "tcp", Credential: mint(t, m, frontend)})
	checkForms(t, findings, evidence.Served)
}

// A result never has the version of another Envoy.
func TestStartRefusesAnEnvoyOfAnotherVersion(t *testing.T) {
	bin, err := envoy.Fetch(t.Context(), DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	liar, pid := filepath.Join(dir, "envoy"), filepath.Join(dir, "pid")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || { echo $$ >%q; exec %q \"$@\"; }\necho 'envoy  version: 0/1.36.4/Clean/RELEASE/BoringSSL'\n", pid, bin)
	if err := os.WriteFile(liar, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVOY_BIN", liar)
	h, err := Start(t.Context(), WithRuntime(Process), WithEnvoy("1.36.4"))
	if !errors.Is(err, ErrUnknownVersion) || h != nil || !strings.Contains(err.Error(), "it is Envoy "+DefaultVersion+", not 1.36.4") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, %v; want one line that wraps %q", h, err, ErrUnknownVersion)
	}
	id, err := os.ReadFile(pid)
	if err != nil {
		t.Fatalf("it never ran: %v", err)
	}
	if _, err := os.Stat(filepath.Join("/proc", strings.TrimSpace(string(id)))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Envoy is left: process %s, %v", id, err)
	}
}

// A harness works alike with Envoy as a process and in a container. The test is skipped if
// there is no Docker, unless MESHPROOF_REQUIRE_DOCKER demands it.
func TestHarnessInAContainer(t *testing.T) {
	t.Parallel()
	h := inContainer(t)
	if h.Runtime() != Container || h.envoy.PID() != 0 || h.envoy.ContainerID() == "" {
		t.Errorf("Envoy runs as a %s, process %d, container %q", h.Runtime(), h.envoy.PID(), h.envoy.ContainerID())
	}
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
		t.Errorf("error %v, want an error that wraps %q and says %q", err, xds.ErrNACK, missing)
	}
	for _, m := range []*Mesh{m, other} {
		if err := m.SetFilters(t.Context(), map[string]xds.Filters{"tcp": compile(t, constant(policy.L4, policy.Allow))}); err != nil {
			t.Fatal(err)
		}
		findings, _ := send(t, m, call(policy.TCP, false, Request{Credential: mint(t, m, intruder)}))
		checkForms(t, findings, evidence.Served)
	}
}

// A wrong specification is refused before Envoy is asked: this harness has no Envoy.
func TestMeshSpecsThatAreRefused(t *testing.T) {
	t.Parallel()
	one, two := Inbound{Name: "one", Address: address(1)}, Inbound{Name: "two", Address: address(2)}
	named, addressed, control, inItsPlace := two, two, one, one
	named.Name, addressed.Address, control.Name, inItsPlace.Address = one.Name, one.Address, controlName, controlAddress
	own := []spiffeid.TrustDomain{domain}
	for name, tt := range map[string]struct {
		spec MeshSpec
		want string
	}{
		"no trust domain":       {MeshSpec{Inbounds: []Inbound{one, two}}, "it trusts no trust domain"},
		"a name twice":          {MeshSpec{TrustDomains: own, Inbounds: []Inbound{one, named}}, `two inbounds are named "one"`},
		"an address twice":      {MeshSpec{TrustDomains: own, Inbounds: []Inbound{one, addressed}}, `inbounds "one" and "two" share the address 10.0.0.7:1`},
		"the control's name":    {MeshSpec{TrustDomains: own, Inbounds: []Inbound{control}}, "takes the place of the positive control"},
		"the control's address": {MeshSpec{TrustDomains: own, Inbounds: []Inbound{inItsPlace}}, "takes the place of the positive control"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := (&Harness{}).NewMesh(t.Context(), tt.spec)
			if err == nil || !strings.HasPrefix(err.Error(), "harness: mesh: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSendToAnUnknownInbound(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}, Inbounds: []Inbound{{Name: "one", Identity: backend, Address: address(1)}}})
	for _, to := range []string{"two", "", controlName} {
		batch, err := m.Send(t.Context(), Request{To: "one", Credential: mint(t, m, frontend)}, Request{To: to})
		if err == nil || !strings.Contains(err.Error(), `it has ["one"]`) || batch.Evidence != nil {
			t.Errorf("to %q: %+v, %v; want an error that names the inbounds there are", to, batch, err)
		}
	}
}

// A batch without requests sends the positive control only.
func TestSendNothing(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}})
	batch, err := m.Send(t.Context())
	if err != nil || len(batch.Evidence) != 0 || len(batch.Counters) != 0 {
		t.Errorf("got %+v, %v", batch, err)
	}
}
