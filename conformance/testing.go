package conformance

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance/report"
	"github.com/meshproof/meshproof/harness/envoy"
	"github.com/meshproof/meshproof/harness/suite"
)

// Run runs the suite as a test: a subtest for each version of Envoy, and one within
// it for each case, which is skipped where it does not count. It writes the report
// where the suite names a folder for it, also where cases failed. Cases that -run
// leaves out are skipped ones in the report.
func Run(t *testing.T, s Suite) {
	t.Helper()
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var runs []report.Run
	for _, version := range s.versions() {
		name := version
		if name == "" {
			name = envoy.DefaultVersion
		}
		t.Run(name, func(t *testing.T) {
			u, err := s.start(t.Context(), version)
			if err != nil {
				t.Fatal(err)
			}
			tests := tests{ran: map[string]suite.Result{}}
			// After the cases, which run side by side.
			t.Cleanup(func() {
				runs = append(runs, u.result(plan, tests.ran).Report)
				if err := u.Close(); err != nil {
					t.Error(err)
				}
			})
			for _, c := range plan {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					tests.run(t, u, c)
				})
			}
		})
	}
	if s.ReportDir == "" {
		return
	}
	if err := report.Write(s.ReportDir, runs); err != nil {
		t.Error(err)
	}
}

// tests has the results of one version.
type tests struct {
	mu  sync.Mutex
	ran map[string]suite.Result
}

func (ts *tests) run(t *testing.T, u *underway, c cases.Case) {
	if reason, _ := u.suite.Selection.Skip(c); reason != "" {
		t.Skip(reason)
	}
	r := u.runner.Case(t.Context(), c)
	ts.mu.Lock()
	ts.ran[c.Name] = r
	ts.mu.Unlock()
	if r.Skipped != "" {
		t.Skip(r.Skipped)
	}
	if r.Failed() {
		t.Error(problems(r))
	}
}

// problems says what went wrong with a case, a line each.
func problems(r suite.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Case.Place, r.Case.Name)
	if r.Err != nil {
		fmt.Fprintf(&b, "\n%v", r.Err)
	}
	for _, q := range r.Requests {
		for _, problem := range q.Problems {
			fmt.Fprintf(&b, "\n%s: %s %s %s as %s: %s", q.Place, q.To, q.Method, q.Path, q.From.Name, problem)
		}
	}
	return b.String()
}
