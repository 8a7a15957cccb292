package harness

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/script"
)

// waiting is a request that gets no answer.
var waiting = exchange.Request{From: "web", To: "shop", Answer: script.Answer{End: script.Stops}}

// awaitRouted runs SendRouted until the upstream plays its script, and then does what ends it.
func awaitRouted(t *testing.T, m *Mesh, ctx context.Context, end func()) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := m.SendRouted(ctx, waiting)
		done <- err
	}()
	for len(m.turn) == 0 {
		runtime.Gosched()
	}
	end()
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Second):
		t.Fatal("SendRouted goes on")
		return nil
	}
}

// TestSendRoutedEnds ends requests under way: by their context, and by the end of the harness. The
// mesh serves after the first.
func TestSendRoutedEnds(t *testing.T) {
	t.Parallel()
	h := ownHarness(t, WithMeshes(1))
	m := meshOf(t, h, shop(routeTo("all", nil, "http")))
	ctx, cancel := context.WithCancel(t.Context())
	if err := awaitRouted(t, m, ctx, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled batch: %v", err)
	}
	if f := sendOne(t, m, exchange.Request{From: "web", To: "shop"}); f.Cause != routing.Answered {
		t.Errorf("behind a cancelled batch: %+v", f)
	}
	// A mesh waits for its batch, so that it can be removed.
	closing := make(chan error, 1)
	short := waiting
	short.Patience = 100 * ms
	go func() {
		for len(m.turn) == 0 {
			runtime.Gosched()
		}
		closing <- m.Close(t.Context())
	}()
	if _, err := m.SendRouted(t.Context(), short); err != nil {
		t.Errorf("a batch of a mesh that is closed behind it: %v", err)
	}
	if err := <-closing; err != nil {
		t.Error(err)
	}
	if _, err := m.SendRouted(t.Context(), waiting); !errors.Is(err, errClosedMesh) {
		t.Errorf("a closed mesh: %v", err)
	}
	// Nothing of the mesh is left: another one takes its names and its port.
	again := meshOf(t, h, shop(routeTo("all", nil, "http")))
	if f := sendOne(t, again, exchange.Request{From: "web", To: "shop"}); f.Cause != routing.Answered {
		t.Errorf("a second mesh: %+v", f)
	}
}

func TestSendRoutedOnDeadEnvoy(t *testing.T) {
	t.Parallel()
	h, err := Start(t.Context(), WithRuntime(Process), WithMeshes(1))
	if err != nil {
		t.Fatal(err)
	}
	m, err := h.NewMesh(t.Context(), func() MeshSpec {
		spec := inbounds(t, onlyFrontend)
		spec.Sidecars = append(spec.Sidecars, shop(routeTo("all", nil, "http")))
		return spec
	}())
	if err != nil {
		t.Fatal(err)
	}
	err = awaitRouted(t, m, t.Context(), func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	if err == nil || strings.Contains(err.Error(), "Find") {
		t.Errorf("a dead Envoy: %v", err)
	}
}

// TestSentinel shows the bound beside those of the program, which has a reason of its own.
func TestSentinel(t *testing.T) {
	t.Parallel()
	s := shop(routeTo("all", nil, "http"))
	s.Program.Outbounds[0].Routes[0].Request = limit(5 * time.Second)
	s.Sentinels = routingconfig.Sentinels{"shop": 100 * ms, "all": 100 * ms}
	m := meshOf(t, sharedEnvoy.Get(t), s)
	if f := sendOne(t, m, waiting); f.Cause != routing.Sentinel || f.Answer.Status != 504 {
		t.Errorf("got %s, %s", f.Cause, f.Answer)
	}
}
