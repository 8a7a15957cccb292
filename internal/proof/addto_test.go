package proof_test

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeproof"
)

// The report of a proof has a case for what each workload sends, and counts those classes too.
func TestAddToHasRoutes(t *testing.T) {
	t.Parallel()
	files, err := lab.Open(lab.Choice{}, "../../examples/routes")
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	proofs, population, err := routeproof.Plan(files, lab.Surroundings{}, "")
	if err != nil {
		t.Fatal(err)
	}
	var results []result.Case
	for _, p := range proofs {
		r := result.Case{Case: cases.Case{Name: p.Name}}
		for _, q := range p.RoutedRequests {
			r.RoutedRequests = append(r.RoutedRequests, result.RoutedRequest{RoutedRequest: q})
		}
		results = append(results, r)
	}
	proven := proof.Report{Routes: routeproof.NewReport("1.40.0", false, proofs, population, results)}
	var run report.Run
	proven.AddTo(&run, report.Build)
	if len(run.Cases) != 2 || run.Passed != 2 || *run.ClassesProven != (report.Classes{Proven: 8, Of: 8, Complete: true}) {
		t.Errorf("%d cases, %+v", len(run.Cases), run.ClassesProven)
	}
	for i, c := range run.Cases {
		if len(c.RoutedRequests) != len(proofs[i].RoutedRequests) || len(c.Notes) < 2+len(proofs[i].NotWaited) {
			t.Errorf("%s has %d requests and the notes %q", c.Case, len(c.RoutedRequests), c.Notes)
		}
	}
}
