package authorization_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/warning"
)

// TestLintValues warns of a value that no request has in each place of a rule, whether those that match are denied or allowed.
func TestLintValues(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"from: [{source: {namespaces: [a, b/]}}]":                            "from[0].source.namespaces[1]",
		"from: [{source: {notNamespaces: [b/]}}]":                            "from[0].source.notNamespaces[0]",
		"when: [{key: source.namespace, values: [b/]}]":                      "when[0].values[0]",
		"when: [{key: source.namespace, notValues: [a, b/]}]":                "when[0].notValues[1]",
		"from: [{source: {serviceAccounts: [a/X]}}]":                         "from[0].source.serviceAccounts[0]",
		"from: [{source: {requestPrincipals: ['https://a.example']}}]":       "from[0].source.requestPrincipals[0]",
		"to: [{operation: {methods: [GET]}}, {operation: {methods: [get]}}]": "to[1].operation.methods[0]",
		"to: [{operation: {paths: [a]}}]":                                    "to[0].operation.paths[0]",
		"to: [{operation: {hosts: ['https://a.example']}}]":                  "to[0].operation.hosts[0]",
		"when: [{key: connection.sni, values: [A.example]}]":                 "when[0].values[0]",
		"from: [{source: {namespaces: ['${a}']}}]":                           "",
		"from: [{source: {principals: ['td/ns/a/sa/${x}']}}]":                "",
		"to: [{operation: {hosts: ['${x}/a']}}]":                             "",
	} {
		for _, action := range []string{"ALLOW", "DENY"} {
			var got string
			for _, w := range warnings(t, one("p", "action: "+action+", rules: [{"+rule+"}]"), inbounds()[:1], token.Demand{Issuers: []token.Issuer{{}}}) {
				if behind, found := strings.CutPrefix(w, string(warning.NeverMatches)+" spec.rules[0]."); found {
					got, _, _ = strings.Cut(behind, ": ")
				}
			}
			if got != want {
				t.Errorf("%s of %s: got %q, want %q", action, rule, got, want)
			}
		}
	}
}
