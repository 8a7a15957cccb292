package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

// The document has a reason for each direct dependency, and for no other module.
func TestDocumentedDependencies(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for _, r := range mod.Require {
		if !r.Indirect {
			required[r.Mod.Path] = true
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllSubmatch(text, -1) {
		for _, module := range regexp.MustCompile("`([^`]+)`").FindAllSubmatch(row[1], -1) {
			documented[string(module[1])] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(required)), slices.Sorted(maps.Keys(documented))); diff != "" {
		t.Errorf("docs/dependencies.md (-go.mod +document):\n%s", diff)
	}
}
