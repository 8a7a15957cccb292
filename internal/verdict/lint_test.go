package verdict

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
)

// Lint follows the normalization of paths that a case states, where the mesh config states none.
func TestLintFollowsTheNormalizationOfTheCase(t *testing.T) {
	t.Parallel()
	const text = `case: c
%workloads: [{name: w, inbounds: [{port: 80, protocol: http}]}]
policies: [{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {rules: [{to: [{operation: {paths: [//a]}}]}]}}]
requests: [{from: spiffe://trust-domain.mesh/a, to: w/80, path: /b, want: deny}]
`
	for options, want := range map[string]string{
		"": "",
		"options: {pathNormalization: {mergeSlashes: false}}\n":      "",
		"options: {pathNormalization: {escapedSlashes: unescape}}\n": "with the pathNormalization of the case the listener rewrites such a path, here //a to /a",
		"options: {istio: {normalization: MERGE_SLASHES}}\n":         "with the normalization MERGE_SLASHES the listener rewrites such a path, here //a to /a",
	} {
		all, err := cases.Parse("case.yaml", []byte(strings.Replace(text, "%", options, 1)))
		if err != nil {
			t.Fatal(err)
		}
		reading, err := Read(all[0])
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range reading.Warnings() {
			got += w.String()
		}
		if !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%q: %q, want %q", options, got, want)
		}
	}
}
