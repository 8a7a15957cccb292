// Package matrix runs cases on several versions of Envoy: each cell of the matrix is a case on a version.
//
// [Suite] says which cases, which compiler and which versions. [Selection] says what the compiler claims, and so which cases
// count. [Shard] is the part of the cases that one machine runs. [Suite.Run] serves a program, [Run] a test.
//
// The package guarantees that every case of the chosen profiles is in the report: passed, failed, or skipped with the reason.
// A case never fails for a feature that the compiler does not claim. It is never left out for a feature that it claims.
package matrix

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Suite is cases, a compiler and versions of Envoy. The zero value runs the built-in cases
// with meshproof's own compiler on the default version.
type Suite struct {
	// Cases are the cases to choose from; nil for [cases.Stories].
	Cases []cases.Case
	// Compiler is what is under test; nil for [suite.Reference].
	Compiler suite.Compiler
	// Implementation describes the compiler. The zero value stands for meshproof's own. The
	// report of another compiler needs all its fields.
	Implementation report.Implementation
	// Read reads the policies of a case; nil to read them once for all versions.
	Read func(cases.Case) (*verdict.Reading, error)
	// AnyNames leaves the names of RBAC policies to the compiler, see [suite.Runner].
	AnyNames bool
	// Strict makes a case fail with a warning that it does not expect.
	Strict    bool
	Selection Selection
	Shard     Shard
	// Sets is the number of sets of policies that are drawn at random, with names that were
	// never used before, and that a foreign compiler is asked for beside the cases. 0 leaves
	// this out. A negative number leaves it out and the report says so. Seed draws the same
	// sets again. The first shard does this for all. Where sets are drawn, each shard asks for its
	// cases again.
	Sets int
	Seed uint64
	// Times balance the shards; nil for [Measured]. All shards of a run need the same times.
	Times Times
	// Versions of Envoy; none for the default version.
	Versions []string
	Runtime  harness.Runtime
	// ReportDir is the folder that [Run] writes the report into; empty for no report.
	ReportDir string
	// Undigested is true where nobody sees the SHA-256 of Envoy's binary. A run is then without it, and does not read the
	// whole binary. A pinned binary is compared with its pin all the same, when Envoy starts.
	Undigested bool
	// Log returns the writer for the log of one Envoy, or nil.
	Log func(version string) io.Writer
	// Again returns the command that repeats a case of a run; nil for none.
	Again func(c cases.Case, run report.Run) string
	// Explain returns the command that explains a request of a case; nil for none.
	Explain func(c cases.Case, q result.Request) string
	// Suite calls Started when an Envoy is up, and Done after each case, one call at a time.
	Started func(version string, cases int)
	Done    func(version string, r result.Case)
}

// memo reads policies of any kind where another compiler than meshproof's is tested.
func (s Suite) memo() *verdict.Memo { return &verdict.Memo{Foreign: s.foreign()} }

// foreign reports whether the compiler is not meshproof's own.
func (s Suite) foreign() bool { return s.Compiler != nil && s.Compiler != suite.Reference }

// VersionError is the failure of the Envoy of one version.
type VersionError struct {
	Version string
	Err     error
}

// Error is the text of the failure.
func (e *VersionError) Error() string { return e.Err.Error() }

// Unwrap returns the failure.
func (e *VersionError) Unwrap() error { return e.Err }

// StartError says that an Envoy could not be started.
type StartError struct{ VersionError }

// EndError says that an Envoy could not be ended. The results hold.
type EndError struct{ VersionError }

// DigestError says that the binary of an Envoy could not be read. The run then has no digest
// of its Envoy; all else in it holds.
type DigestError struct{ VersionError }

// Error names the version.
func (e *DigestError) Error() string {
	return fmt.Sprintf("conformance: the digest of Envoy %s: %v", e.Version, e.Err)
}

// Plan returns the cases of the selection that belong to the shard, in order. It fails on an
// unknown profile or feature, if the selection has no case, and if the report of another
// compiler lacks a field of its Implementation.
func (s Suite) Plan() ([]cases.Case, error) {
	covered, err := s.covered()
	if err != nil {
		return nil, err
	}
	times := s.Times
	if times == nil {
		times = Measured()
	}
	return s.Shard.Pick(covered, times.Cost), nil
}

// covered returns the cases of the selection, of all shards.
func (s Suite) covered() ([]cases.Case, error) {
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
		return nil, fmt.Errorf("conformance: none of the cases (%d) belongs to the profiles %v: list the features of a case under features", len(all), s.Selection.Claimed())
	}
	return covered, nil
}

// Run runs the cases on every version and returns the results in the order of the versions.
// Each version that runs has two cores. The next version starts while the last cases of one run.
// A failed case is a result, not an error. After a
// [*StartError] only its version is missing; a [*DigestError] or [*EndError] removes nothing.
func (s Suite) Run(ctx context.Context) ([]summary.Run, error) {
	plan, err := s.Plan()
	if err != nil {
		return nil, err
	}
	if s.Read == nil {
		s.Read = s.memo().Read
	}
	versions := s.versions()
	results := make([]*summary.Run, len(versions))
	errs := make([]error, len(versions))
	var calling sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	for i, version := range versions {
		free <- struct{}{}
		running.Go(func() {
			handOver := sync.OnceFunc(func() { <-free })
			defer handOver()
			results[i], errs[i] = s.runVersion(ctx, version, plan, &calling, handOver)
		})
	}
	running.Wait()
	var out []summary.Run
	for _, r := range results {
		if r != nil {
			out = append(out, *r)
		}
	}
	return out, errors.Join(errs...)
}

// Unstarted returns a run for each version whose Envoy could not be started, as the error of [Suite.Run] has them. It has one case, which failed: a reader of
// a report must not take the other versions for all.
func (s Suite) Unstarted(err error) (out []report.Run) {
	switch err := err.(type) {
	case *StartError:
		run := s.head(time.Now(), err.Version, s.Runtime)
		run.Add(report.Build(result.Case{Case: cases.Case{Name: "the start of Envoy"}, Err: err, Fault: true}))
		out = append(out, run)
	case interface{ Unwrap() []error }:
		for _, one := range err.Unwrap() {
			out = append(out, s.Unstarted(one)...)
		}
	}
	return out
}

// head is a run without cases: what ran, and when it began.
func (s Suite) head(began time.Time, version string, runtime harness.Runtime) report.Run {
	out := report.Run{
		Meshproof: Version(), Implementation: s.Implementation, Date: began.UTC().Truncate(time.Second), Envoy: version, Runtime: runtime.String(),
		Profiles: s.Selection.Claimed(), Unsupported: s.Selection.Unsupported(), AnyNames: s.AnyNames, Shard: s.Shard.String(), Cases: []report.Case{},
	}
	if !s.foreign() && s.Implementation.Project == "" {
		out.Implementation = Reference()
	}
	return out
}

func (s Suite) versions() []string {
	if len(s.Versions) == 0 {
		return []string{""}
	}
	return s.Versions
}

func (s Suite) runVersion(ctx context.Context, version string, plan []cases.Case, calling *sync.Mutex, handOver func()) (run *summary.Run, err error) {
	u, err := s.start(ctx, version)
	if err != nil {
		return nil, err
	}
	defer u.endWith(ctx)()
	defer func() {
		if end := u.Close(); end != nil {
			err = errors.Join(err, &EndError{VersionError{u.Version(), end}})
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
	if !s.foreign() {
		// Another compiler is asked for more behind the cases.
		u.runner.Begun = handOver
	}
	ran := map[string]result.Case{}
	wanted := slices.DeleteFunc(slices.Clone(plan), func(c cases.Case) bool {
		reason, _ := s.Selection.Skip(c)
		return reason != ""
	})
	for _, r := range u.runner.Run(ctx, wanted...) {
		ran[r.Case.Name] = r
	}
	u.askAgain(ctx, ran)
	return u.result(plan, ran, u.fresh(ctx))
}

// underway is a suite on a running Envoy.
type underway struct {
	*harness.Harness
	suite  Suite
	runner suite.Runner
	began  time.Time
	// digest returns the SHA-256 of Envoy's binary when it is read.
	digest func() (string, error)
}

// start boots Envoy. Its error is a [*StartError].
func (s Suite) start(ctx context.Context, version string) (*underway, error) {
	began := time.Now()
	if s.Read == nil {
		s.Read = s.memo().Read
	}
	opts := []harness.Option{harness.WithEnvoy(version), harness.WithRuntime(s.Runtime)}
	if s.Log != nil {
		if log := s.Log(version); log != nil {
			opts = append(opts, harness.WithLog(log))
		}
	}
	h, err := harness.Start(ctx, opts...)
	if err != nil {
		return nil, &StartError{VersionError{version, err}}
	}
	digest := func() (string, error) { return "", nil }
	if !s.Undigested {
		// The binary is read while the cases run.
		digest = sync.OnceValues(func() (string, error) { return h.Digest(context.WithoutCancel(ctx)) })
		go func() { _, _ = digest() }()
	}
	compiler := s.Compiler
	if foreign, ok := compiler.(*suite.Foreign); ok && s.Sets > 0 {
		compiler = foreign.Remembering()
	}
	runner := suite.Runner{Harness: h, Compiler: compiler, AnyNames: s.AnyNames, Strict: s.Strict, Read: s.Read}
	return &underway{Harness: h, suite: s, runner: runner, began: began, digest: digest}, nil
}

// endWith ends Envoy as soon as the context ends, until stop is called: a case that is being compiled does
// not look at the context.
func (u *underway) endWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = u.Close() })
}

// result returns the results of the plan, and behind them the result of the policies that were drawn
// for this run, if any. It returns them also with a [*DigestError].
func (u *underway) result(plan []cases.Case, ran map[string]result.Case, fresh *result.Case) (*summary.Run, error) {
	s := u.suite
	sum, err := u.digest()
	if err != nil {
		sum, err = "", &DigestError{VersionError{u.Version(), err}}
	}
	out := &summary.Run{Report: s.head(u.began, u.Version(), u.Runtime())}
	out.Report.EnvoySHA256, out.Report.Behavior = sum, u.Behavior().Answers()
	out.Report.Milliseconds = float64(time.Since(u.began).Microseconds()) / 1000
	add := func(r result.Case) {
		if s.Explain != nil {
			r.Explain(func(q result.Request) string { return s.Explain(r.Case, q) })
		}
		built := report.Build(r)
		if s.Again != nil {
			built.Again = s.Again(r.Case, out.Report)
		}
		out.Results = append(out.Results, r)
		out.Report.Add(built)
	}
	for _, c := range plan {
		r, ok := ran[c.Name]
		if !ok {
			reason, notApplicable := s.Selection.Skip(c)
			r = result.Case{Case: c, Skipped: cmp.Or(reason, "it was not asked for"), NotApplicable: notApplicable}
		}
		add(r)
	}
	if fresh != nil {
		add(*fresh)
	}
	covered, unread := s.covered()
	for _, r := range s.undrawn(covered) {
		add(r)
	}
	return out, errors.Join(err, unread)
}
