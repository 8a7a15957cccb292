package diff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/diff"
)

// A token that is forwarded is seen by a policy that asks for the header, or the query, which has it.
func TestCompareForwardedTokens(t *testing.T) {
	t.Parallel()
	const issuer = `{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: r}, spec: {jwtRules: [{issuer: a, PLACES}]}}`
	for _, tt := range []struct {
		places, key string
		complete    bool
	}{
		{"fromHeaders: [{name: x-a}]", "request.headers[x-a]", false},
		{"fromHeaders: [{name: x-a}]", "request.headers[x-b]", true},
		{"fromCookies: [x]", "request.headers[cookie]", false},
		{"audiences: [x]", "request.headers[authorization]", false},
		{"audiences: [x]", "request.headers[:path]", false},
		{"audiences: [x]", "source.namespace", true},
	} {
		asks := `{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {rules: [{when: [{key: "` + tt.key + `", values: [b]}]}]}}`
		was := strings.Replace(issuer, "PLACES", tt.places, 1)
		is := strings.Replace(issuer, "PLACES", tt.places+", forwardOriginalToken: true", 1)
		found, err := diff.Compare(one(t, "http", was+"\n  - "+asks), one(t, "http", is+"\n  - "+asks))
		if err != nil {
			t.Fatal(err)
		}
		if got := found[0].Cover.Complete(); got != tt.complete {
			t.Errorf("%s, %s: complete %t, %q", tt.places, tt.key, got, found[0].Cover.Sampled)
		}
	}
}

// TestCompareTokens holds that another demand of tokens is no equal policy: whose tokens are
// taken is not compared.
func TestCompareTokens(t *testing.T) {
	t.Parallel()
	const a = `{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: p}, spec: {jwtRules: [{issuer: a}]}}`
	for _, tt := range []struct {
		protocol, recent string
		complete         bool
	}{
		{"http", a, true},
		{"http", strings.Replace(a, "issuer: a", "issuer: b", 1), false},
		{"http", strings.Replace(a, "issuer: a", "issuer: a, audiences: [x]", 1), false},
		{"http", strings.Replace(a, "issuer: a", `issuer: a, audiences: []`, 1), true},
		{"http", strings.Replace(a, "issuer: a", `issuer: a, jwksUri: "https://evil.example"`, 1), false},
		{"http", strings.Replace(a, "issuer: a", `issuer: a, fromCookies: [x]`, 1), false},
		{"http", strings.Replace(a, "issuer: a", `issuer: a, spaceDelimitedClaims: [x]`, 1), false},
		{"http", strings.Replace(a, "{issuer: a}", "{issuer: a}, {issuer: b}", 1), false},
		{"http", strings.Replace(a, "issuer: a", "issuer: a, forwardOriginalToken: true", 1), true},
		{"http", strings.Replace(a, "issuer: a", "issuer: a, forwardOriginalToken: true, audiences: [x]", 1), false},
		{"tcp", strings.Replace(a, "issuer: a", "issuer: b", 1), true},
	} {
		found, err := diff.Compare(one(t, tt.protocol, a), one(t, tt.protocol, tt.recent))
		if err != nil {
			t.Fatal(err)
		}
		if got := found[0].Cover.Complete(); got != tt.complete {
			t.Errorf("%s, %s: complete %t, %q", tt.protocol, tt.recent, got, found[0].Cover.Sampled)
		}
	}
}
