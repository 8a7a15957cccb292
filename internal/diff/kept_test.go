package diff_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/diff"
	"github.com/meshproof/meshproof/internal/verdict"
)

// The requests of all changes are kept in a case file of each side, and each states what the side decides.
func TestKeep(t *testing.T) {
	t.Parallel()
	moved := t.TempDir()
	for _, file := range []string{"mesh.yaml", "policies.yaml"} {
		text, err := os.ReadFile("../../examples/routes/" + file)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(strings.ReplaceAll(string(text), "x-version", "x-release"))
		if err := os.WriteFile(filepath.Join(moved, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		old, recent string
		// The requests of each file: to inbounds, and through sidecars.
		asked, routed int
	}{
		"routes":   {"../../examples/routes", "../../examples/routes-change", 0, 5},
		"a header": {"../../examples/routes", moved, 0, 4},
		"access":   {"../../examples/policies", "../../examples/change", 1, 0},
		"no route": {"../../examples/routes", "../../examples/routes", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := diff.Diff(routed(t, tt.old), routed(t, tt.recent), "")
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(t.TempDir(), "kept")
			var notes strings.Builder
			if err := d.Keep("", &notes); err != nil || notes.Len() > 0 {
				t.Fatalf("%v, %q", err, notes.String())
			}
			if err := d.Keep(folder, &notes); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(folder); (err == nil) != (tt.asked+tt.routed > 0) {
				t.Fatalf("%v, notes %q", err, notes.String())
			} else if err != nil {
				return
			}
			stated := map[string]string{}
			for _, side := range []string{"old", "new"} {
				all, err := cases.Load(filepath.Join(folder, side+".yaml"))
				if err != nil {
					t.Fatal(err)
				}
				asked, routed := 0, 0
				for _, c := range all {
					if !strings.HasSuffix(c.Name, " ("+side+")") {
						t.Errorf("the name is %q", c.Name)
					}
					if _, err := verdict.Read(c); err != nil {
						t.Error(err)
					}
					asked, routed = asked+len(c.Requests), routed+len(c.RoutedRequests)
					for _, r := range c.Requests {
						stated[side] += r.Want.String() + " "
					}
					for _, r := range c.RoutedRequests {
						stated[side] += string(r.Want) + " " + *r.Route + " " + strings.Join(r.Backends, ",") + " "
					}
				}
				if tt.asked > 0 != (asked > 0) || routed != tt.routed {
					t.Errorf("%s has %d requests to inbounds and %d through sidecars", side, asked, routed)
				}
			}
			// Another time or weight of a limit or a backend changes nothing that a request states.
			if name != "routes" && stated["old"] == stated["new"] {
				t.Errorf("both sides state %q", stated["old"])
			}
		})
	}
}

// A file is no folder.
func TestKeepRefusesAFile(t *testing.T) {
	t.Parallel()
	d, err := diff.Diff(routed(t, "../../examples/routes"), routed(t, "../../examples/routes-change"), "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := d.Keep(file, &strings.Builder{}); err == nil {
		t.Error("a file is taken for a folder")
	}
}
