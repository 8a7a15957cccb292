package examples

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/diff"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
)

// columns are the dialects of the table. The case of a trap in a dialect is named "trap / dialect".
var columns = []string{"Kuma", "Gateway API", "Istio", "Linkerd", "Cilium"}

// TestTableOfDialects runs each trap in each dialect on Envoy, and holds docs/dialects.md against
// what became of the requests.
func TestTableOfDialects(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("dialects", "traps", "*.yaml"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	h := harness.New(t, harness.WithRuntime(harness.Process))
	table := "| what is written | " + strings.Join(columns, " | ") + " |\n|---|" + strings.Repeat("---|", len(columns)) + "\n"
	told := map[string]bool{}
	for _, file := range files {
		all, err := cases.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]string, len(columns))
		for i := range cells {
			cells[i] = "–"
		}
		var trap string
		for _, r := range (suite.Runner{Harness: h}).Run(t.Context(), all...) {
			of, dialect, _ := strings.Cut(r.Case.Name, " / ")
			column := slices.Index(columns, dialect)
			if column < 0 || trap != "" && of != trap || r.Case.ExpectError == "" && len(r.Case.Requests) != 1 {
				t.Errorf("%s: a case has the name %q, and one request", file, trap+" / dialect")
				continue
			}
			trap, cells[column] = of, outcomeOf(t, r)
			told[cells[column]] = true
		}
		base := filepath.Base(file)
		table += fmt.Sprintf("| %s ([policies](../examples/dialects/traps/%s)) | %s |\n", trap, base, strings.Join(cells, " | "))
	}
	for _, outcome := range []string{"passes", "403", "404", "closed", "refused"} {
		if !told[outcome] {
			t.Errorf("no trap is %s", outcome)
		}
	}
	golden.Section(t, filepath.Join("..", "docs", "dialects.md"), "table", table)
}

// TestSameIntent shows that one intent decides alike in each two dialects, on Envoy.
func TestSameIntent(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(harness.Process))
	folders := []string{"kuma", "gateway", "istio", "linkerd", "cilium"}
	side := func(folder string) diff.Side {
		files, err := diff.OpenSide(lab.Choice{}, filepath.Join("dialects", folder), filepath.Join("dialects", "shop.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		return diff.Side{Files: files}
	}
	for i, a := range folders {
		for _, b := range folders[i+1:] {
			d, err := diff.DiffBeside(side(a), side(b), "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Confirm(t.Context(), h.Version(), suite.Runner{Harness: h}.Readings); err != nil {
				t.Fatal(err)
			}
			// Kuma compares all names of a certificate as one text, and an X.509-SVID has one.
			sides := diff.Sides{Difference: d, SVIDs: a == "kuma"}
			if failures := sides.Failures(); len(failures) > 0 || d.Confirmed().Failed > 0 || d.Changes() < 4 {
				t.Errorf("%s and %s: %v; %s", a, b, failures, sides.Sentence())
			}
		}
	}
}

// outcomeOf says what became of the request of a case. It reads what the caller and the upstream
// recorded, and not what the case wants, although a case that wants something else fails.
func outcomeOf(t *testing.T, r result.Case) string {
	t.Helper()
	if failures := r.Failures(); len(failures) > 0 || !r.Passed() {
		t.Errorf("%s: %v", r.Case.Name, failures)
		return "failed"
	}
	if r.Case.ExpectError != "" {
		return "refused"
	}
	switch e := r.Requests[0].Evidence; {
	case e.Arrival != nil:
		return "passes"
	case e.Answer.Status > 0:
		return strconv.Itoa(e.Answer.Status)
	default:
		return "closed"
	}
}
