package harness

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/testbed"
	"github.com/meshproof/meshproof/policy"
)

// flaky stands between the callers of a mesh and Envoy. Its first connections get its answer,
// which is none for "", and never reach Envoy. It forwards the others.
type flaky struct {
	answer string

	mu     sync.Mutex
	seen   int
	faults int
}

// putBetween puts a flaky before the port of the mesh.
func putBetween(t *testing.T, m *Mesh, answer string) *flaky {
	t.Helper()
	f, envoy := &flaky{answer: answer}, m.slot.Dial
	m.slot.Dial = testbed.Serve(t, func(conn net.Conn) {
		if f.breaks() {
			_, _ = io.WriteString(conn, f.answer)
			// A close with unread bytes would be a reset.
			_, _ = io.Copy(io.Discard, conn)
			return
		}
		pass(conn, envoy)
	}).String()
	t.Cleanup(func() { m.slot.Dial = envoy })
	return f
}

func (f *flaky) breaks() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen++
	return f.seen <= f.faults
}

// reset breaks the next n connections, and returns the number of connections so far.
func (f *flaky) reset(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.seen
	f.seen, f.faults = 0, n
	return seen
}

func pass(caller net.Conn, to string) {
	envoy, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer envoy.Close()
	go func() {
		_, _ = io.Copy(envoy, caller)
		_ = envoy.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(caller, envoy)
}

// Only faults of the transport are retried. Each retry is counted. A verdict is final.
func TestOnlyFaultsAreRetried(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, small(t, compile(t, onlyFrontend(policy.L4))))
	friend, foe := Request{To: "tcp", Credential: mint(t, m, frontend)}, Request{To: "tcp", Credential: mint(t, m, intruder)}
	f := putBetween(t, m, "this is no TLS record")
	for _, tt := range []struct {
		name                    string
		request                 Request
		breaks, retries, dialed int
		form                    evidence.Form
	}{
		// After each batch the positive control dials once.
		{"an allow", friend, 0, 0, 2, evidence.Served},
		{"a deny", foe, 0, 0, 2, evidence.Refused},
		{"an allow behind a fault", friend, 1, 1, 3, evidence.Served},
		{"a deny behind two", foe, 2, 2, 4, evidence.Refused},
	} {
		f.reset(tt.breaks)
		batch, err := m.Send(t.Context(), tt.request)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		e := batch.Evidence[0]
		found, err := e.Find()
		if dialed := f.reset(0); err != nil || found.Form != tt.form || e.Retries != tt.retries || dialed != tt.dialed {
			t.Errorf("%s: %s with %d retries and %d connections, %v; want %s with %d and %d",
				tt.name, found.Form, e.Retries, dialed, err, tt.form, tt.retries, tt.dialed)
		}
	}
	f.reset(3)
	batch, err := m.Send(t.Context(), friend)
	if dialed := f.reset(0); err == nil || !strings.Contains(err.Error(), "call tcp: ") || batch.Evidence != nil || dialed != 3 {
		t.Errorf("behind three faults: %+v, %v with %d connections; want an error and 3", batch, err, dialed)
	}
}

// A caller may leave before the sidecar has read its request. Envoy logs nothing then, and nothing is
// proven: the request is sent again.
func TestUnreadRequestIsSentAgain(t *testing.T) {
	t.Parallel()
	left := rows[slices.IndexFunc(rows, func(r row) bool { return r.cause == routing.LeftByCaller })]
	m := sharedEnvoy.Get(t).Mesh(t, specOf(t, []row{left}))
	f := putBetween(t, m, "")
	request := left.request
	request.From, request.To = "web", left.name
	for _, unread := range []int{0, 1} {
		f.reset(unread)
		batch, err := m.SendRouted(t.Context(), request)
		if err != nil {
			t.Fatalf("%d unread: %v", unread, err)
		}
		e := batch.Evidence[0]
		// A busy machine may lose more requests than the test does.
		if found, err := e.Find(); err != nil || found.Cause != left.cause || e.Retries < unread {
			t.Errorf("%d unread: %s with %d retries, %v", unread, found.Cause, e.Retries, err)
		}
	}
}

// The entry of a request may be read behind the entry of a later one, the positive control. The request was not lost.
func TestOvertakenEntryIsAwaited(t *testing.T) {
	t.Parallel()
	left := rows[slices.IndexFunc(rows, func(r row) bool { return r.cause == routing.LeftByCaller })]
	controlled := make(chan struct{})
	var once sync.Once
	h := ownHarness(t, WithMeshes(1), func(o *options) {
		o.beforeOutbound = func(e outboundlog.Entry) {
			if e.Caller.Addr() == controlCaller {
				once.Do(func() { close(controlled) })
				return
			}
			<-controlled
			// What does not wait for this entry has time to go on without it.
			<-time.After(100 * ms)
		}
	})
	m := h.Mesh(t, specOf(t, []row{left}))
	request := left.request
	request.From, request.To, request.Patience = "web", left.name, time.Second
	batch, err := m.SendRouted(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	e := batch.Evidence[0]
	if found, err := e.Find(); err != nil || found.Cause != left.cause || e.Retries > 0 {
		t.Errorf("%s with %d retries, %v", found.Cause, e.Retries, err)
	}
}

// A caller on tcp may leave while its outbound still connects: the entry comes when that is over, and the request was
// not lost.
func TestLateEntryIsAwaited(t *testing.T) {
	t.Parallel()
	for _, p := range []policy.Protocol{policy.TCP, policy.HTTP, policy.HTTP2} {
		late := row{name: "late", protocol: p, reach: script.BlackHole, request: exchange.Request{From: "web", To: "late", Patience: 300 * ms},
			change: func(_ *routing.Outbound, c *routing.Cluster) { c.Limits[routing.Connection] = limit(2 * time.Second) }}
		m := sharedEnvoy.Get(t).Mesh(t, specOf(t, []row{late}))
		batch, err := m.SendRouted(t.Context(), late.request)
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		// A busy machine may lose a request.
		if e := batch.Evidence[0]; e.Answer.End != exchange.GaveUp || p == policy.TCP && e.Retries > 0 {
			t.Errorf("%s: %s with %d retries", p, e.Answer, e.Retries)
		}
	}
}

// A request that reaches the application without an entry is no lost one.
func TestArrivalWithoutEntryIsNotSentAgain(t *testing.T) {
	t.Parallel()
	left := rows[slices.IndexFunc(rows, func(r row) bool { return r.cause == routing.LeftByCaller })]
	h := sharedEnvoy.Get(t)
	m := h.Mesh(t, specOf(t, []row{left}))
	envoy := m.slot.Dial
	var once sync.Once
	m.slot.Dial = testbed.Serve(t, func(conn net.Conn) {
		past := false
		once.Do(func() { past = true })
		if !past {
			pass(conn, envoy)
			return
		}
		header, err := proxyproto.Read(bufio.NewReader(conn))
		if err != nil {
			t.Error(err)
			return
		}
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			defer stop()
			_, _ = io.Copy(io.Discard, conn)
		}()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/", h.upstream.HTTPPort()), nil)
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set(controlplane.CallerHeader, header.SourceAddr.String()+" "+h.upstream.Secret())
		// The script of the application never answers.
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	}).String()
	t.Cleanup(func() { m.slot.Dial = envoy })
	request := left.request
	request.From, request.To, request.Patience = "web", left.name, 500*ms
	if batch, err := m.SendRouted(t.Context(), request); err == nil || !strings.Contains(err.Error(), "the application saw it") {
		t.Errorf("%+v, %v", batch.Evidence, err)
	}
}
