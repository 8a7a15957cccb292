package matrix

import (
	"cmp"
	"context"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
)

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
