// Package golden holds what tests print against files under testdata. It guarantees that a
// file changes only with the flag -update. Only tests import it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Update reports whether the test rewrites its files.
func Update() bool { return *update }

// Compare holds a text against the file of that name under testdata.
func Compare[T ~string | ~[]byte](t testing.TB, name string, got T) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: rerun with -update if this is meant (-golden +got):\n%s", path, diff)
	}
}

// Section holds a text against the part of a document that stands between the comments
// "<!-- name -->" and "<!-- /name -->", each on a line of its own.
func Section(t testing.TB, path, name, got string) {
	t.Helper()
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	head, rest, opened := strings.Cut(string(document), begin)
	want, tail, closed := strings.Cut(rest, end)
	if !opened || !closed {
		t.Fatalf("%s has no place for the text: %q, then %q", path, begin, end)
	}
	if *update {
		if err := os.WriteFile(path, []byte(head+begin+got+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: rerun with -update if this is meant (-document +got):\n%s", path, diff)
	}
}

// Archives runs a test for each archive under testdata that matches the pattern. The first
// file of the archive is the input of the test. The test returns the other files.
func Archives(t *testing.T, pattern string, test func(t *testing.T, input string) []txtar.File) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata/%s: there are %d files: %v", pattern, len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			archive.Files = append(archive.Files[:1:1], test(t, string(archive.Files[0].Data))...)
			Compare(t, strings.TrimPrefix(path, "testdata/"), txtar.Format(archive))
		})
	}
}

// Refusals holds the inputs in an archive against the error that refuses each of them. A
// comment in the first line of the file is the error.
func Refusals(t *testing.T, name string, refuse func(t *testing.T, file, input string) string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range archive.Files {
		input := string(file.Data)
		if strings.HasPrefix(input, "# want ") {
			_, input, _ = strings.Cut(input, "\n")
		}
		archive.Files[i].Data = []byte("# want " + refuse(t, file.Name, input) + "\n" + input)
	}
	Compare(t, name, txtar.Format(archive))
}

// YAML returns a message as YAML, changed on the way. It decodes what it encoded: protojson
// varies its white space on purpose.
func YAML(t testing.TB, m proto.Message, changes ...func(any)) string {
	t.Helper()
	raw, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return JSON(t, raw, changes...)
}

// JSON is [YAML] for JSON.
func JSON(t testing.TB, raw []byte, changes ...func(any)) string {
	t.Helper()
	var value any
	// JSON is YAML, and this decoder keeps integers what they are.
	if err := yaml.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(value)
	}
	out, err := yaml.MarshalWithOptions(value, yaml.IndentSequence(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
