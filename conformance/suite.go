package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance/report"
	"github.com/meshproof/meshproof/harness/envoy"
	"github.com/meshproof/meshproof/harness/suite"
)

// Suite is cases, a compiler, and the versions of Envoy to hold it to. The zero
// value is the built-in cases under meshproof's own compiler on the default version.
type Suite struct {
	// Cases are the cases to choose from; nil for [cases.Stories].
	Cases []cases.Case
	// Compiler is what is under test; nil for [suite.Reference].
	Compiler suite.Compiler
	// Implementation says whose compiler it is; the zero value is meshproof's own.
	Implementation report.Implementation
	Selection      Selection
	Shard          Shard
	// Times are what shards are balanced by; nil for [Measured]. All shards of a run
	// need the same.
	Times Times
	// Versions are those of Envoy; none for the default one.
	Versions []string
	Runtime  envoy.Runtime
	// ReportDir is the folder that [Run] writes the report into; empty for no report.
	ReportDir string
	// Log returns where the log of one Envoy goes, nil for nowhere.
	Log func(version string) io.Writer
	// Again returns the command that repeats a case of a run; nil for none.
	Again func(c cases.Case, run report.Run) string
	// Started and Done are called when an Envoy is up, and after each case, one at a
	// time.
	Started func(version string, cases int)
	Done    func(version string, r suite.Result)
}

// Result is what became of the cases on one version.
type Result struct {
	Report  report.Run
	Results []suite.Result
}

// StartError says that no Envoy of a version could be started.
type StartError struct {
	Version string
	Err     error
}

// Error names the version.
func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the start.
func (e *StartError) Unwrap() error { return e.Err }

// Plan returns the cases that this suite takes: those of its selection that are its
// shard's, in order.
func (s Suite) Plan() ([]cases.Case, error) {
	all := s.Cases
	if all == nil {
		var err error
		if all, err = cases.Stories(); err != nil {
			return nil, err
		}
	}
	var covered []cases.Case
	for _, c := range all {
		if s.Selection.Covers(c) {
			covered = append(covered, c)
		}
	}
	if len(covered) == 0 {
		return nil, fmt.Errorf("conformance: of %d cases none belongs to the profiles %v: a case names its features", len(all), s.Selection.Claimed())
	}
	times := s.Times
	if times == nil {
		times = Measured()
	}
	return s.Shard.Pick(covered, times.Cost), nil
}

// Run runs the cases on every version, as many versions at once as there are two
// cores for each, and returns the results in the order of the versions. A case that
// fails is a result, not an error; an error, which may be a [*StartError], leaves out
// its version and no other.
func (s Suite) Run(ctx context.Context) ([]Result, error) {
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	versions := s.versions()
	results := make([]*Result, len(versions))
	errs := make([]error, len(versions))
	var calling sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, max(1, runtime.NumCPU()/2))
	for i, version := range versions {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			results[i], errs[i] = s.on(ctx, version, plan, &calling)
		})
	}
	running.Wait()
	var out []Result
	for _, r := range results {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out, errors.Join(errs...)
}

func (s Suite) versions() []string {
	if len(s.Versions) == 0 {
		return []string{""}
	}
	return s.Versions
}

// on runs the cases on one version.
func (s Suite) on(ctx context.Context, version string, plan []cases.Case, calling *sync.Mutex) (result *Result, err error) {
	u, err := s.start(ctx, version)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, u.Close()) }()
	call := func(f func()) {
		calling.Lock()
		defer calling.Unlock()
		f()
	}
	if s.Started != nil {
		call(func() { s.Started(u.Version(), len(plan)) })
	}
	if s.Done != nil {
		u.runner.Done = func(r suite.Result) { call(func() { s.Done(u.Version(), r) }) }
	}
	ran := map[string]suite.Result{}
	for _, r := range u.runner.Run(ctx, s.wanted(plan)...) {
		ran[r.Case.Name] = r
	}
	return u.result(plan, ran), nil
}

// wanted returns the cases that are not skipped.
func (s Suite) wanted(plan []cases.Case) []cases.Case {
	var out []cases.Case
	for _, c := range plan {
		if reason, _ := s.Selection.Skip(c); reason == "" {
			out = append(out, c)
		}
	}
	return out
}
