package suite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/result"
)

// An option of a dialect without policies, and a document of another kind in a named file, decide nothing. The run
// says so, and a strict run fails.
func TestUnread(t *testing.T) {
	t.Parallel()
	const workloads = "case: x\nworkloads: [{name: backend, inbounds: [{name: in, port: 80, protocol: http}]}]\nrequests: [{from: anonymous, to: backend/in, want: handshake-failure}]\n"
	const permission = "{type: MeshTrafficPermission, name: p, spec: {}}"
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"an option of another dialect": {"options: {istio: {}}\npolicies: [" + permission + "]\n", []string{"the option istio changes nothing: there is no policy of its dialect"}},
		"an option of the dialect":     {"options: {kumaOption: 2}\npolicies: [" + permission + "]\n", nil},
		"an option without policies":   {"options: {istio: {}}\npolicies: []\n", nil},
		"a document of another kind":   {"policies: {files: [all.yaml]}\n", []string{"left out of the named files, not read: 1 Mesh, 1 Secret"}},
		"files of policies alone":      {"policies: {files: [own.yaml]}\n", nil},
		"a pattern of each file":       {"policies: {files: ['o*.yaml', 'a*.*', '*.yml']}\n", []string{"left out of the named files, not read: 1 Mesh, 1 Secret"}},
		"a pattern that misses one":    {"policies: {files: ['*.yaml']}\n", []string{"more.yml may have policies, and no pattern under policies takes it: name the folder", "left out of the named files, not read: 1 Mesh, 1 Secret, 1 without a kind"}},
		"a pattern that misses some":   {"policies: {files: ['o*.yaml']}\n", []string{"all.yaml and 1 more file may have policies, and no pattern under policies takes them: name the folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for file, text := range map[string]string{
				"case.yaml": workloads + tt.text, "own.yaml": permission + "\n", "more.yml": strings.Replace(permission, "name: p", "name: q", 1) + "\n",
				"values.yaml": "replicas: 1\n", "dataplanes.yaml": "{type: Dataplane, name: a, networking: {address: 10.0.0.1, gateway: {}}}\n",
				"all.yaml": permission + "\n---\n{type: Mesh, name: default}\n---\n{apiVersion: v1, kind: Secret, type: Opaque, metadata: {name: a}}\n",
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			all, err := cases.Load(filepath.Join(dir, "case.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, strict := range []bool{false, true} {
				r := run{runner: Runner{Strict: strict}, result: result.Case{Case: all[0]}}
				r.noteUnread()
				for i := range r.result.Notes {
					r.result.Notes[i] = strings.ReplaceAll(r.result.Notes[i], dir+string(filepath.Separator), "")
				}
				if !slices.Equal(r.result.Notes, tt.want) || (r.result.Err != nil) != (strict && tt.want != nil) {
					t.Errorf("strict %t: %q, %v, want %q", strict, r.result.Notes, r.result.Err, tt.want)
				}
			}
		})
	}
}

// The built-in cases state nothing that decides nothing.
func TestBuiltInCasesAreRead(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if what := unread(c); what != nil {
			t.Errorf("%s: %q", c.Place, what)
		}
	}
}
