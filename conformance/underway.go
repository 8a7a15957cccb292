package conformance

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance/report"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/suite"
)

// underway is a suite on one Envoy that is up.
type underway struct {
	*harness.Harness
	suite  Suite
	runner suite.Runner
	began  time.Time
	// digest yields the hash of Envoy's binary once; "" where it cannot be read.
	digest <-chan string
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
	digest := make(chan string, 1)
	go func() {
		sum, err := h.Digest(context.WithoutCancel(ctx))
		if err != nil {
			sum = ""
		}
		digest <- sum
	}()
	return &underway{Harness: h, suite: s, runner: suite.Runner{Harness: h, Compiler: s.Compiler}, began: began, digest: digest}, nil
}

// result gathers what became of each case of the plan.
func (u *underway) result(plan []cases.Case, ran map[string]suite.Result) *Result {
	s := u.suite
	out := &Result{Report: report.Run{
		Meshproof: Version(), Implementation: s.Implementation, Date: u.began.UTC().Truncate(time.Second),
		Envoy: u.Version(), EnvoySHA256: <-u.digest, Runtime: u.Runtime().String(),
		Profiles: slices.Clone(s.Selection.Claimed()), Unsupported: s.Selection.Unsupported(), Shard: s.Shard.String(),
		Cases: []report.Case{}, Milliseconds: float64(time.Since(u.began).Microseconds()) / 1000,
	}}
	if s.Implementation.Project == "" {
		out.Report.Implementation = Reference()
	}
	for _, c := range plan {
		r, ok := ran[c.Name]
		if !ok {
			reason, notApplicable := s.Selection.Skip(c)
			r = suite.Result{Case: c, Skipped: cmp.Or(reason, "it was not asked for"), NotApplicable: notApplicable}
		}
		built := report.Build(r)
		if s.Again != nil {
			built.Again = s.Again(c, out.Report)
		}
		out.Results = append(out.Results, r)
		out.Report.Add(built)
	}
	return out
}
