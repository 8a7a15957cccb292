package harness

import (
	"strings"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// bearer returns the request of a caller with a token, and of one without for nil.
func bearer(t testing.TB, to Inbound, as *token.Token, r Request) Request {
	t.Helper()
	r.To = to.Name
	if as == nil {
		return r
	}
	var err error
	if r.Path, r.Headers, err = to.Tokens.Send(as, time.Now(), r.Path, r.Headers); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTokens asks Envoy what it makes of each token, sound or not, on each
// protocol.
func TestTokens(t *testing.T) {
	t.Parallel()
	onReleases(t, checkTokens)
}

// onReleases runs a test on the oldest and the newest release, and on one where time is short.
func onReleases(t *testing.T, check func(*testing.T, *Harness)) {
	if testing.Short() {
		check(t, sharedEnvoy.Get(t))
		return
	}
	versions := pin.Versions()
	for _, version := range []string{versions[0], versions[len(versions)-1]} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			check(t, ownHarness(t, WithEnvoy(version)))
		})
	}
}

func checkTokens(t *testing.T, h *Harness) {
	demand := token.Demand{Issuers: []token.Issuer{{Name: "https://a.example", Audiences: []string{"api", "web"}}, {Name: "https://b.example", Forward: true}}}
	required := demand
	required.Required = true
	open := token.Demand{Issuers: []token.Issuer{{}}}
	filters := compile(t, policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: byDefault}, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "alice"}, When: attribute.Claim("sub").Exact("alice")},
	}}}})
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	for i, d := range []token.Demand{demand, required, open} {
		for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC} {
			spec.Inbounds = append(spec.Inbounds, Inbound{
				Name: []string{"optional ", "required ", "open "}[i] + p.String(), Identity: backend,
				Address: address(8000 + uint16(len(spec.Inbounds))), Protocol: p, Filters: filters, Tokens: d,
			})
		}
	}
	m := h.Mesh(t, spec)
	svid := mint(t, m, frontend)
	claims := func(pairs ...any) map[string]any {
		out := map[string]any{"iss": "https://a.example", "sub": "alice", "aud": "api"}
		for i := 0; i < len(pairs); i += 2 {
			out[pairs[i].(string)] = pairs[i+1]
		}
		return out
	}
	without := func(name string) map[string]any {
		out := claims()
		delete(out, name)
		return out
	}
	tokens := map[string]*token.Token{
		"none":                 nil,
		"sound":                {Claims: claims()},
		"bob":                  {Claims: claims("sub", "bob")},
		"list of aud":          {Claims: claims("aud", []any{"other", "web"})},
		"wrong aud":            {Claims: claims("aud", "other")},
		"no aud":               {Claims: without("aud")},
		"aud is a number":      {Claims: claims("aud", 7)},
		"list, numbers":        {Claims: claims("aud", []any{7, "api"})},
		"no sub":               {Claims: without("sub")},
		"sub is a list":        {Claims: claims("sub", []any{"alice"})},
		"sub is a number":      {Claims: claims("sub", 7)},
		"sub is null":          {Claims: claims("sub", nil)},
		"no iss":               {Claims: without("iss")},
		"iss is a number":      {Claims: claims("iss", 7)},
		"other iss":            {Claims: claims("iss", "https://c.example")},
		"iss in capitals":      {Claims: claims("iss", "HTTPS://A.EXAMPLE")},
		"b":                    {Claims: claims("iss", "https://b.example", "aud", "x")},
		"expired":              {Claims: claims(), Fault: token.Expired},
		"not yet valid":        {Claims: claims(), Fault: token.NotYetValid},
		"unsigned":             {Claims: claims(), Fault: token.Unsigned},
		"wrong signature":      {Claims: claims(), Fault: token.WrongSignature},
		"signed by b":          {Claims: claims(), SignedBy: "https://b.example"},
		"sub twice":            {Claims: claims(), Twice: map[string]any{"sub": "bob"}},
		"sub twice, alice":     {Claims: claims("sub", "bob"), Twice: map[string]any{"sub": "alice"}},
		"iss twice":            {Claims: claims(), Twice: map[string]any{"iss": "https://b.example"}},
		"aud twice":            {Claims: claims("aud", "other"), Twice: map[string]any{"aud": "api"}},
		"exp is a text":        {Claims: claims("exp", "soon")},
		"empty sub":            {Claims: claims("sub", "")},
		"jti is a number":      {Claims: claims("jti", 7)},
		"azp is a number":      {Claims: claims("azp", 7)},
		"iat is a text":        {Claims: claims("iat", "now")},
		"azp twice":            {Claims: claims("azp", "a"), Twice: map[string]any{"azp": "a"}},
		"a.b twice":            {Claims: claims("x", map[string]any{"a": "b"}), Twice: map[string]any{"y": 7}},
		"empty aud":            {Claims: claims("aud", []any{})},
		"expired, wrong aud":   {Claims: claims("aud", "other"), Fault: token.Expired},
		"wrong signature, aud": {Claims: claims("aud", "other"), Fault: token.WrongSignature},
		"signed by b, aud":     {Claims: claims("aud", "other"), SignedBy: "https://b.example"},
		"unsigned, aud":        {Claims: claims("aud", "other"), Fault: token.Unsigned},
		"by b, iss c":          {Claims: claims("iss", "https://c.example"), SignedBy: "https://b.example"},
		"long":                 {Claims: claims("x", strings.Repeat("ä", 2000))},
	}
	type asked struct {
		name    string
		inbound Inbound
		token   *token.Token
	}
	var all []asked
	var requests []Request
	for _, in := range spec.Inbounds {
		for name, as := range tokens {
			r := Request{Credential: svid}
			if in.Protocol == policy.GRPC {
				r.GRPC = "a.B/C"
			}
			all, requests = append(all, asked{name, in, as}), append(requests, bearer(t, in, as, r))
		}
	}
	findings := stream(t, m, requests...)
	for i, a := range all {
		want, refusal := evidence.Refused, a.inbound.Tokens.Refuses(a.token)
		switch subject := a.inbound.Tokens.Seen(a.token)["claim sub"]; {
		case refusal != token.Refusal{}:
			want = evidence.Rejected
		case len(subject) > 0 && subject[0] == "alice":
			want = evidence.Served
		}
		if f := findings[i]; f.Form != want || want == evidence.Rejected && (f.Status != refusal.Status || f.Judged) {
			t.Errorf("%s to %s: %s, status %d, judged %t, want %s: %+v", a.name, a.inbound.Name, f.Form, f.Status, f.Judged, want, refusal)
		}
	}
}

// claimMatches are matches of each kind of claims of each form.
func claimMatches(policy.Form) []policy.Condition {
	var out []policy.Condition
	for _, claim := range []*policy.Attribute{
		attribute.Claim("sub"), attribute.Claim("groups", "[]"), attribute.Claim("realm", "roles", "[]"), attribute.Claim("kubernetes.io", "pod", "name"),
	} {
		is := func(kind policy.MatchKind, value string, anyCase bool) policy.Condition {
			return policy.Is{Attribute: claim, Match: policy.Match{Kind: kind, Value: value, AnyCase: anyCase}}
		}
		out = append(out,
			is(policy.Exact, "alice", false), is(policy.Exact, "Alice", true), is(policy.Exact, "", false), is(policy.Exact, "a,b", false), is(policy.Exact, "zoë", false),
			is(policy.Prefix, "al", false), is(policy.Prefix, "AL", true), is(policy.Suffix, "ice", false), is(policy.Contains, "lic", false), is(policy.Contains, "LIC", true),
			is(policy.Regex, ".+", false), is(policy.Regex, "a(li)?ce[0-9]*", false), is(policy.Regex, "(?i)alice.*", false),
			policy.Not{Condition: is(policy.Exact, "alice", false)},
			policy.And{is(policy.Prefix, "a", false), policy.Not{Condition: is(policy.Regex, ".+", false)}},
			policy.Or{is(policy.Exact, "alice", false), attribute.Claim("iss").Exact("https://a.example")},
		)
	}
	for _, text := range []string{"7", "0", "-7", "1.5", "1000000", "true", "false", "null"} {
		scalar := attribute.Claim("level", "#").Exact(text)
		out = append(out, scalar, policy.Not{Condition: scalar}, policy.Or{scalar, attribute.Claim("level").Exact(text)}, policy.And{policy.Not{Condition: scalar}, policy.Not{Condition: attribute.Claim("a", "b.c", "#").Exact("7")}})
	}
	for _, interval := range []string{"[1,7)", "[7,7.5)", "[-7,0)", "[-inf,inf)", "[0.5,inf)"} {
		in := policy.Match{Kind: policy.Range, Value: interval}
		one, each := policy.Is{Attribute: attribute.Claim("level", "#"), Match: in}, policy.Is{Attribute: attribute.Claim("levels", "[#]"), Match: in}
		out = append(out, one, each, policy.Not{Condition: one}, policy.And{each, policy.Not{Condition: attribute.Claim("levels", "[#]").Exact("7")}})
	}
	for _, path := range [][]string{{"sub", "?"}, {"groups", "?"}, {"realm", "?"}, {"realm", "roles", "?"}} {
		present := policy.Is{Attribute: attribute.Claim(path...), Match: policy.Match{Kind: policy.Present}}
		name := path[:len(path)-1]
		out = append(out, present, policy.Not{Condition: present}, policy.And{present, policy.Not{Condition: attribute.Claim(name...).Exact("alice")}, policy.Not{Condition: attribute.Claim(append(name[:len(name):len(name)], "[]")...).Exact("dev")}})
	}
	either := func(name, value string) policy.Or {
		return policy.Or{attribute.Claim(name).Exact(value), attribute.Claim(name, "[]").Exact(value)}
	}
	return append(out,
		either("groups", "dev"), policy.And{either("groups", "dev"), policy.Not{Condition: either("groups", "ops")}},
		policy.And{attribute.Claim("groups", "[]").Exact("dev"), attribute.Claim("groups", "[]").Exact("ops")},
		policy.And{policy.Is{Attribute: attribute.Claim("iss"), Match: policy.Match{Value: "https://a.example"}}, policy.Is{Attribute: attribute.Claim("sub"), Match: policy.Match{Kind: policy.Regex, Value: ".+"}}},
		policy.And{policy.Is{Attribute: attribute.Claim("iss"), Match: policy.Match{Kind: policy.Suffix, Value: ".example"}}, policy.Is{Attribute: attribute.Claim("sub"), Match: policy.Match{Value: "alice"}}},
		policy.Not{Condition: attribute.Claim("iss").Exact("https://a.example")},
	)
}

// TestEnvoyMatchesClaims asks Envoy for claims of each kind.
func TestEnvoyMatchesClaims(t *testing.T) {
	t.Parallel()
	demand := token.Demand{Issuers: []token.Issuer{{Name: "https://a.example"}, {Name: "https://b.example"}}}
	onReleases(t, func(t *testing.T, h *Harness) {
		if testing.Short() {
			askEnvoy(t, h, policy.HTTP, demand, 300, func(form policy.Form) (out []policy.Condition) {
				for i, when := range claimMatches(form) {
					if i%3 == 0 {
						out = append(out, when)
					}
				}
				return out
			})
			return
		}
		askEnvoy(t, h, policy.HTTP, demand, 1000, claimMatches)
		askEnvoy(t, h, policy.GRPC, demand, 100, func(form policy.Form) []policy.Condition { return claimMatches(form)[:16] })
	})
}
