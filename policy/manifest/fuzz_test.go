package manifest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshproof/meshproof/policy/manifest"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"type: T\nspec: {a: [1, 2.5, x, true, null]}\n---\n- b\n- c:\n    d: |\n      text\n",
		"a: \"\\x41\\u263a\"\nb: 'it''s'\nc: >-\n  folded\n  text\n", "a: &x 1\nb: *x\n", "? a\n: b\n", "%YAML 1.2\n---\na", "- - - a\n-\t- b", "a: {b: [c, {d: e}]}\n...\nb",
		"a: 0x1F\nb: 0o17\nc: 1_000\nd: .inf\ne: -.NaN\nf: 1e400\n", "a:\r\n  b: c\r\n", "\ufeffa: b", "<<: a", "!!binary a", "#", "---\n---\n", "a: b: c", "{", "]", "'", "|", "-", ":", "?",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := manifest.Parse("f.yaml", data)
		if err != nil {
			if !errors.As(err, new(*manifest.Error)) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error is no one-line *Error: %q", err)
			}
			return
		}
		for _, doc := range docs {
			var want, got any
			var strict struct {
				Type string           `yaml:"type"`
				Spec map[string][]int `yaml:"spec"`
			}
			_ = doc.Decode(&strict)
			if err := doc.Decode(&want); err != nil {
				t.Fatalf("decode into any: %v", err)
			}
			again, err := manifest.Parse("g.yaml", doc.YAML())
			if err != nil || len(again) != 1 {
				t.Fatalf("printed document does not parse to one: %d, %v\n%s", len(again), err, doc.YAML())
			}
			if err := again[0].Decode(&got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Fatalf("printing changed the document (-before +after):\n%s", diff)
			}
		}
	})
}
