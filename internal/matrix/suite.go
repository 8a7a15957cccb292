package matrix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Suite is cases, a compiler, and the versions of Envoy to hold it to. The zero
// value is the built-in cases under meshproof's own compiler on the default version.
type Suite struct {
	// Cases are the cases to choose from; nil for [cases.Stories].
	Cases []cases.Case
	// Compiler is what is under test; nil for [suite.Reference].
	Compiler suite.Compiler
	// Implementation says whose compiler it is; the zero value is meshproof's own for
	// meshproof's own, and nobody's for any other, of which no report is written then.
	Implementation report.Implementation
	// Read reads the policies of a case; nil to read them once for all versions.
	Read func(cases.Case) (*verdict.Reading, error)
	// AnyNames leaves the names of RBAC policies to the compiler, see [suite.Runner];
	// the report says so.
	AnyNames  bool
	Selection Selection
	Shard     Shard
	// Times are what shards are balanced by; nil for [Measured]. All shards of a run
	// need the same.
	Times Times
	// Versions are those of Envoy; none for the default one.
	Versions []string
	Runtime  harness.Runtime
	// ReportDir is the folder that [Run] writes the report into; empty for no report.
	ReportDir string
	// Log returns where the log of one Envoy goes, nil for nowhere.
	Log func(version string) io.Writer
	// Again returns the command that repeats a case of a run; nil for none.
	Again func(c cases.Case, run report.Run) string
	// Started and Done are called when an Envoy is up, and after each case, one at a
	// time.
	Started func(version string, cases int)
	Done    func(version string, r result.Case)
}

// Result is what became of the cases on one version.
type Result struct {
	Report  report.Run
	Results []result.Case
}

// foreign reports whether the compiler is not meshproof's own.
func (s Suite) foreign() bool { return s.Compiler != nil && s.Compiler != suite.Reference }

// StartError says that no Envoy of a version could be started.
type StartError struct {
	Version string
	Err     error
}

// Error names the version.
func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the start.
func (e *StartError) Unwrap() error { return e.Err }

// EndError says that an Envoy could not be ended; the results hold.
type EndError struct {
	Version string
	Err     error
}

// Error names what is left.
func (e *EndError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the end.
func (e *EndError) Unwrap() error { return e.Err }

// DigestError says that the binary of an Envoy could not be read, so that its run does
// not say which Envoy it is about; all else in the run holds.
type DigestError struct {
	Version string
	Err     error
}

// Error names the version.
func (e *DigestError) Error() string {
	return fmt.Sprintf("conformance: the digest of Envoy %s: %v", e.Version, e.Err)
}

// Unwrap returns why it could not be read.
func (e *DigestError) Unwrap() error { return e.Err }

// Plan returns the cases that this suite takes: those of its selection that are its
// shard's, in order. It fails on a profile or a feature that is unknown, in the
// selection or in a case, where no case is left of all shards together, and where a
// report is to be written of a compiler that nobody answers for: one that is not
// meshproof's own needs all fields of its Implementation.
func (s Suite) Plan() ([]cases.Case, error) {
	if err := s.Selection.check(); err != nil {
		return nil, err
	}
	if missing := s.Implementation.Missing(); s.ReportDir != "" && s.foreign() && len(missing) > 0 {
		return nil, fmt.Errorf("conformance: a report says whose compiler it is about: Implementation has no %s", strings.Join(missing, ", no "))
	}
	all := s.Cases
	if all == nil {
		var err error
		if all, err = cases.Stories(); err != nil {
			return nil, err
		}
	}
	var covered []cases.Case
	for _, c := range all {
		if err := checkFeatures(c.Features); err != nil {
			return nil, fmt.Errorf("conformance: %s: case %q: %w", c.Place, c.Name, err)
		}
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
// fails is a result, not an error. A [*StartError] leaves out its version and no other;
// a [*DigestError] and an [*EndError] leave out nothing.
func (s Suite) Run(ctx context.Context) ([]Result, error) {
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	if s.Read == nil {
		s.Read = new(verdict.Memo).Read
	}
	versions := s.versions()
	results := make([]*Result, len(versions))
	errs := make([]error, len(versions))
	var calling sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
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
func (s Suite) on(ctx context.Context, version string, plan []cases.Case, calling *sync.Mutex) (of *Result, err error) {
	u, err := s.start(ctx, version)
	if err != nil {
		return nil, err
	}
	defer func() {
		if end := u.Close(); end != nil {
			err = errors.Join(err, &EndError{Version: u.Version(), Err: end})
		}
	}()
	call := func(f func()) {
		calling.Lock()
		defer calling.Unlock()
		f()
	}
	if s.Started != nil {
		call(func() { s.Started(u.Version(), len(plan)) })
	}
	if s.Done != nil {
		u.runner.Done = func(r result.Case) { call(func() { s.Done(u.Version(), r) }) }
	}
	ran := map[string]result.Case{}
	for _, r := range u.runner.Run(ctx, s.wanted(plan)...) {
		ran[r.Case.Name] = r
	}
	return u.result(plan, ran)
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

// underway is a suite on one Envoy that is up.
type underway struct {
	*harness.Harness
	suite  Suite
	runner suite.Runner
	began  time.Time
	// digest yields the hash of Envoy's binary once.
	digest <-chan digest
}

// digest is the hash of a binary, or why it could not be read.
type digest struct {
	sum string
	err error
}

// start boots Envoy; its error is a [*StartError].
func (s Suite) start(ctx context.Context, version string) (*underway, error) {
	began := time.Now()
	opts := []harness.Option{harness.WithEnvoy(version), harness.WithRuntime(s.Runtime)}
	if s.Log != nil {
		if log := s.Log(version); log != nil {
			opts = append(opts, harness.WithLog(log))
		}
	}
	h, err := harness.Start(ctx, opts...)
	if err != nil {
		return nil, &StartError{Version: version, Err: err}
	}
	// The binary is read while the cases run.
	read := make(chan digest, 1)
	go func() {
		sum, err := h.Digest(context.WithoutCancel(ctx))
		read <- digest{sum, err}
	}()
	runner := suite.Runner{Harness: h, Compiler: s.Compiler, AnyNames: s.AnyNames, Read: s.Read}
	return &underway{Harness: h, suite: s, runner: runner, began: began, digest: read}, nil
}

// result gathers what became of each case of the plan. It is there with a [*DigestError]
// too.
func (u *underway) result(plan []cases.Case, ran map[string]result.Case) (*Result, error) {
	s := u.suite
	binary := <-u.digest
	if binary.err != nil {
		binary = digest{err: &DigestError{Version: u.Version(), Err: binary.err}}
	}
	out := &Result{Report: report.Run{
		Meshproof: Version(), Implementation: s.Implementation, Date: u.began.UTC().Truncate(time.Second),
		Envoy: u.Version(), EnvoySHA256: binary.sum, Runtime: u.Runtime().String(),
		Profiles: s.Selection.Claimed(), Unsupported: s.Selection.Unsupported(), AnyNames: s.AnyNames, Shard: s.Shard.String(),
		Cases: []report.Case{}, Milliseconds: float64(time.Since(u.began).Microseconds()) / 1000,
	}}
	if !s.foreign() && s.Implementation.Project == "" {
		out.Report.Implementation = Reference()
	}
	for _, c := range plan {
		r, ok := ran[c.Name]
		if !ok {
			reason, notApplicable := s.Selection.Skip(c)
			r = result.Case{Case: c, Skipped: cmp.Or(reason, "it was not asked for"), NotApplicable: notApplicable}
		}
		built := report.Build(r)
		if s.Again != nil {
			built.Again = s.Again(c, out.Report)
		}
		out.Results = append(out.Results, r)
		out.Report.Add(built)
	}
	return out, binary.err
}
