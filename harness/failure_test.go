package harness

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func signal(t *testing.T, h *Harness, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(h.envoy.PID(), s); err != nil {
		t.Error(err)
	}
}

// A caller of a dead Envoy sees a closed connection, as a denied caller does. The batch has
// to be an error.
func TestADeadEnvoyIsNoDeny(t *testing.T) {
	t.Parallel()
	h := ownHarness(t)
	m, err := h.NewMesh(t.Context(), small(t, compile(t, constant(policy.L4, policy.Deny))))
	if err != nil {
		t.Fatal(err)
	}
	denied := Request{To: "tcp", Credential: mint(t, m, frontend)}
	findings, _ := send(t, m, denied)
	checkForms(t, findings, evidence.Refused)

	signal(t, h, syscall.SIGKILL)
	<-h.envoy.Done()
	batch, sent := m.Send(t.Context(), denied, denied)
	if batch.Evidence != nil {
		t.Errorf("a dead Envoy gave evidence: %+v", batch.Evidence)
	}
	_, made := h.NewMesh(t.Context(), small(t, xds.Filters{}))
	set, down := m.SetFilters(t.Context(), nil), m.Close(t.Context())
	for name, err := range map[string]error{"Send": sent, "NewMesh": made, "SetFilters": set, "Close": down} {
		if !errors.Is(err, envoy.ErrExited) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s on a dead Envoy: %q, want one line that wraps %q", name, err, envoy.ErrExited)
		}
	}
	checkReleased(t, h)
	if err := h.Close(); err != nil {
		t.Errorf("Close of a dead Envoy: %v", err)
	}
}

// Envoy dies while callers wait for its answers.
func TestEnvoyDiesUnderABatch(t *testing.T) {
	t.Parallel()
	h := ownHarness(t, func(o *options) { o.concurrency = 2 })
	m, err := h.NewMesh(t.Context(), small(t, compile(t, constant(policy.L4, policy.Deny))))
	if err != nil {
		t.Fatal(err)
	}
	denied := Request{To: "tcp", Credential: mint(t, m, frontend)}
	signal(t, h, syscall.SIGSTOP)
	sent := make(chan error)
	go func() {
		batch, err := m.Send(t.Context(), denied, denied, denied, denied)
		if err == nil || batch.Evidence != nil {
			err = errors.New("a dead Envoy gave evidence")
		}
		sent <- err
	}()
	signal(t, h, syscall.SIGKILL)
	if err := <-sent; !errors.Is(err, envoy.ErrExited) && !strings.Contains(err.Error(), "call tcp: ") {
		t.Errorf("error %v, want the end of Envoy or the call that failed", err)
	}
	checkReleased(t, h)
}

// A batch ends with its context, also while requests are sent.
func TestSendEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := ownHarness(t, func(o *options) { o.concurrency = 1 })
	m := h.Mesh(t, small(t, compile(t, constant(policy.L4, policy.Allow))))
	allowed := Request{To: "tcp", Credential: mint(t, m, frontend)}
	signal(t, h, syscall.SIGSTOP)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	batch, err := m.Send(ctx, allowed, allowed, allowed)
	if !errors.Is(err, context.DeadlineExceeded) || batch.Evidence != nil {
		t.Errorf("got %+v, %v; want nothing and %q", batch, err, context.DeadlineExceeded)
	}
	checkReleased(t, h)

	// A call that waits for another batch or push ends with its own context.
	m.turn <- struct{}{}
	_, sent := m.Send(ctx, allowed)
	set, down := m.SetFilters(ctx, nil), m.Close(ctx)
	for name, err := range map[string]error{"Send": sent, "SetFilters": set, "Close": down} {
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for an earlier batch or push") {
			t.Errorf("%s behind a batch: %v", name, err)
		}
	}
	m.endTurn()

	signal(t, h, syscall.SIGCONT)
	findings, moved := send(t, m, allowed)
	checkForms(t, findings, evidence.Served)
	if got, want := moved["tcp"], (evidence.Counters{Allowed: 1}); got != want {
		t.Errorf("behind a batch that was cut off one request moved the counters by %s, want %s", got, want)
	}
}

// Without a deadline a push does not wait for ever, and a push without an answer is an error.
func TestPushesAreBounded(t *testing.T) {
	t.Parallel()
	h := ownHarness(t)
	m := h.Mesh(t, small(t, compile(t, constant(policy.L4, policy.Allow))))
	request := Request{To: "tcp", Credential: mint(t, m, frontend)}
	deny := map[string]xds.Filters{"tcp": compile(t, constant(policy.L4, policy.Deny))}
	signal(t, h, syscall.SIGSTOP)
	h.options.pushTimeout = 50 * time.Millisecond
	err := m.SetFilters(t.Context(), deny)
	if err == nil || !strings.Contains(err.Error(), "neither refused nor served within 50ms") || errors.Is(err, xds.ErrNACK) {
		t.Errorf("SetFilters of an Envoy that stands still: %v", err)
	}
	h.options.pushTimeout = pushTimeout
	signal(t, h, syscall.SIGCONT)
	if _, err := m.Send(t.Context(), request); err == nil || !strings.Contains(err.Error(), "call SetFilters again") {
		t.Errorf("Send behind a push that was cut off: %v", err)
	}
	// A refusal does not settle it, and a push that never reached Envoy does not either.
	if err := m.SetFilters(t.Context(), map[string]xds.Filters{"tcp": spoilt(t)}); !errors.Is(err, xds.ErrNACK) {
		t.Errorf("error %v, want %q", err, xds.ErrNACK)
	}
	if err := m.SetFilters(t.Context(), map[string]xds.Filters{"tcp": compile(t, constant(policy.L7, policy.Deny))}); err == nil {
		t.Error("an HTTP filter on a tcp inbound was accepted")
	}
	if batch, err := m.Send(t.Context(), request); err == nil {
		t.Errorf("Send behind a push that was cut off: %+v", batch)
	}
	if err := m.SetFilters(t.Context(), deny); err != nil {
		t.Fatal(err)
	}
	findings, _ := send(t, m, request)
	checkForms(t, findings, evidence.Refused)
}

// A mesh of a failed push may still become live in Envoy. It has to be removed before
// another mesh gets its port.
func TestNewMeshThatIsCutOffGivesItsPortBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		// told is set if Envoy asks for resources, so that it gets the mesh as soon as it runs again.
		told bool
		// stopped is set if Envoy stands still until the next mesh is pushed.
		stopped bool
	}{
		"in time": {told: true}, "late": {told: true, stopped: true}, "never told": {}, "never told and late": {stopped: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := ownHarness(t, WithMeshes(1))
			if tt.told {
				m, err := h.NewMesh(t.Context(), small(t, xds.Filters{}))
				if err != nil {
					t.Fatal(err)
				}
				if err := m.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			resume := func() { signal(t, h, syscall.SIGCONT) }
			signal(t, h, syscall.SIGSTOP)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if !tt.stopped {
				context.AfterFunc(ctx, resume)
			}
			if _, err := h.NewMesh(ctx, small(t, xds.Filters{})); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v, want %q", err, context.DeadlineExceeded)
			}
			if tt.stopped {
				defer time.AfterFunc(20*time.Millisecond, resume).Stop()
			}
			m := h.Mesh(t, small(t, compile(t, constant(policy.L4, policy.Deny))))
			findings, _ := send(t, m, Request{To: "tcp", Credential: mint(t, m, frontend)})
			checkForms(t, findings, evidence.Refused)
		})
	}
}

// An Envoy that stands still must not hold a run: after two silences and a silent admin
// endpoint, all its waiters end.
func TestAnEnvoyThatHangsIsKilled(t *testing.T) {
	t.Parallel()
	h := ownHarness(t)
	m, err := h.NewMesh(t.Context(), small(t, compile(t, constant(policy.L4, policy.Allow))))
	if err != nil {
		t.Fatal(err)
	}
	h.options.pushTimeout, h.options.adminTimeout = 50*time.Millisecond, 50*time.Millisecond
	signal(t, h, syscall.SIGSTOP)
	deny := map[string]xds.Filters{"tcp": compile(t, constant(policy.L4, policy.Deny))}
	if err := m.SetFilters(t.Context(), deny); err == nil || errors.Is(err, envoy.ErrExited) {
		t.Errorf("the first silence: %v, want the time that passed", err)
	}
	err = m.SetFilters(t.Context(), deny)
	if !errors.Is(err, envoy.ErrExited) || !strings.Contains(err.Error(), "it hung: it answered neither its pushes") || strings.Contains(err.Error(), "\n") {
		t.Errorf("the second silence: %v", err)
	}
	<-h.envoy.Done()
}

// A slow push alone ends nothing: the admin endpoint answers.
func TestASlowEnvoyIsNotKilled(t *testing.T) {
	t.Parallel()
	h := ownHarness(t)
	for range mostSilences + 1 {
		if err := h.noteSilence(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	m := h.Mesh(t, small(t, compile(t, constant(policy.L4, policy.Allow))))
	findings, _ := send(t, m, Request{To: "tcp", Credential: mint(t, m, frontend)})
	checkForms(t, findings, evidence.Served)
	if n := h.silences.Load(); n != 0 {
		t.Errorf("%d silences are left behind an answer", n)
	}
}

// An Envoy that hangs at its start is not taken for a firewall.
func TestAnEnvoyThatHangsAtItsStart(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "envoy")
	script := "#!/bin/sh\n[ \"$1\" = --version ] && echo 'version: 0/" + DefaultVersion + "/x' && exit\nexec sleep 60\n"
	if err := os.WriteFile(bin, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVOY_BIN", bin)
	h, err := Start(t.Context(), WithRuntime(Process), func(o *options) { o.connectTimeout, o.adminTimeout = 50*time.Millisecond, 50*time.Millisecond })
	if h != nil || err == nil || !strings.Contains(err.Error(), "no ADS stream of Envoy came within 50ms: its admin endpoint does not answer either, so it hangs") {
		t.Errorf("an Envoy that hangs: %v", err)
	}
}
