package conversion_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy/kuma/internal/conversion"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestConvert rewrites the first file of each archive for each option and
// compares policies, notes and errors with the other files.
func TestConvert(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/convert/*.txtar")
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
			ps := fixture.Parse(t, string(archive.Files[0].Data))
			got := &txtar.Archive{Comment: archive.Comment, Files: archive.Files[:1:1]}
			for _, to := range fixture.EveryOption {
				text := ""
				converted, err := conversion.Convert(ps, to)
				if err != nil {
					text = "error: " + err.Error() + "\n"
				}
				for _, note := range converted.Notes {
					text += "# " + note + "\n"
				}
				got.Files = append(got.Files, txtar.File{Name: to.String(), Data: append([]byte(text), converted.YAML...)})
			}
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

// TestConvertIsStable holds that a second conversion changes nothing, and that policies come
// back the same from every other option.
func TestConvertIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		ps := fixture.Parse(t, fixture.DrawPolicies(r))
		for _, to := range fixture.EveryOption {
			first, err := conversion.Convert(ps, to)
			if err != nil {
				r.Fatal(err)
			}
			for _, via := range fixture.EveryOption {
				again, err := conversion.Convert(fixture.Convert(t, fixture.Convert(t, ps, via), to), to)
				if err != nil {
					r.Fatal(err)
				}
				if diff := cmp.Diff(string(first.YAML), string(again.YAML)); diff != "" {
					r.Fatalf("%s by way of %s (-direct +round):\n%s", to, via, diff)
				}
			}
		}
	})
}
