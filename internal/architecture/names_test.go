package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// unnamed are words that name nothing: a reader of the name alone cannot tell what it stands for.
var unnamed = strings.Fields(`about above across after against ahead alike along among around as at bare before behind below beneath beside between
	beyond by far for from in inside into late loose nobodys of off on onto out outside over own passage past plain since than through to toward under
	until up upon via wallet whole with within without`)

// fixedTerms are names of the field that are such words.
var fixedTerms = map[string]bool{
	"internal/labelselector.In": true, // an operator of a label selector of Kubernetes
}

// No function, type, variable or constant of a package has a preposition for a name, or another word that names nothing.
func TestNamesSayWhatTheyName(t *testing.T) {
	t.Parallel()
	words := map[string]bool{}
	for _, w := range unnamed {
		words[w] = true
	}
	root := filepath.Join("..", "..")
	declared := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == ".git" {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		room, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, name := range declaredNames(file) {
			declared++
			if words[strings.ToLower(name.Name)] && !fixedTerms[filepath.ToSlash(room)+"."+name.Name] {
				t.Errorf("%s: %s names nothing: say what it is or does", fset.Position(name.Pos()), name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if declared < 5000 {
		t.Errorf("only %d names were found", declared)
	}
}

// declaredNames returns the names that a file declares for its package, its methods among them.
func declaredNames(file *ast.File) (names []*ast.Ident) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names = append(names, decl.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name)
				case *ast.ValueSpec:
					names = append(names, spec.Names...)
				}
			}
		}
	}
	return names
}
