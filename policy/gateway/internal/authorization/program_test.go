package authorization_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
)

// TestPrograms lowers the policies of each archive for each inbound and compares
// selection, program, warnings, status and inherited policies with the archive's
// other files.
func TestPrograms(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/programs/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := &txtar.Archive{Comment: archive.Comment, Files: archive.Files[:1:1]}
			add := func(name, text string) { got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(text)}) }
			ps := parseAll(t, string(archive.Files[0].Data))
			for _, in := range inbounds() {
				add(fmt.Sprintf("%s (%s)", in, in.Protocol), describe(t, ps, in))
			}
			var warnings, status strings.Builder
			for _, w := range authorization.Lint(ps, inbounds()) {
				fmt.Fprintf(&warnings, "warning: %s\n", w)
			}
			add("lint", warnings.String())
			for _, doc := range documents(t, string(archive.Files[0].Data)) {
				c := authorization.Status(doc, workloads()).Ancestors[0].Conditions[0]
				fmt.Fprintf(&status, "%s %s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
			}
			add("status", status.String())
			if *update {
				if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(archive)), string(txtar.Format(got))); diff != "" {
				t.Errorf("rerun with -update if this is meant (-golden +got):\n%s", diff)
			}
		})
	}
}

func workloads() []policy.Workload {
	var out []policy.Workload
	for _, in := range inbounds() {
		out = append(out, in.Workload)
	}
	return out
}

// describe prints all that is decided about one inbound.
func describe(t *testing.T, ps []authorization.Policy, in policy.Inbound) string {
	t.Helper()
	var b strings.Builder
	sel := authorization.Select(ps, in)
	for _, p := range authorization.InheritedPolicies(ps, in.Workload) {
		fmt.Fprintf(&b, "inherited %s %s by %s %s\n", p.Type, p.Name, p.TargetKind, p.Target)
	}
	for _, i := range sel.Ignored {
		fmt.Fprintf(&b, "ignored %s: %s\n", i.Policy, i.Reason)
	}
	program := authorization.Lower(sel, in, options)
	if err := program.Check(); err != nil {
		t.Error(err)
	}
	b.WriteString(program.String())
	return b.String()
}
