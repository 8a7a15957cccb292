package matrix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Run runs the suite as a test, with a subtest for each version of Envoy, and in it one for
// each case. A case that does not count is skipped, as is a case that -run leaves out. Run
// writes the report even if cases failed. If Suite.Again is nil, the report repeats a case by
// go test.
func Run(t *testing.T, s Suite) {
	t.Helper()
	plan, err := s.Plan()
	if err == nil && s.ReportDir != "" {
		err = folder.Prepare(s.ReportDir)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Undigested = s.ReportDir == ""
	var runs []report.Run
	for _, version := range s.versions() {
		name := cmp.Or(version, harness.DefaultVersion)
		t.Run(name, func(t *testing.T) {
			u, err := s.start(t.Context(), version)
			if err != nil {
				t.Fatalf("Envoy %s: %v", name, err)
			}
			subtests := newSubtests(t.Context(), u)
			if s.Again == nil {
				u.suite.Again = subtests.repeatCommand
			}
			// A cleanup runs after the subtests, which run in parallel.
			t.Cleanup(func() {
				ran := subtests.wait()
				// The context of the test has ended by now.
				fresh := u.fresh(context.WithoutCancel(t.Context()))
				if fresh != nil && fresh.Failed() {
					t.Errorf("%s\n%v", FreshCase, fresh.Err)
				}
				result, err := u.result(plan, ran, fresh)
				runs = append(runs, result.Report)
				if err := errors.Join(err, u.Close()); err != nil {
					t.Error(err)
				}
			})
			for _, c := range plan {
				t.Run(c.Name, func(t *testing.T) { subtests.run(t, c) })
			}
		})
	}
	// The subtest of a version has reported a failed start.
	if s.ReportDir == "" || len(runs) == 0 {
		return
	}
	if err := folder.Write(s.ReportDir, runs); err != nil {
		t.Error(err)
	}
}

// subtests are the cases of one version as subtests. The first subtest that runs hands all
// cases to the runner. So -parallel does not limit the cases, which mostly wait for Envoy.
type subtests struct {
	ctx      context.Context
	underway *underway
	// names has the name of the subtest of each case that -run selects.
	names map[string]string
	// cases are the cases that -run and the suite select, in order.
	cases []cases.Case
	start sync.Once
	// results has the result of each case when the case is over.
	results map[string]chan result.Case
	ended   chan struct{}
	// ran is complete when ended is closed.
	ran map[string]result.Case
}

func newSubtests(ctx context.Context, u *underway) *subtests {
	return &subtests{
		ctx: ctx, underway: u, names: map[string]string{}, results: map[string]chan result.Case{},
		ended: make(chan struct{}), ran: map[string]result.Case{},
	}
}

// run is the subtest of one case.
func (s *subtests) run(t *testing.T, c cases.Case) {
	s.names[c.Name] = t.Name()
	if reason, _ := s.underway.suite.Selection.Skip(c); reason != "" {
		t.Skip(reason)
	}
	result := make(chan result.Case, 1)
	s.cases, s.results[c.Name] = append(s.cases, c), result
	// It returns when every case has come this far.
	t.Parallel()
	s.start.Do(func() { go s.runCases() })
	r := <-result
	if r.Skipped != "" {
		t.Skip(r.Skipped)
	}
	if r.Failed() {
		t.Error(problems(r))
	}
}

func (s *subtests) runCases() {
	defer close(s.ended)
	runner := s.underway.runner
	runner.Done = func(r result.Case) {
		s.ran[r.Case.Name] = r
		s.results[r.Case.Name] <- r
	}
	runner.Run(s.ctx, s.cases...)
}

// wait returns the results when no case runs any more.
func (s *subtests) wait() map[string]result.Case {
	// Without a case, runCases never starts.
	s.start.Do(func() { close(s.ended) })
	<-s.ended
	return s.ran
}

// repeatCommand returns the command that repeats a case, or "" for a case that -run left out.
func (s *subtests) repeatCommand(c cases.Case, _ report.Run) string {
	if s.names[c.Name] == "" {
		return ""
	}
	return "go test -run " + pattern(s.names[c.Name])
}

// pattern returns the argument of -run, quoted for a shell, that matches one test only. Go
// test compares each element of a name with one expression.
func pattern(name string) string {
	elements := strings.Split(name, "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return terminal.Quote(strings.Join(elements, "/"))
}

// problems returns the errors of a case, each in a line.
func problems(r result.Case) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Case.Place, r.Case.Name)
	if r.Err != nil {
		fmt.Fprintf(&b, "\n%v", r.Err)
	}
	for _, q := range r.Requests {
		for _, problem := range q.ProblemTexts() {
			fmt.Fprintf(&b, "\n%s: %s %s %s as %s: %s", q.Place, q.To, q.Method, q.Path, q.From.Name, problem)
		}
	}
	return b.String()
}
