package proof_test

import (
	"errors"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
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

// A run has a case that failed exactly where the report does not hold. So no CI system takes it for a proof.
func TestRunFailsAsReport(t *testing.T) {
	t.Parallel()
	proven := func() *proof.Report {
		one := proof.Proven{Result: result.Case{Case: cases.Case{Name: "a"}}}
		one.Inbounds = []proof.InboundVerdict{{Inbound: proof.Inbound{Cover: &classes.Cover{}}, Classes: []proof.Class{{Proven: true, Requests: 1}}}}
		return &proof.Report{Cases: []proof.Proven{one}, Known: &proof.KnownAnswers{}}
	}
	routes := func(of routeproof.Report) func(*proof.Report) {
		return func(r *proof.Report) { r.Routes = &of }
	}
	for name, tt := range map[string]struct {
		change func(*proof.Report)
		want   bool
	}{
		"as it is":                         {func(*proof.Report) {}, true},
		"a warning":                        {func(r *proof.Report) { r.Warnings = []string{"w"} }, true},
		"a warning that counts":            {func(r *proof.Report) { r.Warnings, r.Strict = []string{"w"}, true }, false},
		"a warning of a case that counts":  {func(r *proof.Report) { r.Cases[0].Result.Warnings, r.Strict = []policy.Warning{{}}, true }, false},
		"a warning of routes that counts":  {routes(routeproof.Report{Warnings: []string{"w"}, Strict: true}), false},
		"nothing asked":                    {func(r *proof.Report) { r.Cases = nil }, false},
		"a policy not asked":               {func(r *proof.Report) { r.Unasked = []string{"p"} }, false},
		"a policy of routes not asked":     {routes(routeproof.Report{Unasked: []string{"p"}}), false},
		"too many policies":                {func(r *proof.Report) { r.Truncated = true }, false},
		"too many policies of routes":      {routes(routeproof.Report{Truncated: true}), false},
		"a known answer":                   {func(r *proof.Report) { r.Known.Wrong = []string{"k"} }, false},
		"an error of the proof":            {func(r *proof.Report) { r.Cases[0].Err = errors.New("e") }, false},
		"a sampled cover":                  {func(r *proof.Report) { r.Cases[0].Inbounds[0].Inbound.Cover.Sampled = []string{"s"} }, false},
		"a class without a request":        {func(r *proof.Report) { r.Cases[0].Inbounds[0].Classes[0] = proof.Class{} }, false},
		"an own request":                   {func(r *proof.Report) { r.Cases[0].Stated = &result.Case{Err: errors.New("e")} }, false},
		"own requests that are as wanted":  {func(r *proof.Report) { r.Cases[0].Stated = &result.Case{} }, true},
		"own requests that are left out":   {func(r *proof.Report) { r.Cases[0].Stated = &result.Case{Skipped: "s"} }, true},
		"routes, and nothing wrong there":  {routes(routeproof.Report{}), true},
		"routes alone, without a decision": {func(r *proof.Report) { r.Cases, r.Routes = nil, &routeproof.Report{} }, true},
	} {
		r := proven()
		tt.change(r)
		var run report.Run
		r.AddTo(&run, report.Build)
		if r.Holds() != tt.want || (run.Failed == 0) != tt.want {
			t.Errorf("%s: the report holds: %t, and %d cases of the run failed", name, r.Holds(), run.Failed)
		}
	}
}
