package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/harness/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/proof"
)

// mostCounterexamples is how many are written: they tend to have one cause.
const mostCounterexamples = 3

// writeCounterexamples shrinks what was not decided as specified, and writes it as case
// files.
func (o *proveOptions) writeCounterexamples(ctx context.Context, p *provenAll, runner suite.Runner) error {
	runner.Done = nil
	for _, one := range p.all {
		for _, q := range one.verdict.Disagreements {
			if len(p.counterexamples) == mostCounterexamples {
				return nil
			}
			n := len(p.counterexamples) + 1
			small := proof.Shrink(ctx, stillWrong(runner, q), one.result.Case, q.Request)
			// Cases of one folder need names of their own.
			small.Name = fmt.Sprintf("%d: %s", n, small.Name)
			if err := os.MkdirAll(o.counterexamples, 0o755); err != nil {
				return fmt.Errorf("--counterexamples: %w", err)
			}
			file := filepath.Join(o.counterexamples, fmt.Sprintf("%d.yaml", n))
			if err := os.WriteFile(file, small.YAML(), 0o644); err != nil {
				return fmt.Errorf("--counterexamples: %w", err)
			}
			p.counterexamples = append(p.counterexamples, file)
		}
	}
	return nil
}

// stillWrong tells whether a smaller case shows the same: a wrong decision where there
// was one, for a wrong name alone is another matter.
func stillWrong(runner suite.Runner, q suite.Request) func(context.Context, cases.Case) bool {
	return func(ctx context.Context, c cases.Case) bool {
		r := runner.Case(ctx, c)
		if r.Fault || len(r.Requests) == 0 {
			return false
		}
		return r.Failed() && (!decidedWrong(q) || decidedWrong(r.Requests[0]))
	}
}

func decidedWrong(q suite.Request) bool {
	return q.Judged && (q.Finding.Form == evidence.Served) != (q.Decision.Effect == policy.Allow)
}
