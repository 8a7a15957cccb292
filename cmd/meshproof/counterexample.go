package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/suite"
	"github.com/meshproof/meshproof/proof"
)

// mostCounterexamples is how many are written: they tend to have one cause.
const mostCounterexamples = 3

// writeCounterexamples shrinks what was not decided as specified, and writes it as case
// files.
func (o *proveOptions) writeCounterexamples(ctx context.Context, p *provenAll, runner suite.Runner) error {
	runner.Done = nil
	still := func(ctx context.Context, c cases.Case) bool {
		r := runner.Case(ctx, c)
		return !r.Fault && len(r.Requests) > 0 && r.Failed()
	}
	for _, one := range p.all {
		for _, q := range one.verdict.Disagreements {
			if len(p.counterexamples) == mostCounterexamples {
				return nil
			}
			small := proof.Shrink(ctx, still, one.result.Case, q.Request)
			if err := os.MkdirAll(o.counterexamples, 0o755); err != nil {
				return fmt.Errorf("--counterexamples: %w", err)
			}
			file := filepath.Join(o.counterexamples, fmt.Sprintf("%d.yaml", len(p.counterexamples)+1))
			if err := os.WriteFile(file, small.YAML(), 0o644); err != nil {
				return fmt.Errorf("--counterexamples: %w", err)
			}
			p.counterexamples = append(p.counterexamples, file)
		}
	}
	return nil
}
