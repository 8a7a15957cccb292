package harness

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// gated returns the inbounds of a mesh, and two HTTP inbounds with a network filter. One of
// these has an HTTP filter too.
func gated(t *testing.T) MeshSpec {
	spec := inbounds(t, onlyFrontend)
	l4, l7 := compile(t, onlyFrontend(policy.L4)), compile(t, onlyFrontend(policy.L7))
	spec.Inbounds = append(spec.Inbounds,
		Inbound{Name: "gated http", Identity: backend, Address: address(7001), Protocol: policy.HTTP, Filters: l4},
		Inbound{Name: "twice gated http2", Identity: backend, Address: address(7002), Protocol: policy.HTTP2, Filters: xds.Filters{Network: l4.Network, HTTP: l7.HTTP}},
		Inbound{Name: "raw http", Identity: backend, Address: address(7003), Protocol: policy.HTTP, Filters: l7,
			Normalization: policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}},
	)
	return spec
}

// oddities returns requests to one inbound: some that a listener normalizes or refuses, some
// that end a connection, and ordinary ones between them.
func oddities(in Inbound) []Request {
	requests := []Request{
		{}, {Path: "/a?b=c"}, {Path: "//admin"}, {Path: "/a/../b/./c"}, {Path: "/%2e%2e/x?y=//"}, {Path: "/..;/x"}, {Path: "/%41"}, {Path: "/a%2fb"},
		{Path: "/after-a-400"}, {Path: "/%00"}, {Method: "HEAD", Path: "/head"}, {Method: "POST", Path: "/post", Body: "hello"}, {Method: "PUT", Body: string(make([]byte, 9000))},
		{Method: "DELETE"}, {Method: "OPTIONS"}, {Method: "PATCH", Body: "a patch"}, {Authority: "other.example"},
		{Headers: []policy.Header{{Name: "x-a", Value: "1"}, {Name: "x-a", Value: "2"}, {Name: "x-meshproof-caller", Value: "10.0.0.1:1"}}},
		{Headers: []policy.Header{{Name: "x-forwarded-for", Value: "10.9.9.9"}, {Name: "x-forwarded-client-cert", Value: "URI=" + frontend.String()}}},
		{SourceIP: netip.MustParseAddr("10.0.0.9")}, {Path: "/last"},
	}
	if in.Protocol == policy.HTTP {
		requests = append(requests,
			Request{Method: "get"}, Request{Method: "FOO", Path: "/foo"}, Request{Path: "/a#b"}, Request{Path: `/a\b`}, Request{Path: "http://x.example/admin", Authority: "x.example"},
			Request{Headers: []policy.Header{{Name: "connection", Value: "close"}}},
			Request{Headers: []policy.Header{{Name: "Content-Length", Value: "0"}}},
			Request{Headers: []policy.Header{{Name: "transfer-encoding", Value: "gzip"}}},
			Request{Path: "/very-last"},
		)
	}
	if in.Protocol == policy.GRPC {
		for i := range requests {
			if requests[i].Method == "" && requests[i].Path == "" {
				requests[i].GRPC = "orders.Orders/List"
			}
		}
	}
	for i := range requests {
		requests[i].To = in.Name
	}
	return requests
}

// sameEvidence reports whether two pieces of evidence differ only in addresses, time, and whether
// the connection was shared.
var sameEvidence = cmp.Options{
	cmpopts.IgnoreFields(evidence.Evidence{}, "Took", "Shared", "Path"),
	cmpopts.IgnoreFields(caller.Call{}, "Source", "Server", "Bundles", "Credential"),
	cmpopts.IgnoreFields(caller.Answer{}, "Err"),
	// The upstream gets the caller's port, which has up to five digits.
	cmpopts.IgnoreFields(xds.AccessLog{}, "Caller", "UpstreamBytes"),
	cmpopts.IgnoreMapEntries(func(name string, _ []string) bool { return name == "X-Meshproof-Caller" }),
	cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
}

// For all requests, callers and inbounds, the evidence and the counters are the same as with
// one connection for each request. With -short a caller that no TLS inbound lets in sends every
// fifth request: Envoy does not read what the others hold.
func TestStreamIsSend(t *testing.T) {
	t.Parallel()
	m := sharedEnvoy.Get(t).Mesh(t, gated(t))
	callers := map[string]Request{
		"frontend": {Credential: mint(t, m, frontend)}, "intruder": {Credential: mint(t, m, intruder)}, "anonymous": {}, "plaintext": {Plaintext: true},
		"expired": {Credential: forge(t, m, certs.Template{Validity: certs.Expired})}, "foreign": {Credential: foreign(t, m)},
		"twofold": {Credential: forge(t, m, certs.Template{URIs: []string{frontend.String(), intruder.String()}})},
	}
	for who, as := range callers {
		for _, in := range m.userInbounds() {
			t.Run(fmt.Sprint(who, " to ", in.Name), func(t *testing.T) {
				t.Parallel()
				requests := oddities(in)
				if refused := as.Credential == nil || who == "expired" || who == "foreign"; refused && !as.Plaintext && testing.Short() {
					every := 0
					requests = slices.DeleteFunc(requests, func(Request) bool { every++; return every%5 != 1 })
				}
				for i := range requests {
					requests[i].Credential, requests[i].Plaintext = as.Credential, as.Plaintext
				}
				compareStream(t, m, requests)
			})
		}
	}
}

// compareStream sends the requests both ways.
func compareStream(t *testing.T, m *Mesh, requests []Request) {
	t.Helper()
	want, err := m.Send(t.Context(), requests...)
	if err != nil {
		t.Fatal("Send: ", err)
	}
	got, err := m.Stream(t.Context(), requests...)
	if err != nil {
		t.Fatal("Stream: ", err)
	}
	if diff := cmp.Diff(want.Counters, got.Counters); diff != "" {
		t.Errorf("counters (-Send +Stream):\n%s", diff)
	}
	for i := range requests {
		apart, together := want.Evidence[i], got.Evidence[i]
		if diff := cmp.Diff(apart, together, sameEvidence); diff != "" {
			t.Errorf("%+v (-Send +Stream):\n%s", requests[i], diff)
		}
		f, err := apart.Find()
		g, fault := together.Find()
		if diff := cmp.Diff(f, g); diff != "" || err != nil || fault != nil {
			t.Errorf("%+v: findings (-Send +Stream): %v, %v\n%s", requests[i], err, fault, diff)
		}
	}
}

// The requests of one caller share connections, in order, and the many that one
// connection would carry alone are spread.
func TestStreamKeepsConnections(t *testing.T) {
	t.Parallel()
	for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			m := sharedEnvoy.Get(t).Mesh(t, inbounds(t, onlyFrontend))
			friend, foe := mint(t, m, frontend), mint(t, m, intruder)
			for n, want := range map[int]int{1: 1, 2: 2, 100: 2, 2 * leastShare: 2, 2*leastShare + 2: 4} {
				requests := make([]Request, n)
				for i := range requests {
					requests[i] = call(p, false, Request{Credential: []*certs.Credential{friend, foe}[i%2], Path: fmt.Sprint("/", i)})
				}
				batch, err := m.Stream(t.Context(), requests...)
				if err != nil {
					t.Fatal(err)
				}
				var sources []netip.AddrPort
				for i, e := range batch.Evidence {
					f, err := e.Find()
					if err != nil {
						t.Errorf("request %d: %v", i, err)
					}
					if want := []evidence.Form{evidence.Served, evidence.Refused}[i%2]; f.Form != want {
						t.Errorf("request %d was %s, want %s", i, f.Form, want)
					}
					if !e.Shared || e.Retries != 0 || e.Took <= 0 {
						t.Errorf("request %d: %+v", i, e)
					}
					sources = append(sources, e.Call.Source)
				}
				slices.SortFunc(sources, netip.AddrPort.Compare)
				if got := len(slices.Compact(sources)); got != want {
					t.Errorf("%d requests took %d connections, want %d", n, got, want)
				}
				if got, want := batch.Counters[p.String()], evidence.Sum(evidence.Count(batch.Evidence)); got != want {
					t.Errorf("counters moved by %s, the findings add up to %s", got, want)
				}
			}
		})
	}
}
