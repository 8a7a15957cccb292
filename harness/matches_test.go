package harness

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/requestline"
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
	var all []asked
	for _, form := range []policy.Form{policy.Ordered, policy.Named} {
		for i, when := range conditions(form) {
			p := allowing(protocol.Layer(), form, when)
			if err := p.Check(); err != nil {
				t.Fatal(err)
			}
			// A class of ports or destination addresses has an inbound for each of them.
			places := map[netip.AddrPort]Inbound{}
			for _, seen := range classRequests(t, on, p) {
				if !seen.Source.IsValid() {
					seen.Source = endpoint.Unnamed
				}
				if seen.Destination.Is6() {
					seen.Source = netip.MustParseAddr("2001:db8::5") // nothing of IPv4 reaches it
				}
				place := netip.AddrPortFrom(seen.Destination, cmp.Or(seen.Port, 8080))
				in, ok := places[place]
				if !ok {
					number := len(spec.Inbounds) + 1
					in = Inbound{
						Name: fmt.Sprintf("%s %d %d", form, i, number), Identity: backend, Protocol: protocol, Filters: compile(t, p), Tokens: tokens,
						Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 200, byte(number >> 8), byte(number)}), place.Port()),
					}
					if seen.Destination.IsValid() {
						// No two inbounds of a mesh share an address and a port.
						in.Address = netip.AddrPortFrom(seen.Destination.Unmap(), uint16(10000+number))
						seen.Port = in.Address.Port()
					}
					places[place], spec.Inbounds = in, append(spec.Inbounds, in)
				}
				if protocol == policy.GRPC && isMetadata(seen.Headers) {
					call := seen
					call.Method, call.Path, call.Headers = "POST", "/orders.Orders/List", requestline.Seen(seen.Headers, protocol, true)
					all = append(all, asked{p, call, bearer(t, in, tokens.Complete(token.FromClaims(seen.Others)),
						Request{To: in.Name, SourceIP: seen.Source, GRPC: "orders.Orders/List", Authority: seen.Host, Headers: seen.Headers, SNI: seen.SNI})})
				}
				all = append(all, asked{p, seen, bearer(t, in, tokens.Complete(token.FromClaims(seen.Others)),
					Request{To: in.Name, SourceIP: seen.Source, Method: seen.Method, Path: seen.Path, Authority: seen.Host, Headers: seen.Headers, SNI: seen.SNI})})
			}
		}
	}
	if calls := slices.IndexFunc(all, func(a asked) bool { return a.request.GRPC != "" }); protocol == policy.GRPC && calls < 0 {
		t.Error("no request is a call of gRPC")
	}
	holdAgainstEnvoy(t, h, spec, least, all)
}

// isMetadata reports whether a client of gRPC sends header lines as they are: it refuses what
// nothing prints, and writes its own user agent and content type.
func isMetadata(lines []policy.Header) bool {
	return !slices.ContainsFunc(lines, func(h policy.Header) bool {
		own := slices.Contains([]string{"content-type", "user-agent"}, h.Name) || strings.HasPrefix(h.Name, "grpc-") || strings.HasSuffix(h.Name, "-bin")
		return own || strings.ContainsFunc(h.Value, func(r rune) bool { return r < ' ' || r > '~' })
	})
}

// allowing returns the program that allows what meets a condition.
func allowing(layer policy.Layer, form policy.Form, when policy.Condition) policy.Program {
	gate := policy.Gate{Layer: layer, Form: form, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "rule"}, When: when}}}
	if form == policy.Ordered {
		gate.Default.Origin = byDefault
	}
	return policy.Program{Gates: []policy.Gate{gate}}
}

// classRequests returns a request of each class of a program, and its neighbours, of callers
// that have a name. There are two classes or more.
func classRequests(t *testing.T, on classes.Surface, p policy.Program) (out []policy.Request) {
	t.Helper()
	cover := classes.Cut(on, p)
	if !cover.Complete() || len(cover.Classes) < 2 {
		t.Errorf("%s: %s", p, cover)
	}
	for n, class := range cover.Classes {
		out = append(out, class.Witness)
		for _, neighbour := range cover.Neighbours(n) {
			out = append(out, neighbour.Request)
		}
	}
	return slices.DeleteFunc(out, func(r policy.Request) bool { return len(r.URIs) == 0 })
}

// asked is a request to the inbound of a program, and what Envoy sees of it.
type asked struct {
	program policy.Program
	seen    policy.Request
	request Request
}

// holdAgainstEnvoy sends requests to a mesh, as the callers that Envoy shall see, and demands the
// decisions of the oracle.
func holdAgainstEnvoy(t *testing.T, h *Harness, spec MeshSpec, least int, all []asked) {
	t.Helper()
	m := h.Mesh(t, spec)
	// Requests of one caller share a certificate, and a connection where Envoy decides for each request.
	svids := map[string]*certs.Credential{}
	requests := make([]Request, len(all))
	for i, a := range all {
		names := fmt.Sprintf("%q %q", a.seen.URIs, a.seen.DNS)
		if svids[names] == nil {
			svids[names] = forge(t, m, certs.Template{URIs: a.seen.URIs, DNS: a.seen.DNS})
		}
		requests[i] = a.request
		requests[i].Credential = svids[names]
	}
	batch, err := m.Stream(t.Context(), requests...)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range all {
		a.seen.UTF8 = !h.Behavior().Fixed(behavior.RegexBytes)
		a.seen.JoinsLines = !h.Behavior().Fixed(behavior.HeaderLines)
		a.seen.RoutesJoinLines = !h.Behavior().Fixed(behavior.RouteLines)
		want := evidence.Refused
		if policy.Decide(a.program, a.seen).Effect == policy.Allow {
			want = evidence.Served
		}
		if found, err := batch.Evidence[i].Find(); err != nil || found.Form != want {
			t.Errorf("%+v: %s, %v, want %s, by\n%s", a.seen, found.Form, err, want, a.program)
		}
	}
	if len(all) < least {
		t.Errorf("only %d requests were asked", len(all))
	}
}
