package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// heavy are packages that no pure test may link: they boot Envoy, or speak to Docker.
var heavy = []string{module + "/harness", module + "/internal/envoy", "github.com/testcontainers/testcontainers-go"}

// The Makefile's PURE lists the packages whose tests link no harness: make check runs
// them but those of LONG, and has their answer within a minute.
func TestPureTestsLinkNoHarness(t *testing.T) {
	t.Parallel()
	pure := listOf(t, "PURE")
	links := linkedByTests(t)
	for path, linked := range links {
		found := ""
		for _, h := range heavy {
			if slices.Contains(linked, h) {
				found = h
			}
		}
		switch isPure := matches(pure, path); {
		case isPure && found != "":
			t.Errorf("%s is in PURE of the Makefile, and its tests link %s", path, found)
		case !isPure && found == "":
			t.Errorf("%s is not in PURE of the Makefile, and its tests link no harness: add it", path)
		}
	}
}

// The Makefile's LONG names packages of PURE, each by itself: a misspelt one would make check long again.
func TestLongTestsArePure(t *testing.T) {
	t.Parallel()
	pure := listOf(t, "PURE")
	for _, path := range listOf(t, "LONG") {
		if len(testsOf(t, path)) == 0 || !matches(pure, path) {
			t.Errorf("%s is in LONG of the Makefile, and no package of PURE with tests", path)
		}
	}
}

// matches reports whether a list of patterns has a package.
func matches(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		parent, all := strings.CutSuffix(pattern, "/...")
		return path == parent || all && strings.HasPrefix(path, parent+"/")
	})
}

// listOf returns the packages that a variable of the Makefile lists, as patterns of import
// paths.
func listOf(t *testing.T, variable string) (patterns []string) {
	t.Helper()
	for _, folder := range wordsOf(t, variable) {
		patterns = append(patterns, module+strings.TrimPrefix(folder, "."))
	}
	return patterns
}

// wordsOf returns the words of a variable of the Makefile.
func wordsOf(t *testing.T, variable string) []string {
	t.Helper()
	for line := range strings.Lines(readFile(t, "Makefile")) {
		if list, ok := strings.CutPrefix(line, variable+" = "); ok {
			return strings.Fields(list)
		}
	}
	t.Fatalf("the Makefile has no line %s = …", variable)
	return nil
}

// linkedByTests returns all packages that the test binary of each package links.
func linkedByTests(t *testing.T) map[string][]string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	// The main package of a test binary is called like its package, and ends in .test.
	list := exec.Command("go", "list", "-test", "-deps", "-f", `{{.ImportPath}}{{"\t"}}{{join .Deps " "}}`, "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	links := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		path, deps, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name, ok := strings.CutSuffix(path, ".test"); ok && strings.HasPrefix(name, module) {
			links[name] = strings.Fields(deps)
		}
	}
	return links
}
