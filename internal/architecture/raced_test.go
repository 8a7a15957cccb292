package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The Makefile's RACED lists the packages whose own code runs in several goroutines, or shares
// data between them: make test compiles their tests with the race detector. The other packages
// have no race of their own to find, and would take twice the time.
func TestConcurrentPackagesAreRaced(t *testing.T) {
	t.Parallel()
	raced := listOf(t, "RACED")
	concurrent, tested := map[string]string{}, map[string]bool{}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// Examples, plugins with a module of their own, and files for tests are no packages of the product.
		if name := entry.Name(); entry.IsDir() && (name == "testdata" || name == "examples" || name == "plugins" || strings.HasPrefix(name, ".") && file != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := path.Join(module, filepath.ToSlash(folder))
		if strings.HasSuffix(file, "_test.go") {
			tested[pkg] = true
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if why := findConcurrency(parsed); why != "" {
			concurrent[pkg] = filepath.Base(file) + " has " + why
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(concurrent) == 0 {
		t.Fatal("no package starts a goroutine")
	}
	for pkg, why := range concurrent {
		if tested[pkg] && !slices.Contains(raced, pkg) {
			t.Errorf("%s is not in RACED of the Makefile, and %s: add it", pkg, why)
		}
	}
	for _, pkg := range raced {
		if concurrent[pkg] == "" || !tested[pkg] {
			t.Errorf("%s is in RACED of the Makefile, and has no tests, or starts no goroutine and has no lock: remove it", pkg)
		}
	}
}

// A test that make test takes out of the race detector runs without it: UNRACED of the Makefile
// names it, and PARTLY_RACED has its package. Each package keeps tests that are raced.
func TestUnracedTestsRun(t *testing.T) {
	t.Parallel()
	raced, partly, unraced := listOf(t, "RACED"), listOf(t, "PARTLY_RACED"), wordsOf(t, "UNRACED")
	found := map[string]bool{}
	for _, pkg := range raced {
		taken, left := 0, 0
		for _, name := range testsOf(t, pkg) {
			if slices.Contains(unraced, name) {
				found[name] = true
				taken++
			} else {
				left++
			}
		}
		switch isPartly := slices.Contains(partly, pkg); {
		case taken > 0 && !isPartly:
			t.Errorf("%s has tests that UNRACED of the Makefile names, so they do not run: add it to PARTLY_RACED, or rename them", pkg)
		case taken == 0 && isPartly:
			t.Errorf("%s is in PARTLY_RACED of the Makefile, and UNRACED names none of its tests: remove it", pkg)
		case left == 0:
			t.Errorf("%s has no test that make test runs with the race detector: leave one out of UNRACED", pkg)
		}
	}
	for _, pkg := range partly {
		if !slices.Contains(raced, pkg) {
			t.Errorf("%s is in PARTLY_RACED of the Makefile, and not in RACED: remove it", pkg)
		}
	}
	for _, name := range unraced {
		if !found[name] {
			t.Errorf("UNRACED of the Makefile names %s, and no package of RACED has such a test: remove it", name)
		}
	}
}

var testFunc = regexp.MustCompile(`(?m)^func (Test\w*)\(\w+ \*testing\.T\)`)

// testsOf returns the names of the tests of a package.
func testsOf(t *testing.T, pkg string) (names []string) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(pkg, module)), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range testFunc.FindAllSubmatch(source, -1) {
			names = append(names, string(match[1]))
		}
	}
	return names
}

// findConcurrency returns what a file starts a goroutine with, or what it shares data between
// goroutines with, and "" if it does neither. The functions sync.OnceValue and its kind share
// nothing that a caller could forget to lock.
func findConcurrency(file *ast.File) string {
	found := ""
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			found = "a go statement"
		case *ast.SelectorExpr:
			pkg, ok := node.X.(*ast.Ident)
			if ok && (pkg.Name == "atomic" || pkg.Name == "sync" && !strings.HasPrefix(node.Sel.Name, "Once")) {
				found = pkg.Name + "." + node.Sel.Name
			}
		}
		return true
	})
	return found
}
