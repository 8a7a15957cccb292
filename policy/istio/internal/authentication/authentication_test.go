package authentication

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func parseText(t *testing.T, text string) ([]Policy, error) {
	t.Helper()
	return ParseAll(dialecttest.Documents(t, text))
}

const head = "apiVersion: security.istio.io/v1\nkind: RequestAuthentication\n"

// TestDemand holds whose tokens a workload takes.
func TestDemand(t *testing.T) {
	t.Parallel()
	ps, err := parseText(t, head+`metadata: {name: root, namespace: istio-system}
spec: {jwtRules: [{issuer: a, audiences: [x], jwksUri: https://a/keys}]}
---
`+head+`metadata: {name: own, namespace: shop}
spec: {jwtRules: [{issuer: a, audiences: ['y']}, {issuer: b, forwardOriginalToken: true}]}
---
`+head+`metadata: {name: selected, namespace: shop}
spec: {selector: {matchLabels: {app: web}}, jwtRules: [{issuer: b, audiences: [z]}, {issuer: c}]}
---
`+head+`metadata: {name: elsewhere, namespace: other}
spec: {}
`)
	if err != nil {
		t.Fatal(err)
	}
	d, ignored := Demand(ps, policy.Inbound{Workload: policy.Workload{Namespace: "shop", Labels: map[string]string{"app": "api"}}}, "istio-system")
	want := token.Demand{Preflight: true, Issuers: []token.Issuer{{Name: "a", Audiences: []string{"x"}, Spaced: spaced, Keys: token.KeysAt("https://a/keys")}, {Name: "a", Audiences: []string{"y"}, Spaced: spaced}, {Name: "b", Spaced: spaced, Forward: true}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		`shop/selected: the policy asks for the label "app" with value "web", the workload has "api"`,
		`other/elsewhere: it is of namespace "other", the workload of namespace "shop"`,
	}, ignored); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d, _ = Demand(ps, policy.Inbound{Workload: policy.Workload{Namespace: "shop", Labels: map[string]string{"app": "web"}}}, "istio-system")
	want.Issuers = append(want.Issuers, token.Issuer{Name: "c", Spaced: spaced})
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("of two rules for one issuer, one is enough (-want +got):\n%s", diff)
	}
}

// TestRefusals holds what is not read.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"spec: {jwtRules: [{audiences: [a]}]}":                                 "spec.jwtRules[0].issuer: an issuer is required",
		"spec: {jwtRules: [{issuer: a, jwks: '{}', jwksUri: b}]}":              "spec.jwtRules[0].jwks: the keys stand in jwksUri too",
		"spec: {jwtRules: [{issuer: a, audiences: ['']}]}":                     "spec.jwtRules[0].audiences: an audience is empty",
		"spec: {jwtRules: [{issuer: a, jwks: '{}'}]}":                          "spec.jwtRules[0].jwks: it is no JSON Web Key Set",
		"spec: {jwtRules: [{issuer: a, jwks: 'x'}]}":                           "spec.jwtRules[0].jwks: it is no JSON Web Key Set",
		`spec: {jwtRules: [{issuer: a, jwks: '{"keys": [{"kid": "1"}]}'}]}`:    `spec.jwtRules[0].jwks: keys[0].kty: "" is no type of a key`,
		`spec: {jwtRules: [{issuer: a, jwks: '{"keys": [{"kty": "oct"}]}'}]}`:  "spec.jwtRules[0].jwks: keys[0].k: a key of the type oct has it",
		"spec: {jwtRules: [{issuer: a, fromHeaders: [{prefix: x}]}]}":          `spec.jwtRules[0].fromHeaders[0].name: "" is no name of a header`,
		"spec: {jwtRules: [{issuer: a, fromParams: ['']}]}":                    "spec.jwtRules[0].fromParams: a name is empty",
		"spec: {jwtRules: [{issuer: a, fromCookies: ['']}]}":                   "spec.jwtRules[0].fromCookies: a name is empty",
		"spec: {jwtRules: [{issuer: a, outputPayloadToHeader: 'x y'}]}":        `spec.jwtRules[0].outputPayloadToHeader: "x y" is no name of a header`,
		"spec: {jwtRules: [{issuer: a, outputClaimToHeaders: [{header: x}]}]}": "spec.jwtRules[0].outputClaimToHeaders[0].claim: a claim is required",
		"spec: {jwtRules: [{issuer: a, outputClaimToHeaders: [{claim: x}]}]}":  `spec.jwtRules[0].outputClaimToHeaders[0].header: "" is no name of a header`,
		"spec: {jwtRules: [{issuer: a, spaceDelimitedClaims: ['']}]}":          "spec.jwtRules[0].spaceDelimitedClaims: a name is empty",
		"spec: {jwtRules: [{issuer: a, jwksUri: ''}]}":                         `spec.jwtRules[0].jwksUri: "" is no URL`,
		"spec: {jwtRules: [{issuer: a, jwksUri: 'ftp://a'}]}":                  `spec.jwtRules[0].jwksUri: "ftp://a" is no URL`,
		"spec: {jwtRules: [{issuer: a, timeout: 500us}]}":                      `spec.jwtRules[0].timeout: "500us" is no time`,
		"spec: {jwtRules: [{issuer: a, timeout: 1.5ms}]}":                      `spec.jwtRules[0].timeout: "1.5ms" is no time`,
		"spec: {selector: {matchLabels: {a: 'b*'}}}":                           `spec.selector.matchLabels["a"]: a selector has no wildcard`,
		"spec: {targetRefs: [{kind: Gateway, name: x}]}":                       "spec.targetRefs: it names a gateway",
		"spec: {jwtRules: [{isuer: a}]}":                                       "spec.jwtRules[0].isuer: unknown field",
	} {
		if _, err := parseText(t, head+"metadata: {name: x}\n"+text+"\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	twice := head + "metadata: {name: x}\n"
	if _, err := parseText(t, twice+"---\n"+twice); err == nil || !strings.Contains(err.Error(), "defined twice") {
		t.Errorf("two of one name: %v", err)
	}
	if _, err := parseText(t, "apiVersion: security.istio.io/v7\nkind: RequestAuthentication\n"); err == nil || !strings.Contains(err.Error(), "no version") || !strings.Contains(err.Error(), "a name is required") {
		t.Errorf("no name, no version: %v", err)
	}
}

// TestPlaces holds where the token of a rule is, and which headers the rule writes.
func TestPlaces(t *testing.T) {
	t.Parallel()
	ps, err := parseText(t, head+`metadata: {name: all, namespace: shop}
spec:
  jwtRules:
    - issuer: a
      jwks: '{"keys": [{"kty": "oct", "k": "MQ"}]}'
      fromHeaders: [{name: X-Token, prefix: "JWT "}, {name: x-bare}]
      fromParams: [t]
      fromCookies: [session]
      outputPayloadToHeader: X-Payload
      outputClaimToHeaders: [{header: X-Sub, claim: sub}]
      spaceDelimitedClaims: [roles]
    - {issuer: a, fromParams: [t]}
    - {issuer: a, audiences: [x], fromParams: [t]}
`)
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Inbound{Workload: policy.Workload{Namespace: "shop"}, Protocol: policy.HTTP}
	headers := []token.Place{{Name: "x-token", Prefix: "JWT "}, {Name: "x-bare"}, {Kind: token.InCookie, Name: "session"}}
	query := token.Place{Kind: token.InParameter, Name: "t"}
	words := []string{"scope", "permission", "roles"}
	want := token.Demand{Preflight: true, Issuers: []token.Issuer{{Name: "a", Places: append(headers, query), Spaced: words, Keys: `[{"k":"MQ","kty":"oct"}]`, Writes: []token.Written{{Header: "x-sub", Claim: "sub"}, {Header: "x-payload"}}}, {Name: "a", Places: []token.Place{query}, Spaced: spaced}}}
	d, _ := Demand(ps, in, "istio-system")
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.Protocol = policy.GRPC
	want.Issuers[0].Places = headers
	if d, _ = Demand(ps, in, "istio-system"); cmp.Diff(want, d) != "" {
		t.Errorf("over gRPC (-want +got):\n%s", cmp.Diff(want, d))
	}
	for name, refused := range map[string]bool{"X-Sub": true, "x-payload": true, "x-other": false} {
		header := attribute.Header(name)
		program := policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{{When: policy.Not{Condition: header.Exact("a")}}}}}}
		if err := Check(ps, in, "istio-system", program); (err != nil) != refused {
			t.Errorf("a policy that asks for %s: %v", name, err)
		}
	}
}

// TestTwoRules holds which rules for the tokens of a workload say something that no lab shows.
func TestTwoRules(t *testing.T) {
	t.Parallel()
	header := func(name string) policy.Condition { return attribute.Header(name).Exact("a") }
	claim := func(path ...string) policy.Condition { return attribute.Claim(path...).Exact("a") }
	for name, tt := range map[string]struct {
		first, second string
		asks          policy.Condition
		want          string
	}{
		"nothing":                       {"{issuer: a}", "{issuer: a}", header("authorization"), ""},
		"a host":                        {"{issuer: a}", "{issuer: b, outputPayloadToHeader: HOST}", attribute.Host.Exact("a"), "writes a claim into the header host, and a policy"},
		"a host that nobody asks for":   {"{issuer: a}", "{issuer: b, outputPayloadToHeader: HOST}", header("x"), ""},
		"a place of its own":            {"{issuer: a}", "{issuer: b, fromHeaders: [{name: x}], outputPayloadToHeader: X}", policy.Always, "shop/own reads tokens there"},
		"a usual place":                 {"{issuer: a}", "{issuer: b, fromHeaders: [{name: x}], outputPayloadToHeader: authorization}", policy.Always, "istio-system/root reads tokens there"},
		"a place behind":                {"{issuer: a, outputClaimToHeaders: [{header: X, claim: c}]}", "{issuer: b, fromHeaders: [{name: x}]}", policy.Always, "shop/own reads tokens there"},
		"cookies":                       {"{issuer: a, outputPayloadToHeader: Cookie}", "{issuer: b, fromCookies: [x]}", policy.Always, "shop/own reads tokens there"},
		"another header":                {"{issuer: a, outputPayloadToHeader: other}", "{issuer: b, fromHeaders: [{name: x}]}", policy.Always, ""},
		"forwarded":                     {"{issuer: a, audiences: [p]}", "{issuer: a, audiences: [q], forwardOriginalToken: true}", header("Authorization"), "forwardOriginalToken"},
		"forwarded, and another header": {"{issuer: a}", "{issuer: a, forwardOriginalToken: true}", header("x"), ""},
		"forwarded of another issuer":   {"{issuer: a}", "{issuer: b, forwardOriginalToken: true}", header("authorization"), ""},
		"forwarded elsewhere":           {"{issuer: a, fromHeaders: [{name: x}]}", "{issuer: a, fromHeaders: [{name: z}], forwardOriginalToken: true}", header("x"), ""},
		"forwarded in the query":        {"{issuer: a}", "{issuer: a, fromParams: [access_token], forwardOriginalToken: true}", header(":path"), "forwardOriginalToken"},
		"words":                         {"{issuer: a}", "{issuer: a, spaceDelimitedClaims: [groups]}", claim("groups", "[]"), "the claim groups at its spaces"},
		"words first":                   {"{issuer: a, spaceDelimitedClaims: [groups]}", "{issuer: a}", claim("groups"), "the claim groups at its spaces"},
		"words of another claim":        {"{issuer: a}", "{issuer: a, spaceDelimitedClaims: [groups]}", claim("teams"), ""},
		"words of both":                 {"{issuer: a, spaceDelimitedClaims: [groups]}", "{issuer: a, spaceDelimitedClaims: [groups]}", claim("groups"), ""},
		"words of every rule":           {"{issuer: a}", "{issuer: a, spaceDelimitedClaims: [scope]}", claim("scope"), ""},
	} {
		ps, err := parseText(t, head+"metadata: {name: root, namespace: istio-system}\nspec: {jwtRules: ["+tt.first+"]}\n---\n"+head+"metadata: {name: own, namespace: shop}\nspec: {jwtRules: ["+tt.second+"]}\n")
		if err != nil {
			t.Fatal(err)
		}
		in := policy.Inbound{Workload: policy.Workload{Namespace: "shop"}, Protocol: policy.HTTP}
		program := policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{{When: policy.Not{Condition: tt.asks}}}}}}
		if err := Check(ps, in, "istio-system", program); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		in.Protocol = policy.TCP
		if err := Check(ps, in, "istio-system", program); err != nil {
			t.Errorf("%s: no token is read on tcp: %v", name, err)
		}
	}
}

// TestKeys holds which keys a sidecar takes, as Envoy told when it was asked. Of a rule with others it would keep the listener that it has.
func TestKeys(t *testing.T) {
	t.Parallel()
	none := "of this set Envoy takes no key"
	modulus := "g" + strings.Repeat("A", 84) + "Q" // of 512 bits, the first and the last of them set
	rsa := func(rest string) string { return `{"kty": "RSA", "n": "` + modulus + `", ` + rest + `}` }
	const x, y = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"
	point := func(rest string) string { return `{"kty": "EC", "x": "` + x + `", "y": "` + y + `"` + rest + `}` }
	for keys, want := range map[string]string{
		``:                          none,
		`{"kty": "oct", "k": "MQ"}`: "",
		`{"kty": "oct", "k": "MQ", "alg": "HS256"}`:                           "",
		`{"kty": "oct", "k": "MQ", "alg": "HS1"}`:                             none,
		`{"kty": "oct", "k": "MQ=="}`:                                         "",
		`{"kty": "oct", "k": "MQ="}`:                                          none,
		`{"kty": "oct", "k": "M+"}`:                                           none,
		`{"kty": "oct", "k": "M+"}, {"kty": "oct", "k": "MQ"}`:                "",
		`{"kty": "oct", "k": "MQ"}, {"kty": "oct"}`:                           "keys[1].k: a key of the type oct has it",
		`{"kty": "oct", "k": "M+"}], "Keys": [{"kty": "oct", "k": "MQ"}`:      none,
		`{"kty": "oct", "k": "MQ", "alg": "RS256"}`:                           none,
		rsa(`"e": "AQAB", "alg": "PS256"`):                                    "",
		rsa(`"e": "Aw"`):                                                      "",
		rsa(`"e": "EQ"`):                                                      none,
		rsa(`"e": "AQAB", "alg": "ES256"`):                                    none,
		rsa(`"kid": "1"`):                                                     "keys[0].e: a key of the type RSA has it",
		`{"kty": "RSA", "n": "AQAB", "e": "AQAB"}`:                            none,
		`{"kty": "RSA", "n": "` + strings.Repeat("A", 86) + `", "e": "AQAB"}`: none,
		point(`, "crv": "P-256"`):                                             "",
		point(`, "crv": "P-256", "alg": "ES256"`):                             "",
		point(`, "crv": "P-256", "alg": "ES384"`):                             none,
		point(`, "crv": "P-384"`):                                             none,
		point(`, "crv": "P-1"`):                                               none,
		point(``):                                                             "keys[0].crv: a key of the type EC has it",
		`{"kty": "EC", "crv": "P-256", "x": "` + x + `", "y": "` + x + `"}`:   none,
		`{"kty": "OKP", "crv": "Ed25519", "x": "` + x + `"}`:                  "",
		`{"kty": "OKP", "crv": "Ed25519", "x": "AQ"}`:                         none,
		`{"kty": "OKP", "crv": "Ed25519", "x": "` + x + `", "alg": "EdDSA2"}`: none,
		`{"kty": "OKP", "crv": "X25519", "x": "` + x + `"}`:                   none,
		`{"kty": "XX"}`:                                                       `keys[0].kty: "XX" is no type of a key`,
	} {
		if err := checkKeys(`{"keys": [` + keys + `]}`); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
	}
}
