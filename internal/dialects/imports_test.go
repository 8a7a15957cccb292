package dialects_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/meshproof/meshproof/"

// TestOnlyTheListImportsDialects reads the imports of every package, those of its
// tests too. A dialect's own tree may import the dialect, and the list, and nothing
// else.
func TestOnlyTheListImportsDialects(t *testing.T) {
	t.Parallel()
	imports := importsOf(t, `{{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}`)
	shared := []string{module + "policy", module + "policy/language", module + "policy/manifest", module + "internal/spelling", module + "internal/capability"}
	var dialects []string
	for _, imported := range importsOf(t, `{{join .Imports " "}}`)[module+"internal/dialects"] {
		if strings.HasPrefix(imported, module) && !slices.Contains(shared, imported) {
			dialects = append(dialects, imported)
		}
	}
	if len(dialects) < 2 || len(imports) < 20 {
		t.Fatalf("%d packages, and the list has %v: that proves nothing", len(imports), dialects)
	}
	for importer, all := range imports {
		for _, dialect := range dialects {
			if importer == module+"internal/dialects" || inTree(importer, dialect) {
				continue
			}
			for _, imported := range all {
				if inTree(imported, dialect) {
					t.Errorf("%s imports %s: outside of a dialect, only internal/dialects may; use dialect.Parse, or an interface of package internal/capability", importer, imported)
				}
			}
		}
	}
}

func inTree(pkg, tree string) bool { return pkg == tree || strings.HasPrefix(pkg, tree+"/") }

// importsOf returns the imports of each package of the module that the format prints.
func importsOf(t *testing.T, format string) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} "+format, module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		imports[words[0]] = words[1:]
	}
	return imports
}
