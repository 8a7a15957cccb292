package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/suite"
)

// Run runs the suite as a test: a subtest for each version of Envoy, and one within
// it for each case, which is skipped where it does not count. It writes the report
// where the suite names a folder for it, also where cases failed. Cases that -run
// leaves out are skipped ones in the report. Where Suite.Again is nil, a case is
// repeated by go test, with the name of its subtest.
func Run(t *testing.T, s Suite) {
	t.Helper()
	plan, err := s.Plan()
	if err == nil && s.ReportDir != "" {
		err = report.Prepare(s.ReportDir)
	}
	if err != nil {
		t.Fatal(err)
	}
	var runs []report.Run
	for _, version := range s.versions() {
		name := cmp.Or(version, harness.DefaultVersion)
		t.Run(name, func(t *testing.T) {
			u, err := s.start(t.Context(), version)
			if err != nil {
				t.Fatalf("Envoy %s: %v", name, err)
			}
			of := tests{ran: map[string]suite.Result{}, names: map[string]string{}}
			if s.Again == nil {
				u.suite.Again = of.again
			}
			// After the cases, which run side by side.
			t.Cleanup(func() {
				result, err := u.result(plan, of.ran)
				runs = append(runs, result.Report)
				if err := errors.Join(err, u.Close()); err != nil {
					t.Error(err)
				}
			})
			for _, c := range plan {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					of.run(t, u, c)
				})
			}
		})
	}
	// A version that could not be started has been told.
	if s.ReportDir == "" || len(runs) == 0 {
		return
	}
	if err := report.Write(s.ReportDir, runs); err != nil {
		t.Error(err)
	}
}

// tests has the results of one version, and the names of its subtests, by case.
type tests struct {
	mu    sync.Mutex
	ran   map[string]suite.Result
	names map[string]string
}

func (ts *tests) run(t *testing.T, u *underway, c cases.Case) {
	ts.mu.Lock()
	ts.names[c.Name] = t.Name()
	ts.mu.Unlock()
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

// again is the command that repeats a case, "" for one that -run left out.
func (ts *tests) again(c cases.Case, _ report.Run) string {
	if ts.names[c.Name] == "" {
		return ""
	}
	return "go test -run " + pattern(ts.names[c.Name])
}

// pattern is the argument of -run, quoted for a shell, that matches one test alone: go
// test holds each element of a name against one expression.
func pattern(name string) string {
	elements := strings.Split(name, "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return "'" + strings.ReplaceAll(strings.Join(elements, "/"), "'", `'\''`) + "'"
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
