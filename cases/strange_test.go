package cases_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
)

// Documents that are no cases are refused in one line, with their number; other errors keep a line each.
func TestStrangeDocuments(t *testing.T) {
	t.Parallel()
	const policy = "{type: MeshTrafficPermission, name: p, spec: {}}\n---\n"
	folder := t.TempDir()
	for name, text := range map[string]string{"a.yaml": policy + policy + "{case: x, nonsense: 1}\n", "b.yaml": policy} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := cases.Load(folder)
	if err == nil {
		t.Fatal("the folder is read")
	}
	lines := strings.Split(strings.ReplaceAll(err.Error(), folder+"/", ""), "\n")
	if len(lines) != 2 || lines[0] != "cases: a.yaml:1: this is no case, nor are 2 other documents: put a policy under policies: of a case, or give its file to prove or explain" || !strings.Contains(lines[1], "nonsense") {
		t.Errorf("%q", lines)
	}
}
