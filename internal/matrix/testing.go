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
		err = folder.Prepare(s.ReportDir)
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
			subtests := newSubtests(t.Context(), u)
			if s.Again == nil {
				u.suite.Again = subtests.again
			}
			// A cleanup runs after the subtests, which run in parallel.
			t.Cleanup(func() {
				result, err := u.result(plan, subtests.wait())
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
	// A version that could not be started has been told.
	if s.ReportDir == "" || len(runs) == 0 {
		return
	}
	if err := folder.Write(s.ReportDir, runs); err != nil {
		t.Error(err)
	}
}

// subtests are the cases of one version as subtests. The first of them that go test
// lets run hands all of them to the runner, which runs as many at once as it always
// does, whatever -parallel says: a case mostly waits for Envoy.
type subtests struct {
	ctx      context.Context
	underway *underway
	// names has the name of the subtest of each case that -run selects.
	names map[string]string
	// cases are those that -run and the suite select, in order.
	cases []cases.Case
	start sync.Once
	// results has one value for each of the cases, when the case is over.
	results map[string]chan result.Case
	ended   chan struct{}
	// ran may be read when ended is closed.
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
	// Without any case to run there is nothing to wait for.
	s.start.Do(func() { close(s.ended) })
	<-s.ended
	return s.ran
}

// again is the command that repeats a case, "" for one that -run left out.
func (s *subtests) again(c cases.Case, _ report.Run) string {
	if s.names[c.Name] == "" {
		return ""
	}
	return "go test -run " + pattern(s.names[c.Name])
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
