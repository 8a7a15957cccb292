package routediff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/routediff"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// open reads one side of an archive.
func open(t *testing.T, dir, name, text string) routediff.Side {
	t.Helper()
	path := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := lab.OpenSet(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	return routediff.Side{Files: files, Surroundings: lab.Surroundings{Inbound: policy.Inbound{Workload: policy.Workload{Name: "web", Mesh: "default"}, Port: 8080}}}
}

// TestDifferences holds the effects of changes against the archives: what stands behind "# new"
// is compared with what stands before.
func TestDifferences(t *testing.T) {
	t.Parallel()
	golden.Archives(t, "*.txtar", func(t *testing.T, input string) (out []txtar.File) {
		dir := t.TempDir()
		old, recent, _ := strings.Cut(input, "# new\n")
		d, err := routediff.Diff(open(t, dir, "old", old), open(t, dir, "new", recent))
		if err != nil {
			t.Fatal(err)
		}
		add := func(name, text string) {
			out = append(out, txtar.File{Name: name, Data: []byte(strings.ReplaceAll(text, dir+string(filepath.Separator), ""))})
		}
		var text strings.Builder
		d.WriteText(&text, false)
		add("text", text.String())
		add("not verified", strings.Join(append(d.NotVerified(), ""), "\n"))
		var json strings.Builder
		if err := terminal.WriteJSON(&json, d); err != nil {
			t.Fatal(err)
		}
		add("json", json.String())
		var rows strings.Builder
		for _, row := range d.Rows() {
			rows.WriteString(strings.Join(row, " | ") + "\n")
		}
		add("rows", rows.String())
		d.ForgetNames()
		text.Reset()
		d.WriteText(&text, false)
		add("without names", text.String())
		return out
	})
}

// Sides without a route, a timeout or a service have nothing to compare.
func TestNoRouting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if d, err := routediff.Diff(open(t, dir, "old", ""), open(t, dir, "new", "")); d != nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
}
