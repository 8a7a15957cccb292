package harness

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestTokenPlaces asks Envoy where it finds a token, by whose key it is signed, and what it
// leaves of it in the request.
func TestTokenPlaces(t *testing.T) {
	t.Parallel()
	onReleases(t, checkTokenPlaces)
}

func checkTokenPlaces(t *testing.T, h *Harness) {
	custom := token.Place{Name: "x-token", Prefix: "JWT "}
	bare := token.Place{Name: "x-bare"}
	parameter := token.Place{Kind: token.InParameter, Name: "t"}
	cookie := token.Place{Kind: token.InCookie, Name: "session"}
	usual := token.Place{Kind: token.InParameter, Name: "access_token"}
	demands := map[string]token.Demand{
		"usual":     {Issuers: []token.Issuer{{Name: "a"}}},
		"all":       {Issuers: []token.Issuer{{Name: "a", Places: []token.Place{custom, bare, parameter, cookie}}}},
		"required":  {Issuers: []token.Issuer{{Name: "a", Places: []token.Place{custom}}}, Required: true},
		"two":       {Issuers: []token.Issuer{{Name: "a", Places: []token.Place{custom, cookie}}, {Name: "b", Places: []token.Place{bare, cookie}}}},
		"audience":  {Issuers: []token.Issuer{{Name: "a", Audiences: []string{"https://api.example"}}, {Name: "b", Audiences: []string{"web/"}}}},
		"spaced":    {Issuers: []token.Issuer{{Name: "a", Spaced: []string{"scope", "none"}}, {Name: "b"}}},
		"preflight": {Issuers: []token.Issuer{{Name: "a"}}, Preflight: true},
		"forward":   {Issuers: []token.Issuer{{Name: "a", Places: []token.Place{custom, bare, parameter, cookie}, Forward: true}}},
	}
	program := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: byDefault}, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "x-token"}, When: attribute.Header("x-token").Joined.Prefix("JWT ey")},
		{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "x-bare"}, When: attribute.Header("x-bare").Joined.Prefix("ey")},
		{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "cookie"}, When: attribute.Header("cookie").Joined.Prefix("session=ey")},
		{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "query"}, When: policy.Is{Attribute: attribute.Query, Match: policy.Match{Kind: policy.Contains, Value: "t=ey"}}},
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "alice"}, When: attribute.Claim("sub").Exact("alice")},
	}}}}
	filters := compile(t, program)
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	for _, name := range slices.Sorted(maps.Keys(demands)) {
		for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2} {
			spec.Inbounds = append(spec.Inbounds, Inbound{Name: name + " " + p.String(), Identity: backend, Address: address(8000 + uint16(len(spec.Inbounds))), Protocol: p, Filters: filters, Tokens: demands[name]})
		}
	}
	claims := func(iss string, pairs ...any) map[string]any {
		out := map[string]any{"iss": iss, "sub": "alice"}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1]
		}
		return out
	}
	now := time.Now().Unix()
	tokens := []*token.Token{
		{Name: "usual", Claims: claims("a")},
		{Name: "b", Claims: claims("b")},
		{Name: "long prefix", Claims: claims("a"), Place: token.Place{Name: "x-token", Prefix: "x JWT "}},
		{Name: "other prefix", Claims: claims("a"), Place: token.Place{Name: "x-token", Prefix: "Bearer "}},
		{Name: "no prefix", Claims: claims("a"), Place: token.Place{Name: "x-token"}},
		{Name: "word behind the prefix", Claims: claims("a"), Place: token.Place{Name: "x-token", Prefix: "JWT x "}},
		{Name: "prefix for bare", Claims: claims("a"), Place: token.Place{Name: "x-bare", Prefix: "Bearer "}},
		{Name: "sign for bare", Claims: claims("a"), Place: token.Place{Name: "x-bare", Prefix: "@"}},
		{Name: "other parameter", Claims: claims("a"), Place: token.Place{Kind: token.InParameter, Name: "T"}},
		{Name: "other cookie", Claims: claims("a"), Place: token.Place{Kind: token.InCookie, Name: "Session"}},
		{Name: "RS256", Claims: claims("a"), Algorithm: token.RS256},
		{Name: "RS256, its key", Claims: claims("a"), Algorithm: token.RS256, KeyID: token.RS256},
		{Name: "RS256, other key", Claims: claims("a"), Algorithm: token.RS256, KeyID: token.ES256},
		{Name: "ES256, its key", Claims: claims("a"), KeyID: token.ES256},
		{Name: "ES256, no such key", Claims: claims("a"), KeyID: "x"},
		{Name: "RS256, wrong", Claims: claims("a"), Algorithm: token.RS256, Fault: token.WrongSignature},
		{Name: "RS256 of b", Claims: claims("a"), Algorithm: token.RS256, SignedBy: "b"},
		{Name: "HS256", Claims: claims("a"), Fault: token.SignedByPublicKey},
		{Name: "within the skew", Claims: claims("a", "exp", now-20)},
		{Name: "soon, within the skew", Claims: claims("a", "nbf", now+20)},
	}
	for _, at := range []token.Place{custom, bare, parameter, cookie, usual} {
		for _, iss := range []string{"a", "b", "c"} {
			tokens = append(tokens, &token.Token{Name: iss + " at " + at.String(), Claims: claims(iss), Place: at})
		}
		tokens = append(tokens, &token.Token{Name: "expired at " + at.String(), Claims: claims("a"), Place: at, Fault: token.Expired})
	}
	for _, scope := range []any{"a", "a b", " a  b ", "", " ", "a\tb", "a,b", 7, true, nil, []any{"a b", "c"}, map[string]any{"x": "a b"}} {
		for _, iss := range []string{"a", "b"} {
			tokens = append(tokens, &token.Token{Name: fmt.Sprintf("%s with the scope %q", iss, scope), Claims: claims(iss, "scope", scope, "other", scope)})
		}
	}
	for _, iss := range []string{"a", "b"} {
		for _, aud := range []any{"https://api.example", "http://api.example", "api.example", "api.example/", "https://api.example/", "https://api.example//", "HTTPS://api.example", "ftp://api.example", "web", "web/", "http://web", "", "/", []any{"x", "http://web/"}} {
			tokens = append(tokens, &token.Token{Name: fmt.Sprintf("%s for %q", iss, aud), Claims: claims(iss, "aud", aud)})
		}
	}
	m := h.Mesh(t, spec)
	svid := mint(t, m, frontend)
	type asked struct {
		inbound   Inbound
		token     *token.Token
		path      string
		decidedBy []policy.Header
	}
	preflight := []policy.Header{{Name: "Origin", Value: "x"}, {Name: "Access-Control-Request-Method", Value: "GET"}}
	emptyOrigin := []policy.Header{{Name: "origin", Value: ""}, preflight[1]}
	var all []asked
	var requests []Request
	for _, in := range spec.Inbounds {
		for _, as := range append(tokens, nil) {
			a := asked{inbound: in, token: as, path: "/"}
			if in.Protocol == policy.HTTP2 {
				a.path = "/x?a=1&b=2"
			}
			for _, by := range [][]policy.Header{nil, {{Name: "X-Bare", Value: "x"}}, {{Name: "cookie", Value: "a=b; session=x"}}, preflight, preflight[:1], emptyOrigin} {
				if a.decidedBy = by; by != nil && (as == nil || as.Name != "a at cookie session" && as.Name != "a at header x-token" && as.Name != "usual" && as.Name != "RS256 of b") {
					continue
				}
				all, requests = append(all, a), append(requests, bearer(t, in, as, Request{Credential: svid, Method: "OPTIONS", Path: a.path, Headers: slices.Clone(by)}))
			}
		}
	}
	findings := stream(t, m, requests...)
	for i, a := range all {
		name := "none"
		if a.token != nil {
			name = a.token.Name
		}
		demand := a.inbound.Tokens.ForRequest("OPTIONS", a.decidedBy)
		want, refusal := evidence.Refused, demand.RefusesWith(a.token, a.path, a.decidedBy)
		seen := policy.Request{Others: demand.Seen(a.token)}
		seen.Path, seen.Headers = demand.Leaves(a.token, a.path, a.decidedBy)
		switch {
		case refusal != token.Refusal{}:
			want = evidence.Rejected
		case policy.Decide(program, seen).Effect == policy.Allow:
			want = evidence.Served
		}
		f := findings[i]
		if f.Form != want || want == evidence.Rejected && (f.Status != refusal.Status || f.Judged) {
			t.Errorf("%s to %s by %v: %s, status %d, verdict %v, want %s: %+v", name, a.inbound.Name, a.decidedBy, f.Form, f.Status, f.Verdict, want, refusal)
		}
	}
}

// TestTokenInQuery asks Envoy for the path that it leaves where it takes a token out of the query.
func TestTokenInQuery(t *testing.T) {
	t.Parallel()
	onReleases(t, func(t *testing.T, h *Harness) {
		parameter := token.Place{Kind: token.InParameter, Name: "t"}
		demand := token.Demand{Issuers: []token.Issuer{{Name: "a", Places: []token.Place{parameter}}}}
		m := h.Mesh(t, MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}, Inbounds: []Inbound{{Name: "in", Identity: backend, Address: address(8000), Protocol: policy.HTTP, Tokens: demand}}})
		svid, as := mint(t, m, frontend), &token.Token{Claims: map[string]any{"iss": "a"}}
		var requests []Request
		paths := []string{"/x", "/x?", "/x?a", "/x?a=%41+x&b", "/x?a=%2f%26b=c", "/x?b=1;c", "/x?a=%zz", "/x?a=b=c&a=d", "/x?z=1&a=2&z=0&B=3", "/x?&&a", "/x?%61=1", "/x?a=%"}
		for _, path := range paths {
			requests = append(requests, bearer(t, m.inbounds[0], as, Request{To: "in", Credential: svid, Path: path}))
		}
		batch, err := m.Send(t.Context(), requests...)
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			if want, _ := demand.Leaves(as, path, nil); batch.Evidence[i].Log.Path != want {
				t.Errorf("%s is %s, want %s", path, batch.Evidence[i].Log.Path, want)
			}
		}
	})
}
