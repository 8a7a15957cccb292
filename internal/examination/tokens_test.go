package examination_test

import (
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/tokenfilter"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/xds"
)

const signed = `
case: tokens of one issuer
workloads: [{name: backend, namespace: default, inbounds: [{name: http-port, port: 8080}]}]
policies:
  - {apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: tokens}, spec: {jwtRules: [{issuer: "https://a.example", audiences: [api], outputClaimToHeaders: [{header: x-user, claim: sub}], jwks: KEYS}]}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: signed}, spec: {rules: [{from: [{source: {requestPrincipals: ["*"]}}]}]}}
requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]
`

// TestTokensApart holds the filter for tokens of a compiler against what the policies demand.
func TestTokensApart(t *testing.T) {
	t.Parallel()
	keys, err := token.Issuer{Name: "https://a.example"}.KeySet()
	if err != nil {
		t.Fatal(err)
	}
	reading, err := verdict.Read(casetest.Parse(t, strings.Replace(signed, "KEYS", "'"+keys+"'", 1)))
	if err != nil {
		t.Fatal(err)
	}
	program := reading.Inbounds()[0].Program
	own, err := xds.Compile(program.Program)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*token.Demand)) *jwtauthnv3.JwtAuthentication {
		demand := program.Tokens
		demand.Issuers = append([]token.Issuer(nil), demand.Issuers...)
		change(&demand)
		filter, err := tokenfilter.Filter(demand)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range filter.Providers {
			p.ClaimToHeaders = []*jwtauthnv3.JwtClaimToHeader{{HeaderName: "X-User", ClaimName: "sub"}}
			p.GetLocalJwks().Specifier = &corev3.DataSource_InlineString{InlineString: keys}
		}
		return filter
	}
	writing := func(claim string) *jwtauthnv3.JwtAuthentication {
		filter := with(func(*token.Demand) {})
		for _, p := range filter.Providers {
			if p.ClaimToHeaders[0].ClaimName = claim; claim == "" {
				p.ClaimToHeaders, p.ForwardPayloadHeader = nil, "x-user"
			}
		}
		return filter
	}
	for name, tt := range map[string]struct {
		filter *jwtauthnv3.JwtAuthentication
		want   string
	}{
		"the lab's own reading":     {nil, ""},
		"the same":                  {with(func(*token.Demand) {}), ""},
		"none at all":               {&jwtauthnv3.JwtAuthentication{}, "are taken on one side only"},
		"another issuer":            {with(func(d *token.Demand) { d.Issuers[0].Name = "https://evil.example" }), "are taken on one side only"},
		"another claim in a header": {writing("role"), "are written into the headers"},
		"the whole token in it":     {writing(""), "are written into the headers"},
		"the claim in a header":     {writing("sub"), ""},
		"any audience":              {with(func(d *token.Demand) { d.Issuers[0].Audiences = nil }), "the audiences"},
		"a required token":          {with(func(d *token.Demand) { d.Required = true }), "a request without a token is refused on one side only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			filters := own
			filters.Tokens = tt.filter
			got := strings.Join(examination.Examine(reading, []xds.Filters{filters}, true, 0).Unread, "; ")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
