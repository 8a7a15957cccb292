package authorization_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
)

func TestLintPlaintext(t *testing.T) {
	t.Parallel()
	const (
		evil  = "{from: [{source: {namespaces: [evil]}}]}"
		named = "{from: [{source: {principals: [td/ns/a/sa/x]}}]}"
		said  = "deny-in-plaintext %s: inbound %s takes plaintext, and a caller without a certificate has no name: it is not denied. Demand mTLS (STRICT), or a name in an ALLOW"
	)
	field := "spec.rules[0].from[0].source.namespaces"
	deny := func(rules string) string { return one("wall", "action: DENY, rules: ["+rules+"]") }
	http := inbounds()[:1]
	for name, tt := range map[string]struct {
		policies string
		strict   bool
		want     string
	}{
		"no ALLOW":                    {policies: deny(evil), want: field},
		"an ALLOW of everybody":       {policies: deny(evil) + one("hole", "rules: [{}]"), want: field},
		"an ALLOW of a path":          {policies: deny(evil) + one("hole", "rules: ["+named+", {to: [{operation: {paths: [/a]}}]}]"), want: field},
		"an ALLOW by who is not":      {policies: deny(evil) + one("hole", "rules: [{from: [{source: {notNamespaces: [a]}}]}]"), want: field},
		"a condition":                 {policies: deny("{when: [{key: source.namespace, values: [evil]}]}"), want: "spec.rules[0].when[0].values"},
		"the second source":           {policies: deny("{from: [{source: {ipBlocks: [10.0.0.1]}}, {source: {principals: ['*']}}]}"), want: "spec.rules[0].from[1].source.principals"},
		"an ALLOW that demands names": {policies: deny(evil) + one("hole", "rules: ["+named+"]")},
		"an ALLOW of nobody":          {policies: deny(evil) + one("hole", "")},
		"who is not named":            {policies: deny("{from: [{source: {notNamespaces: [a]}}]}")},
		"no name":                     {policies: deny("{to: [{operation: {paths: [/a]}}]}")},
		"an ALLOW":                    {policies: one("hole", "rules: ["+named+"]")},
		"another port":                {policies: deny("{from: [{source: {namespaces: [evil]}}], to: [{operation: {ports: ['1']}}]}")},
		"STRICT":                      {policies: deny(evil), strict: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got, want []string
			for _, w := range authorization.LintPlaintext(parseAll(t, tt.policies), http, options, func(policy.Inbound) bool { return !tt.strict }) {
				_, at, _ := strings.Cut(w.Place, ": ")
				got = append(got, fmt.Sprintf("%s %s: %s", w.Kind, at, w.Message))
			}
			if tt.want != "" {
				want = append(want, fmt.Sprintf(said, tt.want, http[0]))
			}
			if diff := cmp.Diff(want, slices.Clone(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
