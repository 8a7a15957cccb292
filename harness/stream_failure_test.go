package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/upstream"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

var keptSource = netip.MustParseAddrPort("10.0.0.9:1024")

// refusedThrice is a connection whose caller saw three requests refused, /0 to /2.
func refusedThrice() (*delivery, sequence, *session) {
	l := sequence{inbound: Inbound{Name: "http"}, requests: []int{0, 1, 2}, kept: true}
	s := &session{logs: newCollector().watch(keptSource), arrivals: &upstream.Account{}}
	d := &delivery{}
	for i := range l.requests {
		path := fmt.Sprint("/", i)
		d.evidence = append(d.evidence, evidence.Evidence{
			Call:   caller.Call{Path: path},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 403, Body: "RBAC: access denied"},
			Shared: true, Path: path,
		})
		s.sent = append(s.sent, sentRequest{i, time.Now()})
	}
	return d, l, s
}

func refusal(path string) xds.AccessLog {
	return xds.AccessLog{
		Caller: keptSource, Request: true, Method: "GET", Path: path, Status: 403,
		Enforced: xds.Engine{Ran: true, Verdict: policy.Verdict{Origin: byDefault}}, Details: "rbac_access_denied_matched_policy[" + byDefault + "]",
	}
}

// The order of the entries of one connection tells which request they belong to. An entry in
// the wrong place must not count for the request.
func TestEntriesInTheWrongPlace(t *testing.T) {
	t.Parallel()
	with := func(e xds.AccessLog, change func(*xds.AccessLog)) xds.AccessLog {
		change(&e)
		return e
	}
	first, second, third := refusal("/0"), refusal("/1"), refusal("/2")
	for name, tt := range map[string]struct {
		entries []xds.AccessLog
		want    [3]string
		failure string
	}{
		"in order": {entries: []xds.AccessLog{first, second, third}},
		"two swapped": {entries: []xds.AccessLog{first, third, second},
			want: [3]string{"", `has the path "/2" in its place, the caller's means "/1"`, `has the path "/1" in its place, the caller's means "/2"`}},
		"another method": {entries: []xds.AccessLog{with(first, func(e *xds.AccessLog) { e.Method = "POST" }), second, third},
			want: [3]string{"has the method POST in its place, the caller sent GET"}},
		"another status": {entries: []xds.AccessLog{first, second, with(third, func(e *xds.AccessLog) { e.Status = 200 })},
			want: [3]string{2: "says status 200, the caller got 403"}},
		"one missing":       {entries: []xds.AccessLog{first, third}, failure: "call http: the caller saw HTTP 403, but no access log entry of the request arrived"},
		"one more":          {entries: []xds.AccessLog{first, second, third, third}, failure: "call http: 3 requests of one connection left 4 access log entries"},
		"one of no caller":  {entries: []xds.AccessLog{first, with(second, func(e *xds.AccessLog) { e.Caller = address(1) }), second, third}},
		"of the connection": {entries: []xds.AccessLog{{Caller: keptSource, Termination: "closed"}, first, second, third}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, l, s := refusedThrice()
			for _, e := range tt.entries {
				s.logs.collector.add(e)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			err := d.readLogs(ended, l, s)
			if err == nil {
				err = d.readRest(l, s)
			}
			if tt.failure != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.failure) {
					t.Errorf("error %v, want %q", err, tt.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range d.evidence {
				_, err := e.Find()
				var disagreement *evidence.Disagreement
				switch {
				case tt.want[i] == "" && err != nil:
					t.Errorf("request %d: %v", i, err)
				case tt.want[i] != "" && (!errors.As(err, &disagreement) || !strings.Contains(err.Error(), tt.want[i])):
					t.Errorf("request %d: %v, want a disagreement that says %q", i, err, tt.want[i])
				}
			}
		})
	}
}

// A request that reaches the upstream after its refusal is found by the next call.
func TestALateArrivalIsFound(t *testing.T) {
	t.Parallel()
	u, err := upstream.Start(t.Context(), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	d, l, s := refusedThrice()
	for i := range d.evidence {
		s.logs.collector.add(refusal(fmt.Sprint("/", i)))
	}
	s.arrivals = u.Watch(keptSource)
	request, err := http.NewRequestWithContext(t.Context(), "GET", fmt.Sprintf("http://127.0.0.1:%d/2", u.HTTPPort()), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(controlplane.CallerHeader, keptSource.String()+" "+u.Secret())
	transport := &http.Transport{DisableKeepAlives: true}
	for range 2 {
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if err := d.readLogs(t.Context(), l, s); err != nil {
			t.Fatal(err)
		}
		if err := d.readRest(l, s); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"", "", "the upstream saw the request"} {
		if _, err := d.evidence[i].Find(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("request %d: %v, want %q", i, err, want)
		}
	}
	if a := d.evidence[2].Arrival; a == nil || a.Requests != 2 {
		t.Errorf("the upstream saw %+v, want 2 requests", a)
	}
}

// alternating returns n requests, of the frontend and the intruder in turn.
func alternating(t *testing.T, m *Mesh, p policy.Protocol, n int) []Request {
	t.Helper()
	by := []*certs.Credential{mint(t, m, frontend), mint(t, m, intruder)}
	requests := make([]Request, n)
	for i := range requests {
		requests[i] = call(p, false, Request{Credential: by[i%2], Path: fmt.Sprint("/", i)})
	}
	return requests
}

// midway is the number of a write after which every connection has served requests.
const midway = 40

// A kept connection that ends is no verdict: its caller opens another one.
func TestAKeptConnectionThatEndsIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, onlyFrontend))
			requests := alternating(t, m, p, 100)
			toll(t, m, midway, func() bool { return false })
			batch, err := m.Stream(t.Context(), requests...)
			if err != nil {
				t.Fatal(err)
			}
			retries, connections := 0, map[netip.AddrPort]bool{}
			for i, e := range batch.Evidence {
				f, err := e.Find()
				if want := []evidence.Form{evidence.Served, evidence.Refused}[i%2]; err != nil || f.Form != want {
					t.Errorf("request %d was %s, %v; want %s", i, f.Form, err, want)
				}
				retries += e.Retries
				connections[e.Call.Source] = true
			}
			// A client of HTTP/2 writes more than requests. If one of those writes fails, it sees the end
			// of the connection between requests.
			if retries > 1 || retries < 1 && p == policy.HTTP || len(connections) != 3 {
				t.Errorf("%d retries over %d connections, want 1 over 3", retries, len(connections))
			}
			// A request of HTTP/2 that is cut off after its headers was already judged.
			got, want := batch.Counters[p.String()], evidence.Sum(evidence.Count(batch.Evidence))
			surplus := got.Allowed - want.Allowed + got.Denied - want.Denied
			if got != want && (p == policy.HTTP || surplus > uint64(retries)) {
				t.Errorf("counters moved by %s, the findings add up to %s", got, want)
			}
		})
	}
}

func TestEnvoyDiesUnderAStream(t *testing.T) {
	t.Parallel()
	h := ownHarness(t)
	m, err := h.NewMesh(t.Context(), inbounds(t, onlyFrontend))
	if err != nil {
		t.Fatal(err)
	}
	requests := alternating(t, m, policy.HTTP, 500)
	toll(t, m, midway, func() bool {
		signal(t, h, syscall.SIGKILL)
		return true
	})
	batch, err := m.Stream(t.Context(), requests...)
	if batch.Evidence != nil || err == nil || !errors.Is(err, envoy.ErrExited) && !strings.Contains(err.Error(), "call http: ") {
		t.Errorf("got %d pieces of evidence, %v; want none, and the end of Envoy or the call that failed", len(batch.Evidence), err)
	}
	checkReleased(t, h)
}

func TestStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	h := ownHarness(t)
	m := h.Mesh(t, inbounds(t, onlyFrontend))
	requests := alternating(t, m, policy.HTTP, 500)
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	direct := m.slot.Dial
	toll(t, m, midway, func() bool {
		cancel(reason)
		return true
	})
	batch, err := m.Stream(ctx, requests...)
	if !errors.Is(err, reason) || batch.Evidence != nil {
		t.Errorf("got %d pieces of evidence, %v; want none and %q", len(batch.Evidence), err, reason)
	}
	checkReleased(t, h)
	m.slot.Dial = direct
	batch, err = m.Stream(t.Context(), requests[:2]...)
	if want := (evidence.Counters{Allowed: 1, Denied: 1, ShadowDenied: 2}); err != nil || batch.Counters["http"] != want {
		t.Errorf("behind a stream that was cut off two requests moved the counters by %s, %v; want %s", batch.Counters["http"], err, want)
	}
	checkReleased(t, h)
}
