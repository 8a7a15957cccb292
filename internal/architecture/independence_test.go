package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// opinions are the packages that hold a second opinion, each with the functions and methods
// of this module that it may call: some parse, some print, and one says what the codec of Envoy does. Code that selects,
// orders, matches or normalizes is written anew there. If the two opinions shared such code,
// a mistake in it would be proven right.
var opinions = map[string][]string{
	"policy/kuma/internal/evaluation":      {"policy/manifest.Document.Place"},
	"policy/kuma/internal/routeevaluation": {"internal/kri.KRI.String", "internal/plainheader.Lines"},
	"policy/cilium/internal/evaluation":    {"internal/plainheader.Lines", "policy/cilium/internal/networkpolicy.Policy.Place", "policy/cilium/internal/networkpolicy.Policy.Resource"},
	"policy/linkerd/internal/evaluation":   {"internal/plainheader.Lines", "policy/linkerd/internal/authorization.Grant.Place", "policy/linkerd/internal/authorization.Policy.Place", "policy/manifest.Document.Decode"},
	"policy/gateway/internal/evaluation":   {"policy/gateway/internal/authorization.Policy.Place", "policy/gateway/internal/authorization.Policy.Resource"},
	"policy/istio/internal/evaluation":     {"internal/claim.Key", "internal/plainheader.Lines", "policy/istio/internal/authorization.Policy.Place", "policy/istio/internal/authorization.Policy.Resource"},
	"internal/plainheader":                 {"internal/requestline.IsOneLine"},
	"internal/plainpath":                   nil,
}

// The plain evaluators call nothing that the compiler calls too.
func TestSecondOpinionsStandAlone(t *testing.T) {
	t.Parallel()
	const module = "github.com/meshproof/meshproof/"
	arguments := []string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles"}
	for _, name := range slices.Sorted(maps.Keys(opinions)) {
		arguments = append(arguments, module+name)
	}
	command := exec.Command("go", arguments...)
	command.Dir = filepath.Join("..", "..")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
	for name, allowed := range opinions {
		files := token.NewFileSet()
		lookup := func(path string) (io.ReadCloser, error) { return os.Open(packages[path].Export) }
		conf := types.Config{Importer: importer.ForCompiler(files, "gc", lookup)}
		info := types.Info{Uses: map[*ast.Ident]types.Object{}}
		var parsed []*ast.File
		for _, file := range packages[module+name].GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(packages[module+name].Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		if _, err := conf.Check(module+name, files, parsed, &info); err != nil {
			t.Fatal(err)
		}
		called := map[string]bool{}
		for _, object := range info.Uses {
			f, ok := object.(*types.Func)
			if ok && f.Pkg() != nil && f.Pkg().Path() != module+name && strings.HasPrefix(f.Pkg().Path(), module) {
				called[shortName(strings.TrimPrefix(f.Pkg().Path(), module), f)] = true
			}
		}
		for _, f := range slices.Sorted(maps.Keys(called)) {
			if !slices.Contains(allowed, f) {
				t.Errorf("%s calls %s: write what it does anew, or let the test allow what parses or prints", name, f)
			}
		}
		for _, f := range allowed {
			if !called[f] {
				t.Errorf("%s does not call %s any more: take it out of the test", name, f)
			}
		}
	}
}

// shortName names a function, or a method behind its type.
func shortName(pkg string, f *types.Func) string {
	receiver := f.Signature().Recv()
	if receiver == nil {
		return pkg + "." + f.Name()
	}
	of := receiver.Type()
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	if named, ok := of.(*types.Named); ok {
		return pkg + "." + named.Obj().Name() + "." + f.Name()
	}
	return pkg + "." + f.Name()
}
