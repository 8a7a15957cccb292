package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/mutation"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
)

// mutateOptions are the flags of mutate.
type mutateOptions struct {
	envoy       envoyFlags
	filter      lab.Choice
	ownRequests bool
	output      outputFormat
	report      string
}

func newMutate() *cobra.Command {
	var o mutateOptions
	cmd := &cobra.Command{
		Use:   "mutate [PATH…]",
		Short: "Score cases by the mistakes that they would notice (without a path: the built-in cases)",
		Long: `Mutate makes one mistake at a time in what the policies of a case compile to: a deny behind an allow,
an exact match turned prefix, a rule lost, and more. It runs the case with each mistake on a real Envoy. A
mistake is killed if the case fails, and it survives if the case passes. Mistakes that change no decision
are left out.

A case is run with its own requests and with those of its proof, see meshproof prove. Both scores are
printed: the score of all requests, and the score of the requests that the cases state. With --own-requests a case is
run with its own requests only. Exit status 1 if a mistake survived.`,
		Example: `  meshproof mutate cases/kuma/mesh-operator-2.yaml
  meshproof mutate my-cases --own-requests`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.envoy.add(cmd)
	flags.Var(&o.filter, "case", "only the cases whose name or story matches this regular expression")
	flags.BoolVar(&o.ownRequests, "own-requests", false, "score the requests that the cases state, without those of their proofs")
	flags.StringVar(&o.report, "report", "", "write a report with the score into this folder")
	addOutput(cmd, &o.output)
	return cmd
}

func (o mutateOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	var memo verdict.Memo
	chosen, err := matrix.Choice{Choice: o.filter, Read: memo.Read}.Load(paths...)
	if err != nil {
		return err
	}
	if err := prepareReport(o.report); err != nil {
		return err
	}
	began := time.Now()
	progress := terminal.NewProgress(stderr, len(chosen))
	defer progress.Stop()
	h, err := o.envoy.start(progress.Count(ctx))
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, newEndError(h.Close())) }()
	tester := mutation.Tester{Runner: suite.Runner{Harness: h, Read: memo.Read}, OwnRequests: o.ownRequests}
	scores, err := tester.Cases(progress.Count(ctx), chosen, func(c cases.Case) { progress.End(c.Name, false) })
	progress.Stop()
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err != nil:
		return machineError(err)
	}
	err = printResult(stdout, o.output, scores)
	if err == nil && o.report != "" {
		run := beginReport(ctx, h, began)
		counts := scores.Counts()
		run.MutationScore = &counts
		for _, r := range scores.Baselines() {
			run.Add(reportCase(r, r.Case.Story, "", run))
		}
		addAsWhole(&run, "the score", scores.Lacks())
		err = writeReport(o.report, run, began)
	}
	return withFailure(exitFor(false, !scores.Holds()), err)
}
