package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
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
