package verify

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
)

// A sidecar that has no filter for tokens does not do what policies demand of them.
func TestTokensAreDemanded(t *testing.T) {
	t.Parallel()
	const (
		rule  = "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a}\nspec: {action: DENY, rules: [{to: [{operation: {methods: [POST]}}]}]}\n"
		token = "---\napiVersion: security.istio.io/v1\nkind: RequestAuthentication\nmetadata: {name: p}\nspec: {jwtRules: [{issuer: i, jwksUri: \"https://i/keys\"}]}\n"
	)
	for _, tt := range []struct {
		policies string
		protocol policy.Protocol
		told     bool
	}{
		{rule, policy.HTTP, false}, {rule + token, policy.HTTP, true},
		// A connection shows no token.
		{rule + token, policy.TCP, false},
	} {
		in := inbound("10.0.0.1:8080")
		in.Protocol = tt.protocol
		v, err := match(t, tt.policies, false, sidecar.Sidecar{Inbounds: []sidecar.Inbound{in}, Envoy: "1.40.0"})
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(strings.Join(lines(v.Unverified), "\n"), "tokens (JWT)"); told != tt.told {
			t.Errorf("%s on %s: %q", tt.policies, tt.protocol, lines(v.Unverified))
		}
	}
}
