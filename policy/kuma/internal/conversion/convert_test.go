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
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
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

// FuzzConvert feeds any text as policies: an accepted text is either refused
// by the conversion or comes out as policies of the same names, targets and form,
// and a second conversion changes nothing.
func FuzzConvert(f *testing.F) {
	for _, text := range []string{
		"", fixture.Policies(2), fixture.WithShadow,
		"{type: MeshTrafficPermission, name: p, labels: {\"a b: c\": \"- d\", e: \"\"}, mesh: , spec: {rules: [{default: {action: Deny}}]}}",
		"{type: MeshTrafficPermission, name: \"42\", labels: {}, spec: {targetRef: {kind: Dataplane, labels: {\"x\": \"null\"}}, rules: []}}",
		"{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: a, annotations: {note: \"x\\ny # z\"}}, spec: {default: {deny: [{method: \"!#$%&'*+-.^_`|~\"}]}}}",
		"{type: MeshTrafficPermission, name: p, spec: {from: []}}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		docs, err := manifest.Parse("f.yaml", text)
		if err != nil {
			return
		}
		ps, err := permission.ParseAll(docs)
		if err != nil {
			return
		}
		for _, to := range fixture.EveryOption {
			converted, err := conversion.Convert(ps, to)
			if err != nil {
				continue
			}
			again := fixture.Convert(t, ps, to)
			if diff := cmp.Diff(names(ps), names(again)); diff != "" {
				t.Errorf("%s: (-before +after):\n%s\n%s", to, diff, converted.YAML)
			}
			second, err := conversion.Convert(again, to)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(converted.YAML), string(second.YAML)); diff != "" {
				t.Errorf("%s changes with a second conversion:\n%s", to, diff)
			}
		}
	})
}

func names(ps []permission.Policy) (out []string) {
	for _, p := range ps {
		out = append(out, p.String())
	}
	return out
}
