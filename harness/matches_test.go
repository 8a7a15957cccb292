package harness

import (
	"fmt"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// regularMatches are matches of each kind. Envoy is asked by each of them.
func regularMatches(form policy.Form) []policy.Condition {
	caller := attribute.Identity
	if form == policy.Named {
		caller = attribute.URISAN
	}
	is := func(a *policy.Attribute, kind policy.MatchKind, value string, anyCase bool) policy.Is {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value, AnyCase: anyCase}}
	}
	out := []policy.Condition{
		is(caller, policy.Suffix, "/sa/web", false), is(caller, policy.Suffix, "/SA/api", true),
		is(caller, policy.Contains, "/ns/shop/", false), is(caller, policy.Contains, "/NS/Shop/", true),
		is(caller, policy.Prefix, "spiffe://TRUST-domain.mesh/ns/b", true), is(caller, policy.Exact, "SPIFFE://trust-domain.mesh/ns/a/sa/A", true),
		is(caller, policy.Regex, `.*/ns/[a-c]+/.*`, false), is(caller, policy.Regex, `spiffe://[^/]+/ns/(a|b)/sa/\w{2,3}`, false), is(caller, policy.Regex, `(?i).*/SA/x\b.*`, false),
		is(attribute.Method, policy.Regex, "P(OST|UT)", false), is(attribute.Method, policy.Suffix, "T", false), is(attribute.Method, policy.Exact, "get", true),
		is(attribute.Path, policy.Prefix, "/ad", false), is(attribute.Path, policy.Prefix, "/api/", false),
		is(attribute.SNI, policy.Suffix, ".example", false), is(attribute.SNI, policy.Contains, "shop", true), is(attribute.SNI, policy.Regex, `[a-z]+\.shop`, false),
		is(attribute.SNI, policy.Exact, "a.shop", false), is(attribute.SNI, policy.Prefix, "a.", false),
		is(attribute.Method, policy.Prefix, "P", false), is(attribute.Method, policy.Contains, "OS", false), is(attribute.Path, policy.Segments, "/api", false),
		// Every request has both.
		policy.And{is(attribute.Host, policy.Present, "", false), is(attribute.Header(":path"), policy.Present, "", false), attribute.Method.Exact("GET")},
		// No server name is not the empty one.
		is(attribute.SNI, policy.Regex, `.*`, false),
	}
	if form == policy.Ordered {
		for kind, value := range map[policy.MatchKind]string{policy.Exact: "a.shop", policy.Prefix: "a.", policy.Suffix: ".shop", policy.Contains: "sh", policy.Regex: `[a-z]+\.shop`} {
			out = append(out, is(attribute.DNSSAN, kind, value, false))
		}
	}
	if form == policy.Named {
		out = append(out, is(attribute.Path, policy.Suffix, ".json", false), is(attribute.Path, policy.Contains, "/Admin", true),
			is(attribute.Path, policy.Regex, `/v[0-9]+/.*`, false), is(attribute.Path, policy.Exact, "/A", true))
	}
	return out
}

// TestEnvoyMatches asks Envoy for a request of each class, and for its neighbours, by
// matches of each kind in each form of a gate.
func TestEnvoyMatches(t *testing.T) {
	t.Parallel()
	askEnvoy(t, sharedEnvoy.Get(t), policy.HTTP, token.Demand{}, 200, regularMatches)
}

// askEnvoy asks Envoy for a request of each class of each condition, and for its neighbours.
// Each has two classes or more.
func askEnvoy(t *testing.T, h *Harness, protocol policy.Protocol, tokens token.Demand, least int, conditions func(policy.Form) []policy.Condition) {
	t.Helper()
	on := classes.Surface{Protocol: protocol, TrustDomains: []string{domain.Name()}, Tokens: &tokens}
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	type asked struct {
		program policy.Program
		seen    policy.Request
	}
	var all []asked
	var to []string
	for _, form := range []policy.Form{policy.Ordered, policy.Named} {
		for i, when := range conditions(form) {
			gate := policy.Gate{Layer: policy.L7, Form: form, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "rule"}, When: when}}}
			if form == policy.Ordered {
				gate.Default.Origin = byDefault
			}
			p := policy.Program{Gates: []policy.Gate{gate}}
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("%s %d", form, i)
			spec.Inbounds = append(spec.Inbounds, Inbound{Name: name, Identity: backend, Address: address(uint16(8000 + len(spec.Inbounds))), Protocol: protocol, Filters: compile(t, p), Tokens: tokens})
			cover := classes.Of(on, p)
			if !cover.Complete() || len(cover.Classes) < 2 {
				t.Errorf("%s: %s", when, cover)
			}
			for n, class := range cover.Classes {
				requests := []policy.Request{class.Witness}
				for _, neighbour := range cover.Neighbours(n) {
					requests = append(requests, neighbour.Request)
				}
				for _, seen := range requests {
					if len(seen.URIs) > 0 {
						all, to = append(all, asked{p, seen}), append(to, name)
					}
				}
			}
		}
	}
	m := h.Mesh(t, spec)
	ca, err := m.Authority(domain)
	if err != nil {
		t.Fatal(err)
	}
	requests := make([]Request, len(all))
	for i, a := range all {
		svid, err := ca.Forge(certs.Template{URIs: a.seen.URIs, DNS: a.seen.DNS})
		if err != nil {
			t.Fatal(err)
		}
		requests[i] = bearer(t, spec.Inbounds[m.index(to[i])], tokens.Complete(token.Of(a.seen.Others)), Request{Credential: svid, Method: a.seen.Method, Path: a.seen.Path, Authority: a.seen.Host, Headers: a.seen.Headers, SNI: a.seen.SNI})
	}
	findings, _ := send(t, m, requests...)
	for i, a := range all {
		a.seen.UTF8 = !h.Behavior().Fixed(behavior.RegexBytes)
		a.seen.JoinsLines = !h.Behavior().Fixed(behavior.HeaderLines)
		want := evidence.Refused
		if policy.Decide(a.program, a.seen).Effect == policy.Allow {
			want = evidence.Served
		}
		if findings[i].Form != want {
			t.Errorf("%+v: %s, want %s, by\n%s", a.seen, findings[i].Form, want, a.program)
		}
	}
	if len(all) < least {
		t.Errorf("only %d requests were asked", len(all))
	}
}
