package evidence

import (
	"encoding/base64"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

const (
	frontend   = "spiffe://trust-domain.mesh/ns/default/sa/frontend"
	prefixed   = "rbac_access_denied_matched_policy"
	greeting   = "meshproof\n"
	clientCert = "By=spiffe://trust-domain.mesh/ns/default/sa/backend;URI=" + frontend
)

func allowed(by string) xds.Engine {
	return xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow, Origin: by}}
}

func denied(by string) xds.Engine {
	return xds.Engine{Ran: true, Verdict: policy.Verdict{Origin: by}}
}

func credential(t *testing.T, uris ...string) *certs.Credential {
	t.Helper()
	ca, err := certs.NewAuthority(spiffeid.RequireTrustDomainFromString("trust-domain.mesh"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ca.Forge(certs.Template{URIs: uris})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func xfcc(value string) http.Header { return http.Header{"X-Forwarded-Client-Cert": {value}} }

// payload is a text like that of a token, with claims.
func payload(claims string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".e30"
}

// asked are the filters of a gate whose authorizer refused.
func asked(layer policy.Layer) []xds.FilterLog {
	return []xds.FilterLog{{FilterPlace: xds.FilterPlace{Layer: layer, Asks: true}, Enforced: denied("")}}
}

// sound has the evidence of each kind of request when all sides agree.
var sound = map[string]struct {
	evidence func(svid *certs.Credential) Evidence
	want     Finding
}{
	"served http": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:    caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid, Path: "/a//b?c", Body: "hello", Headers: []policy.Header{{Name: "x-a", Value: "1"}, {Name: "x-a", Value: "2"}, {Name: "te", Value: "trailers"}}},
			Answer:  caller.Answer{Outcome: caller.Answered, Status: 200, Body: "hello"},
			Arrival: &arrival.Record{Requests: 1, Authority: "backend", Method: "GET", Path: "/a/b?c", Header: http.Header{"X-Forwarded-Client-Cert": {clientCert}, "X-A": {"1", "2"}}, Bytes: 5},
			Log:     xds.AccessLog{Request: true, Status: 200, Path: "/a/b?c", PeerURIs: []string{frontend}, Enforced: allowed("friends"), Shadow: denied("watch")},
		}
	}, Finding{Form: Served, Status: 200, Judged: true, Verdict: allowed("friends").Verdict, Shadow: denied("watch")}},
	"served grpc": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:    caller.Call{Protocol: policy.GRPC, Authority: "backend", Credential: svid, GRPC: "orders.Orders/List"},
			Answer:  caller.Answer{Outcome: caller.Answered, Status: 200},
			Arrival: &arrival.Record{Requests: 1, Authority: "backend", Method: "POST", Path: "/orders.Orders/List", Header: xfcc(clientCert)},
			Log:     xds.AccessLog{Request: true, Status: 200, Path: "/orders.Orders/List", PeerURIs: []string{frontend}, Enforced: allowed("friends")},
		}
	}, Finding{Form: Served, Status: 200, Judged: true, Verdict: allowed("friends").Verdict}},
	"served tcp": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:    caller.Call{Protocol: policy.TCP, Credential: svid},
			Answer:  caller.Answer{Outcome: caller.Answered, Body: greeting},
			Arrival: &arrival.Record{Requests: 1, Bytes: len(greeting)},
			Log:     xds.AccessLog{PeerURIs: []string{frontend}, Enforced: allowed("friends"), Shadow: allowed("friends")},
		}
	}, Finding{Form: Served, Judged: true, Verdict: allowed("friends").Verdict, Shadow: allowed("friends")}},
	"served without a certificate": {func(*certs.Credential) Evidence {
		return Evidence{
			Call:    caller.Call{Protocol: policy.TCP},
			Answer:  caller.Answer{Outcome: caller.Answered, Body: greeting},
			Arrival: &arrival.Record{Requests: 1, Bytes: len(greeting)},
		}
	}, Finding{Form: Served}},
	// On a permissive inbound no filter judges plaintext, and the TLS inspector leaves a failure
	// in the log. A plaintext caller shows no credential.
	"served plaintext": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:    caller.Call{Protocol: policy.HTTP, Authority: "backend", Plaintext: true, Credential: svid, Method: "PUT"},
			Answer:  caller.Answer{Outcome: caller.Answered, Status: 200},
			Arrival: &arrival.Record{Requests: 1, Authority: "backend", Method: "PUT", Path: "/", Header: http.Header{}},
			Log:     xds.AccessLog{Request: true, Status: 200, Path: "/", TransportFailure: "TLS_error:WRONG_VERSION_NUMBER"},
		}
	}, Finding{Form: Served, Status: 200}},
	"refused http": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 403, Body: refusalBody},
			Log:    xds.AccessLog{Request: true, Status: 403, PeerURIs: []string{frontend}, Enforced: denied("no one"), Details: prefixed + "[no_one]"},
		}
	}, Finding{Form: Refused, Layer: policy.L7, Status: 403, Judged: true, Verdict: denied("no one").Verdict}},
	// On a shared connection the entry has to name the request.
	"refused shared": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid, Path: "/a//b?c"},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 403, Body: refusalBody},
			Log: xds.AccessLog{Request: true, Method: "GET", Path: "/a/b?c", Status: 403, PeerURIs: []string{frontend}, Enforced: denied("no one"),
				Details: prefixed + "[no_one]"},
			Shared: true, Path: "/a/b?c",
		}
	}, Finding{Form: Refused, Layer: policy.L7, Status: 403, Judged: true, Verdict: denied("no one").Verdict}},
	"unknown method shared": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP2, Authority: "backend", Credential: svid, Method: "FOO", Path: "/;a"},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 403, Body: refusalBody},
			Log: xds.AccessLog{Request: true, Method: "METHOD_UNSPECIFIED", Path: "/;a", Status: 403, PeerURIs: []string{frontend}, Enforced: denied(""),
				Details: prefixed + "[none]"},
			Shared: true,
		}
	}, Finding{Form: Refused, Layer: policy.L7, Status: 403, Judged: true}},
	// The codec refuses the bytes before they are a request.
	"rejected shared": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid, Method: "get"},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 400},
			Log:    xds.AccessLog{Request: true, Method: "METHOD_UNSPECIFIED", Status: 400, PeerURIs: []string{frontend}, Details: "http1.codec_error"},
			Shared: true, Path: "/",
		}
	}, Finding{Form: Rejected, Status: 400}},
	"refused head": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP2, Authority: "backend", Credential: svid, Method: "HEAD"},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 403},
			Log:    xds.AccessLog{Request: true, Status: 403, PeerURIs: []string{frontend}, Enforced: denied(""), Details: prefixed + "[none]"},
		}
	}, Finding{Form: Refused, Layer: policy.L7, Status: 403, Judged: true}},
	"refused grpc": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.GRPC, Authority: "backend", Credential: svid, GRPC: "orders.Orders/List"},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 200, GRPC: codes.PermissionDenied, Body: refusalBody},
			Log:    xds.AccessLog{Request: true, Status: 200, PeerURIs: []string{frontend}, Enforced: denied("default"), Details: prefixed + "[default]"},
		}
	}, Finding{Form: Refused, Layer: policy.L7, Status: 200, Judged: true, Verdict: denied("default").Verdict}},
	"closed": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.TCP, Credential: svid},
			Answer: caller.Answer{Outcome: caller.Closed},
			Log:    xds.AccessLog{PeerURIs: []string{frontend}, Enforced: denied("a\tb\n[c]"), Shadow: denied(""), Termination: prefixed + "[a_b_[c]]"},
		}
	}, Finding{Form: Refused, Layer: policy.L4, Judged: true, Verdict: denied("a\tb\n[c]").Verdict, Shadow: denied("")}},
	"closed plaintext": {func(*certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP, Authority: "backend", Plaintext: true},
			Answer: caller.Answer{Outcome: caller.Closed},
			Log:    xds.AccessLog{Enforced: denied(""), Termination: prefixed + "[none]", TransportFailure: "TLS inspector: no TLS"},
		}
	}, Finding{Form: Refused, Layer: policy.L4, Judged: true}},
	"handshake failed": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid},
			Answer: caller.Answer{Outcome: caller.Alert, Err: errors.New("remote error: tls: unknown certificate")},
			Log:    xds.AccessLog{TransportFailure: "TLS_error:CERTIFICATE_VERIFY_FAILED"},
		}
	}, Finding{Form: HandshakeFailed}},
	"plaintext on a strict inbound": {func(*certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.TCP, Plaintext: true},
			Answer: caller.Answer{Outcome: caller.Closed},
			Log:    xds.AccessLog{TransportFailure: "TLS_error:WRONG_VERSION_NUMBER"},
		}
	}, Finding{Form: HandshakeFailed}},
	"rejected": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid, Path: "/a%2fb"},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 400},
			Log:    xds.AccessLog{Request: true, Status: 400, PeerURIs: []string{frontend}, Details: "path_normalization_failed"},
		}
	}, Finding{Form: Rejected, Status: 400}},
	// The server name goes out as it is written, and Envoy keeps it in lower case.
	"served by name": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:     caller.Call{Protocol: policy.TCP, Credential: svid, SNI: "Shop.example"},
			Answer:   caller.Answer{Outcome: caller.Answered, Body: greeting},
			Arrival:  &arrival.Record{Requests: 1, Bytes: len(greeting)},
			Log:      xds.AccessLog{PeerURIs: []string{frontend}, SNI: "shop.example", Enforced: allowed("friends")},
			ReadsSNI: true,
		}
	}, Finding{Form: Served, Judged: true, Verdict: allowed("friends").Verdict}},
	"served with a token": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call: caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid,
				Headers: []policy.Header{{Name: "authorization", Value: "Bearer " + payload(`{"iss": "a", "sub": "alice"}`)}}},
			Answer:  caller.Answer{Outcome: caller.Answered, Status: 200},
			Arrival: &arrival.Record{Requests: 1, Authority: "backend", Method: "GET", Path: "/", Header: xfcc(clientCert)},
			Log: xds.AccessLog{Request: true, Status: 200, Path: "/", PeerURIs: []string{frontend}, Enforced: allowed("friends"),
				Claims: map[string]any{"iss": "a", "sub": "alice"}},
			Tokens: token.Demand{Issuers: []token.Issuer{{Name: "a"}}},
		}
	}, Finding{Form: Served, Status: 200, Judged: true, Verdict: allowed("friends").Verdict}},
	// The authorizer refused: its status counts, and RBAC has nothing to say.
	"refused by an authorizer": {func(svid *certs.Credential) Evidence {
		e := Evidence{
			Call:   caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 401},
			Log:    xds.AccessLog{Request: true, Status: 401, PeerURIs: []string{frontend}, Details: "ext_authz_denied"},
		}
		e.Log.SetFilters(asked(policy.L7))
		e.Asked.Filters, e.Asked.Authorizer = 1, 1
		return e
	}, Finding{Form: Refused, Layer: policy.L7, Status: 401, Judged: true}},
	"closed by an authorizer": {func(svid *certs.Credential) Evidence {
		e := Evidence{
			Call:   caller.Call{Protocol: policy.TCP, Credential: svid},
			Answer: caller.Answer{Outcome: caller.Closed},
			Log:    xds.AccessLog{PeerURIs: []string{frontend}, Termination: "ext_authz_close"},
		}
		e.Log.SetFilters(asked(policy.L4))
		e.Asked.Filters, e.Asked.Authorizer = 1, 1
		return e
	}, Finding{Form: Refused, Layer: policy.L4, Judged: true}},
	"without a route": {func(svid *certs.Credential) Evidence {
		return Evidence{
			Call:   caller.Call{Protocol: policy.HTTP, Authority: "backend", Credential: svid, Path: "/a"},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 404},
			Log:    xds.AccessLog{Request: true, Status: 404, PeerURIs: []string{frontend}, Details: "route_not_found"},
		}
	}, Finding{Form: Rejected, Status: 404}},
}

// TestRejectedGRPC has the gRPC status that Envoy sends for each HTTP status.
func TestRejectedGRPC(t *testing.T) {
	t.Parallel()
	svid := credential(t, frontend)
	for code, want := range map[codes.Code]int{
		codes.Internal: 400, codes.Unauthenticated: 401, codes.PermissionDenied: 403, codes.Unimplemented: 404, codes.Unavailable: 503,
	} {
		got, err := Evidence{
			Call:   caller.Call{Protocol: policy.GRPC, GRPC: "a%2Fb/Call", Credential: svid},
			Answer: caller.Answer{Outcome: caller.Answered, Status: 200, GRPC: code},
			Log:    xds.AccessLog{Request: true, Status: 200, Details: "route_not_found"},
		}.Find()
		if err != nil || got.Form != Rejected || got.Status != want {
			t.Errorf("%s: found %s with %d (%v), want %d", code, got.Form, got.Status, err, want)
		}
	}
}

func TestFindOnSoundEvidence(t *testing.T) {
	t.Parallel()
	svid := credential(t, frontend)
	for name, tt := range sound {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.evidence(svid).Find()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("finding (-want +got):\n%s", diff)
			}
		})
	}
}

// A transport fault is neither a finding nor a disagreement.
func TestFindOnAFault(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection refused")
	e := sound["refused http"].evidence(credential(t, frontend))
	e.Answer = caller.Answer{Outcome: caller.Fault, Err: broken}
	got, err := e.Find()
	var disagreement *Disagreement
	if !errors.Is(err, broken) || errors.As(err, &disagreement) || got != (Finding{}) {
		t.Errorf("found %+v, %v; want nothing and %q", got, err, broken)
	}
}

// Envoy forwards each URI SAN with a key of its own and without quotes, so that one forged
// SAN can read like two.
func TestFindReadsEveryURIOfTheCaller(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		uris   []string
		header string
	}{
		"none":     {nil, "Hash=abc"},
		"empty":    {nil, "Hash=abc;URI="},
		"two":      {[]string{"spiffe://a/1", "spiffe://b/2"}, "Hash=abc;URI=spiffe://a/1;URI=spiffe://b/2"},
		"a comma":  {[]string{"spiffe://a/1,spiffe://b/2"}, "Hash=abc;URI=spiffe://a/1,spiffe://b/2"},
		"injected": {[]string{"spiffe://a/1;URI=spiffe://b/2"}, "Hash=abc;URI=spiffe://a/1;URI=spiffe://b/2"},
		"quotes":   {[]string{`"spiffe://a/1"`}, `Hash=abc;URI="spiffe://a/1"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := sound["served http"].evidence(credential(t, tt.uris...))
			e.Log.PeerURIs = tt.uris
			e.Arrival.Header.Set("X-Forwarded-Client-Cert", tt.header)
			if _, err := e.Find(); err != nil {
				t.Error(err)
			}
			e.Arrival.Header.Set("X-Forwarded-Client-Cert", tt.header+";URI=spiffe://c/3")
			if f, err := e.Find(); err == nil {
				t.Errorf("with another URI behind them: %+v, want a disagreement", f)
			}
		})
	}
}
