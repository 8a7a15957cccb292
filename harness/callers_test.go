package harness

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// forge issues a certificate for the frontend, or for the names of the template.
func forge(t testing.TB, m *Mesh, template certs.Template) *certs.Credential {
	t.Helper()
	ca, err := m.Authority(domain)
	if err != nil {
		t.Fatal(err)
	}
	if template.URIs == nil {
		template.URIs = []string{frontend.String()}
	}
	c, err := ca.Forge(template)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// foreign has the frontend's name. The mesh does not trust the CA that signed it.
func foreign(t testing.TB, m *Mesh) *certs.Credential {
	t.Helper()
	ca, err := m.Authority(stranger)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ca.Forge(certs.Template{URIs: []string{frontend.String()}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call is a request for the protocol of the inbound.
func call(p policy.Protocol, open bool, r Request) Request {
	r.To = p.String()
	if open {
		r.To = "open " + r.To
	}
	if p == policy.GRPC {
		r.GRPC = "orders.Orders/List"
	}
	return r
}

// The findings of the frontend and of the intruder, as onlyFrontend has them.
func served(p policy.Protocol) evidence.Finding {
	f := evidence.Finding{
		Form: evidence.Served, Judged: true,
		Verdict: policy.Verdict{Effect: policy.Allow, Origin: "friends only"},
		Shadow:  xds.Engine{Ran: true, Verdict: policy.Verdict{Origin: "lockdown"}},
	}
	if p.Layer() == policy.L7 {
		f.Status = 200
	}
	return f
}

func refused(p policy.Protocol) evidence.Finding {
	f := served(p)
	f.Form, f.Layer, f.Verdict = evidence.Refused, p.Layer(), policy.Verdict{Origin: byDefault}
	if p == policy.HTTP || p == policy.HTTP2 {
		f.Status = 403
	}
	return f
}

// Each caller calls over each protocol, and each finding is compared. The counters of each
// inbound move by exactly the sum of its findings.
func TestEveryCallerOverEveryProtocol(t *testing.T) {
	t.Parallel()
	keptOut := evidence.Finding{Form: evidence.HandshakeFailed}
	for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC, policy.TCP} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, onlyFrontend))
			passed := evidence.Finding{Form: evidence.Served, Status: served(p).Status}
			table := []struct {
				who  string
				open bool
				Request
				want evidence.Finding
			}{
				{"allowed", false, Request{Credential: mint(t, m, frontend)}, served(p)},
				{"denied", false, Request{Credential: mint(t, m, intruder)}, refused(p)},
				{"anonymous", false, Request{}, keptOut},
				{"plaintext", false, Request{Plaintext: true}, keptOut},
				{"expired", false, Request{Credential: forge(t, m, certs.Template{Validity: certs.Expired})}, keptOut},
				{"not yet valid", false, Request{Credential: forge(t, m, certs.Template{Validity: certs.NotYetValid})}, keptOut},
				{"foreign CA", false, Request{Credential: foreign(t, m)}, keptOut},
				{"allowed", true, Request{Credential: mint(t, m, frontend)}, served(p)},
				{"denied", true, Request{Credential: mint(t, m, intruder)}, refused(p)},
				{"anonymous", true, Request{}, keptOut},
				{"plaintext", true, Request{Plaintext: true}, passed},
				{"expired", true, Request{Credential: forge(t, m, certs.Template{Validity: certs.Expired})}, keptOut},
				{"foreign CA", true, Request{Credential: foreign(t, m)}, keptOut},
			}
			requests := make([]Request, len(table))
			for i, cell := range table {
				requests[i] = call(p, cell.open, cell.Request)
			}
			findings, moved := send(t, m, requests...)
			for i, cell := range table {
				if diff := cmp.Diff(cell.want, findings[i]); diff != "" {
					t.Errorf("%s to %q (-want +got):\n%s", cell.who, requests[i].To, diff)
				}
			}
			one := evidence.Counters{Allowed: 1, Denied: 1, ShadowDenied: 2}
			if diff := cmp.Diff(map[string]evidence.Counters{p.String(): one, "open " + p.String(): one}, moved); diff != "" {
				t.Errorf("counters (-want +got):\n%s", diff)
			}
		})
	}
}

// A request is sent as stated, and the echo has it unchanged.
func TestSendPlaysTheRequest(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, allOf(policy.Allow)))
	svid := mint(t, m, frontend)
	source := address(0).Addr()
	batch, err := m.Send(t.Context(),
		Request{To: "http", Credential: svid, SourceIP: source, Method: "PUT", Path: "/a/./b?c=d", Authority: "orders.example", Body: "hello",
			Headers: []policy.Header{{Name: "x-tag", Value: "1"}, {Name: "x-tag", Value: "2"}}},
		Request{To: "tcp", Credential: svid, Body: "good morning"},
		Request{To: "grpc", Credential: svid, GRPC: "orders.Orders/List", Headers: []policy.Header{{Name: "x-tag", Value: "3"}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		Answer, Method, Path, Authority string
		Tags                            []string
		Bytes                           int
	}
	var got []seen
	for _, e := range batch.Evidence {
		if _, err := e.Find(); err != nil {
			t.Error(err)
		}
		a := e.Arrival
		got = append(got, seen{e.Answer.Body, a.Method, a.Path, a.Authority, a.Header.Values("x-tag"), a.Bytes})
	}
	want := []seen{
		{"hello", "PUT", "/a/b?c=d", "orders.example", []string{"1", "2"}, 5},
		{Answer: "good morning", Bytes: 12},
		{Method: "POST", Path: "/orders.Orders/List", Authority: address(8002).String(), Tags: []string{"3"}, Bytes: 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the upstream saw (-want +got):\n%s", diff)
	}
	first := batch.Evidence[0]
	if first.Log.Caller.Addr() != source || first.Log.Destination != address(8000) {
		t.Errorf("Envoy saw a call from %s to %s, played was %s to %s", first.Log.Caller, first.Log.Destination, source, address(8000))
	}
	if first.Took <= 0 || first.Retries != 0 || batch.Evidence[2].Answer.GRPC != codes.OK {
		t.Errorf("evidence %+v, %+v", first, batch.Evidence[2])
	}
}

// Bytes that a SPIFFE ID must not have stay different.
func TestForgedNamesAreFoundAsWritten(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, allOf(policy.Allow)))
	for _, uris := range [][]string{
		{frontend.String(), "spiffe://stranger.mesh/a"},
		{frontend.String() + ",spiffe://stranger.mesh/a"},
		{frontend.String() + ";URI=spiffe://stranger.mesh/a"},
		{frontend.String() + `"quoted"`},
		{frontend.String() + "?a=b"},
	} {
		svid := forge(t, m, certs.Template{URIs: uris})
		findings, _ := send(t, m, Request{To: "http", Credential: svid}, Request{To: "tcp", Credential: svid})
		for i, f := range findings {
			if f.Form != evidence.Served {
				t.Errorf("%q, request %d: %s, want served", uris, i, f.Form)
			}
		}
	}
}

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
		if a := h.upstream.Take(netip.AddrPortFrom(endpoint.Unnamed, port)); a != nil {
			t.Errorf("the upstream still watches the caller with port %d: %+v", port, a)
		}
	}
}

// A call that cannot be sent fails the batch. Nothing of the other calls stays behind or
// counts for the next batch.
func TestSendGivesBackWhatAFailedBatchTook(t *testing.T) {
	t.Parallel()
	h := ownHarness(t)
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
	h := ownHarness(t)
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
