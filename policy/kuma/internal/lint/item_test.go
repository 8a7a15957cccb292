package lint_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

func TestLintFrom(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"": "policies.yaml:1: spec.from: the list is empty: the policy has no effect",
		"{kind: Mesh}; {kind: MeshService, name: web}":                                                                           "",
		"{kind: MeshService, name: web}; {kind: Mesh}":                                                                           "from[0]",
		"{kind: MeshService, name: web}; {kind: Mesh, mesh: other}":                                                              "",
		"{kind: MeshService, name: web}; {kind: Mesh, mesh: default}":                                                            "from[0]",
		"{kind: MeshService, name: web}; {kind: MeshService, name: web, mesh: other}":                                            "",
		"{kind: MeshSubset, tags: {a: b}}; {kind: Mesh, mesh: default}":                                                          "",
		"{kind: MeshSubset, tags: {a: b, c: d}}; {kind: MeshSubset, tags: {a: b}}":                                               "from[0]",
		"{kind: MeshSubset, tags: {a: b}}; {kind: MeshSubset, tags: {a: b, c: d}}":                                               "",
		"{kind: MeshSubset, tags: {a: b}}; {kind: MeshSubset, tags: {a: c}}":                                                     "",
		"{kind: MeshServiceSubset, name: web, tags: {a: b}}; {kind: MeshSubset, tags: {a: b}}":                                   "from[0]",
		"{kind: MeshSubset, mesh: other, tags: {a: b}}; {kind: Mesh, mesh: other}":                                               "from[0]",
		"{kind: MeshSubset, tags: {kuma.io/service: web, a: b}}; {kind: MeshService, name: api}; {kind: MeshService, name: web}": "from[0]",
	} {
		var items []string
		for _, target := range strings.Split(from, "; ") {
			if target != "" {
				items = append(items, "{targetRef: "+target+", default: {action: Allow}}")
			}
		}
		ps := fixture.Parse(t, "{type: MeshTrafficPermission, name: a, spec: {from: ["+strings.Join(items, ", ")+"]}}")
		got := lint.Lint(ps, nil, permission.Options{})
		if (want == "") != (len(got) == 0) || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0].String(), want) {
			t.Errorf("%s: %v, want %q", from, got, want)
		}
	}
}
