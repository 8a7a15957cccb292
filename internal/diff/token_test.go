package diff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/diff"
)

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
