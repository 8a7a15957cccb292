package attribute_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// addedFiles are the files of the attribute source-port, and where they belong.
var addedFiles = map[string]string{
	"attribute.go":  "policy/attribute/source_port.go",
	"xds.go":        "internal/rbac/source_port.go",
	"classes.go":    "policy/classes/source_port.go",
	"added_test.go": "xds/added_test.go",
}

// testWith runs tests of the module as if it had some more files.
func testWith(t *testing.T, files []string, run string, packages ...string) (string, error) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, file := range files {
		replace[filepath.Join(root, addedFiles[file])] = filepath.Join(root, "policy/attribute/testdata/sourceport", file)
	}
	overlay := filepath.Join(t.TempDir(), "overlay.json")
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, content, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off", "-overlay", overlay, "-run", run}, packages...)...)
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

// TestThreeFilesAddAnAttribute adds the attribute source-port: a decision, a compile, a lift and
// a cover of classes know it.
func TestThreeFilesAddAnAttribute(t *testing.T) {
	t.Parallel()
	out, err := testWith(t, []string{"attribute.go", "xds.go", "classes.go", "added_test.go"},
		"TestAddedAttribute", "./xds")
	if err != nil || strings.Contains(out, "no tests to run") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestMissingRowsHaveNames leaves the rows of the attribute out of the other two tables.
func TestMissingRowsHaveNames(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: it links two tests; TestEveryAttributeHasARow of both packages runs with -short too")
	}
	out, err := testWith(t, []string{"attribute.go"}, "TestEveryAttributeHasARow", "./internal/rbac", "./policy/classes")
	for _, want := range []string{"attribute source-port has no row in package xds", "attribute source-port has no row in package classes"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("%v, want %q in:\n%s", err, want, out)
		}
	}
}
