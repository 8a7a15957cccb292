package harness

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// endpointMatches are matches of each kind on ports and addresses.
func endpointMatches() (out []policy.Condition) {
	is := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Is {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	for _, a := range []*policy.Attribute{attribute.SourceAddress, attribute.RemoteAddress} {
		out = append(out,
			a.Exact("10.1.2.3"), a.Exact("2001:db8::7"), a.Exact("::ffff:10.1.2.3"), a.Exact("255.255.255.254"),
			is(a, policy.CIDR, "10.0.0.0/8"), is(a, policy.CIDR, "10.1.2.3/32"), is(a, policy.CIDR, "10.128.0.0/9"), is(a, policy.CIDR, "0.0.0.0/0"), is(a, policy.CIDR, "::/0"),
			is(a, policy.CIDR, "2001:db8::/33"), is(a, policy.CIDR, "::ffff:10.0.0.0/104"), is(a, policy.CIDR, "192.0.2.254/31"),
			policy.And{is(a, policy.CIDR, "10.0.0.0/8"), policy.Not{Of: is(a, policy.CIDR, "10.1.0.0/16")}},
			policy.Not{Of: is(a, policy.CIDR, "10.0.0.0/8")},
		)
	}
	port := attribute.DestinationPort
	return append(out, port.Exact("8080"), port.Exact("65535"), is(port, policy.Range, "8000-8999"), is(port, policy.Range, "1-1023"), is(port, policy.Range, "9-10"),
		is(port, policy.Range, "40000-65535"), policy.Not{Of: is(port, policy.Range, "1024-65535")})
}

// TestEnvoyEndpoints asks Envoy for a request of each class of ports and addresses, and for
// its neighbours, in each form of a gate and on both layers.
func TestEnvoyEndpoints(t *testing.T) {
	t.Parallel()
	type asked struct {
		program policy.Program
		seen    policy.Request
	}
	var all []asked
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	var to []string
	for _, form := range []policy.Form{policy.Ordered, policy.Named} {
		for _, protocol := range []policy.Protocol{policy.TCP, policy.HTTP} {
			for _, when := range endpointMatches() {
				gate := policy.Gate{Layer: protocol.Layer(), Form: form, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "rule"}, When: when}}}
				if form == policy.Ordered {
					gate.Default.Origin = byDefault
				}
				p := policy.Program{Gates: []policy.Gate{gate}}
				if err := p.Check(); err != nil {
					t.Fatal(err)
				}
				cover := classes.Of(classes.Surface{Protocol: protocol, TrustDomains: []string{domain.Name()}}, p)
				if !cover.Complete() || len(cover.Classes) < 2 {
					t.Errorf("%s: %s", when, cover)
				}
				ports := map[uint16]string{}
				for n, class := range cover.Classes {
					requests := []policy.Request{class.Witness}
					for _, neighbour := range cover.Neighbours(n) {
						requests = append(requests, neighbour.Request)
					}
					for _, r := range requests {
						if len(r.URIs) == 0 {
							continue
						}
						if r.Port == 0 {
							r.Port = 8080
						}
						if !r.Source.IsValid() {
							r.Source = endpoint.Unnamed
						}
						if ports[r.Port] == "" {
							number := len(spec.Inbounds) + 1
							ports[r.Port] = fmt.Sprintf("%d %s %s", number, form, protocol)
							spec.Inbounds = append(spec.Inbounds, Inbound{
								Name: ports[r.Port], Identity: backend, Protocol: protocol, Filters: compile(t, p),
								Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 200, byte(number >> 8), byte(number)}), r.Port),
							})
						}
						all, to = append(all, asked{p, r}), append(to, ports[r.Port])
					}
				}
			}
		}
	}
	h := sharedEnvoy.Get(t)
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
		requests[i] = Request{To: to[i], Credential: svid, SourceIP: a.seen.Source, Method: a.seen.Method, Path: a.seen.Path}
	}
	findings, _ := send(t, m, requests...)
	for i, a := range all {
		want := evidence.Refused
		if policy.Decide(a.program, a.seen).Effect == policy.Allow {
			want = evidence.Served
		}
		if findings[i].Form != want {
			t.Errorf("port %d from %s: %s, want %s, by\n%s", a.seen.Port, a.seen.Source, findings[i].Form, want, a.program)
		}
	}
	if len(all) < 200 {
		t.Errorf("only %d requests were asked", len(all))
	}
	t.Logf("%d requests", len(all))
}
