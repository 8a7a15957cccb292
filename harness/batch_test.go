package harness

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
)

// unsendable is a request that no caller can send: HTTP/2 has no such target.
func unsendable(r Request) Request {
	r.To, r.Path = policy.HTTP2.String(), "/%zz"
	return r
}

// checkReleased fails if a call of the harness still has a port, is watched by the upstream,
// or is awaited in the log.
func checkReleased(t *testing.T, h *Harness) {
	t.Helper()
	if n := len(h.sources.taken); n > 0 {
		t.Errorf("%d source ports are still taken", n)
	}
	if n := len(h.collector.watched); n > 0 {
		t.Errorf("%d callers are still watched for log entries", n)
	}
	for port := uint16(firstSource); port < h.sources.next; port++ {
		if a := h.upstream.Take(netip.AddrPortFrom(defaultSource, port)); a != nil {
			t.Errorf("the upstream still watches the caller with port %d: %+v", port, a)
		}
	}
}

// A call that cannot be sent fails the batch. Nothing of the other calls stays behind or
// counts for the next batch.
func TestSendGivesBackWhatAFailedBatchTook(t *testing.T) {
	t.Parallel()
	h := own(t)
	m := h.Mesh(t, inbounds(t, allOf(policy.Allow)))
	good := Request{To: policy.HTTP.String(), Credential: mint(t, m, frontend)}
	batch, err := m.Send(t.Context(), good, good, unsendable(good), good)
	if err == nil || !strings.Contains(err.Error(), "HTTP/2 cannot send this target unchanged") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q, want one line that says why", err)
	}
	if batch.Evidence != nil || batch.Counters != nil {
		t.Errorf("a failed batch returns %+v", batch)
	}
	checkReleased(t, h)
	_, moved := send(t, m, good)
	if got, want := moved[good.To], (evidence.Counters{Allowed: 1}); got != want {
		t.Errorf("behind a failed batch one request moved the counters by %s, want %s", got, want)
	}
	checkReleased(t, h)
}

// A deny proves nothing if no request passes.
func TestSendDemandsThePositiveControl(t *testing.T) {
	t.Parallel()
	h := own(t)
	m := h.Mesh(t, inbounds(t, allOf(policy.Deny)))
	denied := Request{To: policy.HTTP.String(), Credential: mint(t, m, frontend)}
	send(t, m, denied)
	if err := h.upstream.Close(); err != nil {
		t.Fatal(err)
	}
	batch, err := m.Send(t.Context(), denied, denied)
	if !errors.Is(err, ErrNoControl) || batch.Evidence != nil {
		t.Errorf("with its upstream gone: %+v, %v; want nothing and %q", batch, err, ErrNoControl)
	}
	checkReleased(t, h)
}
