package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// unnamed are words that name nothing: a reader of the name alone cannot tell what it stands for.
// "when" is not among them: it is the word for the condition of a rule in policies of Istio, in the JSON forms and in
// the text form of a program.
var unnamed = strings.Fields(`about above across after against ahead alike along also although among and around as at bare because before behind below
	beneath beside between beyond but by far for from if in inside into late loose nobodys nor of off on onto or out outside over own passage past per
	plain since so than though through to toward under unless until up upon via wallet whereas while whole with within without yet`)

// fixedTerms are names of the field that are such words, each with its room. A struct field may also have such a word
// where its tag is the same word: then the word is a key of a published format.
var fixedTerms = map[string]bool{
	"internal/labelselector.In": true, // an operator of a label selector of Kubernetes
	// Operators of conditions.
	"internal/rewrite.And": true,
	"internal/rewrite.Or":  true,
	"policy.And":           true,
	"policy.Or":            true,

	// Keys of a request in a case file, which results and flags have too.
	"cases.From":                true,
	"cases.To":                  true,
	"cases.By":                  true,
	"harness.To":                true,
	"internal/casefile.From":    true,
	"internal/casefile.To":      true,
	"internal/casefile.By":      true,
	"internal/casefile.Within":  true,
	"internal/exchange.From":    true,
	"internal/exchange.To":      true,
	"internal/explanation.from": true,
	"internal/explanation.to":   true,
	"internal/report.from":      true,
	"internal/report.to":        true,
	"internal/script.After":     true,
	"internal/verdict.By":       true,
	// The oldest release with something, as documentation of an API says it.
	"internal/rbac.since": true,
	// Keys of a gate of a case file.
	"cases.Before": true,
	// Keys of policies.
	"policy/istio/internal/authorization.from": true,
	"policy/istio/internal/authorization.to":   true,
	"policy/kuma/internal/permission.From":     true,
	"policy/kuma/internal/route.To":            true,
	"policy/kuma/internal/timeout.To":          true,
}

// No function, type, variable, constant, struct field or method of an interface has a preposition or a conjunction for a
// name, or another word that names nothing.
func TestNamesSayWhatTheyName(t *testing.T) {
	t.Parallel()
	words := map[string]bool{}
	for _, w := range unnamed {
		words[w] = true
	}
	root := filepath.Join("..", "..")
	declared, used := 0, map[string]bool{}
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
			term := filepath.ToSlash(room) + "." + name.Name
			if used[term] = true; words[strings.ToLower(name.Name)] && !fixedTerms[term] {
				t.Errorf("%s: %s names nothing: say what it is or does", fset.Position(name.Pos()), name.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for term := range fixedTerms {
		if !used[term] {
			t.Errorf("%s is a fixed term, and nothing has it: take it from the list", term)
		}
	}
	if declared < 10000 {
		t.Errorf("only %d names were found", declared)
	}
}

// declaredNames returns the names that a file declares for its package, its methods among them, and those of all struct
// fields and methods of interfaces, but for fields that are keys of a format.
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
	ast.Inspect(file, func(n ast.Node) bool {
		var members *ast.FieldList
		switch n := n.(type) {
		case *ast.StructType:
			members = n.Fields
		case *ast.InterfaceType:
			members = n.Methods
		default:
			return true
		}
		for _, member := range members.List {
			for _, name := range member.Names {
				if !isKey(member.Tag, name.Name) {
					names = append(names, name)
				}
			}
		}
		return true
	})
	return names
}

// isKey reports whether the tag of a field has its name as the key of a format.
func isKey(tag *ast.BasicLit, name string) bool {
	if tag == nil {
		return false
	}
	text, err := strconv.Unquote(tag.Value)
	if err != nil {
		return false
	}
	for _, format := range []string{"json", "yaml"} {
		key, _, _ := strings.Cut(reflect.StructTag(text).Get(format), ",")
		if strings.EqualFold(key, name) {
			return true
		}
	}
	return false
}
