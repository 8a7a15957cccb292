package harness

import (
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/testbed"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func TestFailedUpstream(t *testing.T) {
	t.Parallel()
	answered := func(status int, details string) evidence.Evidence {
		return evidence.Evidence{
			Call: caller.Call{Protocol: policy.HTTP}, Answer: caller.Answer{Outcome: caller.Answered, Status: status}, Log: xds.AccessLog{Details: details},
		}
	}
	closed := func(effect policy.Effect, ran bool) evidence.Evidence {
		return evidence.Evidence{
			Call: caller.Call{Protocol: policy.TCP}, Answer: caller.Answer{Outcome: caller.Closed},
			Log: xds.AccessLog{Enforced: xds.Engine{Ran: ran, Verdict: policy.Verdict{Effect: effect}}},
		}
	}
	for name, c := range map[string]struct {
		evidence evidence.Evidence
		want     bool
	}{
		"400 of the server around the handler": {answered(400, "via_upstream"), true},
		"no connection":                        {answered(503, "upstream_reset_before_response_started{remote_connection_failure}"), true},
		"no answer in time":                    {answered(504, "upstream_response_timeout"), true},
		"refused by a policy":                  {answered(403, "rbac_access_denied_matched_policy[x]"), false},
		"refused by Envoy":                     {answered(400, "path_normalization_failed"), false},
		"no route":                             {answered(404, "route_not_found"), false},
		"closed behind an allow":               {closed(policy.Allow, true), true},
		"closed by a policy":                   {closed(policy.Deny, true), false},
		"closed and not judged":                {closed(policy.Allow, false), false},
	} {
		if got := failedUpstream(c.evidence); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// bar stands between Envoy and the upstream, and answers the next n connections itself. On HTTP
// it does so as the upstream does when a request comes too slowly.
type bar struct{ left atomic.Int64 }

func (b *bar) answer(conn net.Conn) bool {
	if b.left.Add(-1) < 0 {
		return false
	}
	first := make([]byte, 4096)
	n, _ := conn.Read(first)
	if strings.HasPrefix(string(first[:n]), "GET ") {
		_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
	}
	return true
}

// putBefore returns a port that leads through the bar to an upstream.
func (b *bar) putBefore(t *testing.T) func(int) int {
	return func(upstream int) int {
		return testbed.Serve(t, func(conn net.Conn) {
			if !b.answer(conn) {
				pass(conn, net.JoinHostPort("127.0.0.1", strconv.Itoa(upstream)))
			}
		}).(*net.TCPAddr).Port
	}
}

// What the upstream of the lab refuses or breaks is no decision: the batch is sent again once,
// and then it is an error.
func TestAFaultOfTheUpstreamIsNoDecision(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http", "tcp"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			b := new(bar)
			h := ownHarness(t, func(o *options) { o.upstreamPort = b.putBefore(t) })
			m := h.Mesh(t, inbounds(t, onlyFrontend))
			allowed, denied := Request{To: protocol, Credential: mint(t, m, frontend)}, Request{To: protocol, Credential: mint(t, m, intruder)}

			b.left.Store(1 << 20)
			batch, err := m.Send(t.Context(), allowed)
			if err == nil || !strings.Contains(err.Error(), "the upstream of the lab failed") || !errors.As(err, new(*upstreamError)) || batch.Evidence != nil {
				t.Errorf("behind a broken upstream: %+v, %v", batch.Evidence, err)
			}

			b.left.Store(1)
			batch, err = m.Send(t.Context(), denied, allowed)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []evidence.Form{evidence.Refused, evidence.Served} {
				if found, err := batch.Evidence[i].Find(); err != nil || found.Form != want {
					t.Errorf("request %d: %s, %v, want %s", i, found.Form, err, want)
				}
			}
			if got, want := batch.Counters[protocol], (evidence.Counters{Allowed: 1, Denied: 1, ShadowDenied: 2}); got != want {
				t.Errorf("the counters moved by %s, want %s", got, want)
			}
		})
	}
}

// A target that the upstream cannot read proves nothing either, and the error names it.
func TestATargetThatTheUpstreamCannotRead(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, allOf(policy.Allow)))
	_, err := m.Send(t.Context(), Request{To: "http", Credential: mint(t, m, frontend), Path: "/%zz"})
	if !errors.As(err, new(*upstreamError)) || !strings.Contains(err.Error(), `it cannot read the target "/%zz"`) {
		t.Errorf("got %v", err)
	}
}
