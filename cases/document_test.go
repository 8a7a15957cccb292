package cases_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
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

// docs/unwritten.md names each case that rests on a text with an open meaning, and no other one.
func TestOpenTextsAreDocumented(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/unwritten.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile(`\[([^\]\n]+)\]\(\.\./(cases/[^)]+\.yaml)\)`).FindAllSubmatch(document, -1) {
		documented[string(m[2])+": "+string(m[1])] = true
	}
	all, err := cases.Load(".")
	if err != nil {
		t.Fatal(err)
	}
	tags := map[feature.Name]int{}
	for _, c := range all {
		file, _, _ := strings.Cut(c.Place, ":")
		name := "cases/" + filepath.ToSlash(file) + ": " + c.Name
		tagged := false
		for _, f := range c.Features {
			if strings.HasSuffix(string(f), "Unwritten") {
				tagged = true
				tags[f]++
			}
		}
		if tagged != documented[name] {
			t.Errorf("%s: it has the tag: %t; docs/unwritten.md names it: %t", name, tagged, documented[name])
		}
		delete(documented, name)
	}
	for name := range documented {
		t.Errorf("docs/unwritten.md names %s, and there is no such case", name)
	}
	if len(tags) != 4 {
		t.Errorf("four dialects have open texts, and cases have the tags %v", tags)
	}
}
