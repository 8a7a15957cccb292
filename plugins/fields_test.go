package plugins

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// TestIstioFields holds the fields that meshproof reads against those of istio.io/api, in both
// directions. A test beside Istio's own code holds the list.
func TestIstioFields(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("istio/testdata/fields.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		kind, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		names[strings.Trim(path[strings.LastIndex(path, ".")+1:], "[]{}")] = true
		policy := "{apiVersion: security.istio.io/v1, kind: " + kind + ", metadata: {name: a}, " + nested(path) + "}"
		if err := parsed(t, policy); err != nil && strings.Contains(err.Error(), "unknown field") {
			t.Errorf("Istio has the field %s: %v", path, err)
		}
	}
	if len(names) < 50 {
		t.Fatalf("the list has %d names", len(names))
	}
	if err := parsed(t, "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a}, "+nested("spec.rules[].from[].source.callers[]")+"}"); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("a field that nobody has: %v", err)
	}
	for _, name := range fieldsOf(t, "authorization/resource.go", "authentication/authentication.go", "peerauthentication/policy.go") {
		if !names[name] && name != "spec" {
			t.Errorf("meshproof reads the field %q, which Istio does not have", name)
		}
	}
}

// parsed returns why meshproof refuses a policy.
func parsed(t *testing.T, policy string) error {
	t.Helper()
	_, err := dialect.Parse(read(t, policy), language.Options{})
	return err
}

// nested writes a field that has no value yet, with all that it stands in.
func nested(path string) string {
	name, rest, more := strings.Cut(path, ".")
	inner := "null"
	if more {
		inner = "{" + nested(rest) + "}"
	}
	bare, isList := strings.CutSuffix(name, "[]")
	bare, isMap := strings.CutSuffix(bare, "{}")
	switch {
	case more && isList:
		inner = "[" + inner + "]"
	case more && isMap:
		inner = `{"80": ` + inner + "}"
	}
	return bare + ": " + inner
}

// fieldsOf returns the names of the fields that the structs of some files decode.
func fieldsOf(t *testing.T, files ...string) []string {
	t.Helper()
	var out []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../policy/istio/internal", name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if field, ok := node.(*ast.Field); ok && field.Tag != nil {
				tag, err := strconv.Unquote(field.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, reflect.StructTag(tag).Get("yaml"))
			}
			return true
		})
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) < 30 {
		t.Fatalf("the files decode %d fields", len(out))
	}
	return out
}
