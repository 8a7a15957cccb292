package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/compilation"
	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podlint"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
)

// proveOptions are the flags of prove.
type proveOptions struct {
	source          sourceOptions
	compiler        compilerFlags
	envoy           envoyFlags
	output          outputFormat
	report          string
	counterexamples string
	anyNames        bool
	adversary       bool
}

func newProve() *cobra.Command {
	var o proveOptions
	cmd := &cobra.Command{
		Use:   "prove PATH…",
		Short: "Ask a real Envoy about every class of requests that the policies tell apart",
		Long: `Prove cuts the requests to each inbound into classes that the policies decide alike, sends one of each
class and those on its border through a real Envoy, and holds every decision against the policies.

PATH is a file or folder with policies and the Dataplanes that they are about. Without a Dataplane, the
flags describe an inbound. A policy that selects none of these inbounds is asked on an inbound that is made
for it, and on one for each policy that can select a workload beside it; the output says which. Or PATH is
a file or folder with cases: their inbounds and policies are proven, and their own requests are asked too.

Of routes, timeouts and services each class of requests of each workload is sent through its sidecar, for its
route and its backend. If Envoy does not decide as specified, a case file has the smallest policies that show it.`,
		Example: `  meshproof prove policies/ --label app=backend --protocol http
  meshproof prove cases/kuma/mesh-operator-4.yaml
  meshproof prove policies/ --report proof --output json`,
		Args: needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.source.routing = true
	o.source.add(cmd)
	flags := cmd.Flags()
	o.compiler.add(cmd)
	o.envoy.add(cmd)
	flags.StringVar(&o.report, "report", "", "write results, conformance report, page, JUnit and summary into this folder")
	flags.BoolVar(&o.anyNames, "any-names", false, "do not compare the names of the policies that decide")
	flags.BoolVar(&o.adversary, "adversary", false, "send the requests of an attacker too, with certificates that look like those of allowed callers")
	flags.StringVar(&o.counterexamples, "counterexamples", "counterexamples", "folder for the case files of counterexamples; made only if there is one")
	addOutput(cmd, &o.output)
	return cmd
}

func (o *proveOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	files, s, err := o.source.open(paths)
	if err != nil {
		return err
	}
	subjects, population, err := o.source.casesOf(files, s)
	if err != nil {
		return err
	}
	if err := prepareReport(o.report); err != nil {
		return err
	}
	proofs, refused := proof.PlanAll(subjects, o.adversary, func(c lab.Case) func(cases.Case, cases.Request, bool) string {
		return o.source.explainer(paths, c).Line
	})
	routed, senders, err := routeproof.Plan(files, s, o.source.only)
	if err := errors.Join(refused, err, counterexample.CheckFolder(o.counterexamples)); err != nil {
		return err
	}
	compiler, implementation, stop, err := o.compiler.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, newEndError(stop())) }()
	began := time.Now()
	readings := proof.Readings(proofs)
	progress := terminal.NewProgress(stderr, len(readings)+len(routed))
	defer progress.Stop()
	h, err := o.envoy.start(progress.Count(ctx))
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, newEndError(h.Close())) }()
	runner := suite.Runner{Harness: h, Compiler: compiler, AnyNames: o.anyNames, Kept: true, Done: func(r result.Case) { progress.End(r.Case.Name, r.Failed()) }}
	results := runner.Readings(progress.Count(ctx), readings...)
	sent := runner.Run(progress.Count(ctx), routeproof.Cases(routed)...)
	if err := errors.Join(context.Cause(ctx), machineError(suite.Outage(append(sent, results...)))); err != nil {
		return err
	}
	proven := &proof.Report{Envoy: h.Version(), Runtime: h.Runtime().String(), Strict: o.source.strict, Truncated: population.Truncated, Made: population.Callers.Texts(), Unasked: population.NotAsked(), Warnings: population.Warnings, Assumed: population.Assumed, LeftOut: population.LeftOut}
	for _, w := range podlint.Warn(files, s) {
		proven.Warnings = append(proven.Warnings, w.String())
	}
	proven.AddAll(proofs, results)
	proven.Routes = routeproof.NewReport(h.Version(), o.source.strict, routed, senders, sent)
	stories, err := cases.Stories()
	if err != nil {
		return err
	}
	known := proof.CheckKnownAnswers(stories, h.Version(), h.Behavior())
	proven.Known = &known
	runner.Done = nil
	if proven.Counterexamples, err = o.finder(runner, progress).Find(ctx, proven.Suspects()); err != nil {
		err = fmt.Errorf("--counterexamples: %w", err)
	}
	for _, c := range proven.Counterexamples {
		command := explanation.NewCommand(summary.Arguments(c.Case, false)...)
		c.Result.Explain(func(q result.Request) string { return command.Line(c.Case, q.Request, true) })
	}
	progress.Stop()
	printNotes(stderr, shortened(dialects.Drafts(files.All())))
	err = errors.Join(err, printResult(stdout, o.output, proven))
	if o.report != "" {
		err = errors.Join(err, o.writeReport(ctx, h, began, implementation, proven, paths))
	}
	return withFailure(exitFor(proven.Fault(), !proven.Holds()), err)
}

// finder looks for counterexamples with the runner of the proof.
func (o *proveOptions) finder(runner suite.Runner, progress *terminal.Progress) counterexample.Finder {
	return counterexample.Finder{
		Folder:  o.counterexamples,
		Run:     runner.Reading,
		Filters: func(ctx context.Context, c cases.Case) string { return compilation.Filters(ctx, runner.Compiler, c) },
		Again: func(file string) string {
			words := append([]string{"meshproof", "run", terminal.Quote(file)}, o.compiler.arguments()...)
			if o.anyNames {
				words = append(words, "--any-names")
			}
			return strings.Join(append(words, "--envoy", runner.Harness.Version(), "--runtime", runner.Harness.Runtime().String()), " ")
		},
		Looking: func() { progress.Show("looking for the smallest case that shows it") },
	}
}

// writeReport writes a report with each proof as a case. What is about no case is shown again by all that was read.
func (o *proveOptions) writeReport(ctx context.Context, h *harness.Harness, began time.Time, implementation report.Implementation, proven *proof.Report, paths []string) error {
	run := beginReport(ctx, h, began)
	run.Implementation = implementation
	proven.AddTo(&run, func(r result.Case) report.Case {
		if file := summary.File(r.Case); file != "" {
			return reportCase(r, "proof", "meshproof prove "+terminal.Quote(file), run)
		}
		words := slices.Concat([]string{"meshproof", "prove"}, paths, o.source.words())
		if o.source.strict {
			words = append(words, "--strict")
		}
		for i, word := range words {
			words[i] = terminal.Quote(word)
		}
		return reportCase(r, "proof", strings.Join(words, " "), run)
	})
	return writeReport(o.report, run, began)
}
