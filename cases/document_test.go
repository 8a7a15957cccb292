package cases_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var yamlTag = regexp.MustCompile("yaml:\"([A-Za-z_]+)\"")

// docs/cases.md has a table of all keys.
func TestAllKeysAreDocumented(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range yamlTag.FindAllSubmatch(text, -1) {
			keys++
			if !regexp.MustCompile("`[^`\n]*\\b" + string(m[1]) + "\\b[^`\n]*`").Match(document) {
				t.Errorf("docs/cases.md lacks the key %s", m[1])
			}
		}
	}
	if keys < 50 {
		t.Errorf("only %d keys were found", keys)
	}
}
