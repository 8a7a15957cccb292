package findings_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/findings"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podlint"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/warning"
)

// lint returns the findings about a file with this text.
func lint(t *testing.T, text string, ignored ...string) (findings.List, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "case.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := files.CasesInFull(lab.Surroundings{})
	if err != nil {
		t.Fatal(err)
	}
	return findings.Collect(all, files.Meshes(lab.Surroundings{}), ignored, podlint.Warn(files, lab.Surroundings{})...)
}

// Each kind of warning has a section of docs/lint.md, in the order of the names, with a case
// that has this warning and no other.
func TestEachKindIsDescribed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "lint.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := regexp.MustCompile("(?ms)^## (\\S+)$\n(.*?)\n```yaml\n(.*?)^```$").FindAllStringSubmatch(string(raw), -1)
	var described []string
	for _, section := range sections {
		kind, example := section[1], section[3]
		described = append(described, kind)
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			found, err := lint(t, example)
			if err != nil || len(found) == 0 || !found.Holds() {
				t.Errorf("%v, %v", found, err)
			}
			for _, f := range found {
				if string(f.Kind) != kind || f.Place == "" {
					t.Errorf("warns of something else: %s", f)
				}
			}
			if found, err = lint(t, example, kind); err != nil || len(found) > 0 {
				t.Errorf("not ignored: %v, %v", found, err)
			}
		})
	}
	var kinds []string
	for kind := range warning.Descriptions {
		kinds = append(kinds, string(kind))
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, described) {
		t.Errorf("docs/lint.md describes %v,\nand there are %v", described, kinds)
	}
}

// docs/lint.md begins with a list of all kinds, so that a reader finds the section of a warning.
func TestKindsAreListed(t *testing.T) {
	var b strings.Builder
	b.WriteString("| kind | what it is about |\n|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(warning.Descriptions)) {
		fmt.Fprintf(&b, "| [%[1]s](#%[1]s) | %s |\n", kind, warning.Descriptions[kind])
	}
	golden.Section(t, "../../docs/lint.md", "kinds", b.String())
}

const misspelt = `
case: a misspelt label
workloads: [{name: backend, labels: {app: backend}, inbounds: [{port: 8080, protocol: http}]}]
policies:
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {selector: {matchLabels: {app: backnd}}, rules: [{}]}}
requests: [{from: backend, to: backend/8080, want: allow}]
`

func TestForms(t *testing.T) {
	t.Parallel()
	found, err := lint(t, misspelt)
	if err != nil || len(found) != 1 || found.Holds() {
		t.Fatalf("%v, %v", found, err)
	}
	var text bytes.Buffer
	found.WriteText(&text, terminal.Paint(false))
	if got := text.String(); !strings.Contains(got, "case.yaml:5: policies[0]: the policy selects no workload") ||
		!strings.Contains(got, " [selects-nothing]\n✗ 1 warning: ") {
		t.Error(got)
	}
	raw, err := json.Marshal(found)
	if err != nil || !strings.Contains(string(raw), `"kind":"selects-nothing"`) || !strings.Contains(string(raw), `docs/lint.md#selects-nothing"`) ||
		!strings.Contains(string(raw), `"case":"a misspelt label"`) {
		t.Errorf("%s, %v", raw, err)
	}
	raw, err = json.Marshal(found.SARIF("v1"))
	if err != nil || !strings.Contains(string(raw), `"ruleId":"selects-nothing","level":"warning"`) || !strings.Contains(string(raw), `"startLine":5`) ||
		!strings.Contains(string(raw), `"helpUri":"https://github.com/meshproof/meshproof/blob/main/docs/lint.md#selects-nothing"`) {
		t.Errorf("%s, %v", raw, err)
	}
	expected, err := lint(t, misspelt+"expectWarning: selects-nothing\n")
	text.Reset()
	expected.WriteText(&text, terminal.Paint(false))
	if err != nil || text.String() != "✓ no warning, and 1 that the cases expect\n" {
		t.Errorf("%s, %v", &text, err)
	}
}

func TestUnknownKind(t *testing.T) {
	t.Parallel()
	if _, err := lint(t, misspelt, "select-nothing"); err == nil || err.Error() != `--ignore: lint has no warning "select-nothing": did you mean selects-nothing?` {
		t.Error(err)
	}
}
