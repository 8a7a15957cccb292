package plugin

import (
	"strconv"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// TestTokens reads the filter for tokens of an answer: version 2 always says which tokens it
// reads, and version 1 never does.
func TestTokens(t *testing.T) {
	t.Parallel()
	const filter = `{"id": ID, "filters": {"tokens": {"providers": {"a": {"issuer": "https://a.example", "localJwks": {"inlineString": "{}"}}}}}}`
	for name, tt := range map[string]struct {
		version, answer string
		protocol        policy.Protocol
		// err is the beginning of a bad answer, and providers the number in a sound one; -1 is no
		// filter at all.
		err       string
		providers int
	}{
		"a filter":                   {"2", filter, policy.HTTP, "", 1},
		"no filter":                  {"2", `{"id": ID, "filters": {}}`, policy.HTTP, "", 0},
		"no filter on tcp":           {"2", `{"id": ID, "filters": {}}`, policy.TCP, "", -1},
		"a filter on tcp":            {"2", filter, policy.TCP, "filters.tokens: a tcp inbound reads no tokens", 0},
		"another message":            {"2", `{"id": ID, "filters": {"tokens": {"rule": 1}}}`, policy.HTTP, "filters.tokens: not envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication as JSON", 0},
		"an issuer without a key":    {"2", `{"id": ID, "filters": {"tokens": {"providers": {"a": {}}}}}`, policy.HTTP, "filters.tokens: envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication: invalid", 0},
		"nothing in version 1":       {"1", `{"id": ID, "filters": {}}`, policy.HTTP, "", -1},
		"unknown words in version 1": {"1", filter, policy.HTTP, `filters: unknown field "tokens": there are network, http, routes`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := backend
			if in.Protocol = tt.protocol; tt.protocol == policy.TCP {
				in.Routes = nil
			}
			c := start(t, helper("parrot", tt.version))
			filters, err := c.Compile(t.Context(), in, dialecttest.Documents(t, "answer: "+strconv.Quote(tt.answer)), language.Options{})
			switch {
			case tt.err != "":
				if !isBroken(err) || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %s", err, tt.err)
				}
			case err != nil:
				t.Error(err)
			case (filters.Tokens == nil) != (tt.providers < 0) || len(filters.Tokens.GetProviders()) != max(0, tt.providers):
				t.Errorf("got %v, want %d providers", filters.Tokens, tt.providers)
			}
			if name == "a filter" {
				validate(t, schema(t, "answer"), []byte(strings.ReplaceAll(tt.answer, "ID", "1")))
			}
		})
	}
}
