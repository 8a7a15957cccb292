package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/differential"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
)

// fuzzOptions are the flags of fuzz.
type fuzzOptions struct {
	envoy    envoyFlags
	time     time.Duration
	sets     int
	seed     uint64
	forms    []string
	compiler compilerFlags
	anyNames bool
	export   string
}

// fuzzTime is how long fuzz takes where no flag says so.
const fuzzTime = time.Minute

func newFuzz() *cobra.Command {
	var o fuzzOptions
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Draw random sets of policies and hold a real Envoy against two opinions in Go",
		Long: `Fuzz draws sets of policies as users write them: several at once that select, overlap and hide each other.
It runs many sets in one push on a real Envoy, asks each inbound for some of its request classes and their
neighbours, and holds decision, deciding policy, shadow and counters against the decision program and against
the plain evaluator of the dialect.

A set that is not decided as specified is run again alone. It is shrunk to the smallest case that still shows
the difference, which is written as a case file. The same seed draws the same sets, so the seed is printed.
Another compiler is asked for each set several times. Exit status 1 if a set is not decided as specified.`,
		Example: `  meshproof fuzz --for 5m
  meshproof fuzz --seed 42 --sets 1000 --envoy 1.39.3
  meshproof fuzz --compiler './mesh-compiler --stdio' --any-names --forms option1`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	o.envoy.add(cmd)
	flags.DurationVar(&o.time, "for", fuzzTime, "how long to draw and ask")
	flags.IntVar(&o.sets, "sets", 0, "how many sets to draw, however long it takes (default: as --for says)")
	flags.Uint64Var(&o.seed, "seed", 0, "the same `number` draws the same sets (default: a random seed)")
	flags.StringSliceVar(&o.forms, "forms", nil, "draw policies of these `forms` alone, of "+strings.ReplaceAll(policyset.FormNames, "|", ", "))
	o.compiler.addCommand(cmd)
	flags.BoolVar(&o.anyNames, "any-names", false, "do not compare the names of the policies that decide")
	flags.StringVar(&o.export, "export", "counterexamples", "folder for the case files of counterexamples; made only if there is one")
	cmd.MarkFlagsMutuallyExclusive("for", "sets")
	completeWords(cmd, "forms", strings.Split(policyset.FormNames, "|"))
	return cmd
}

// check refuses flags that would draw nothing, and chooses a seed where none is given.
func (o *fuzzOptions) check(cmd *cobra.Command) error {
	flags := cmd.Flags()
	switch {
	case o.time <= 0:
		return fmt.Errorf("--for: %s is too short: use a duration above 0, such as 5m", o.time)
	case flags.Changed("sets") && o.sets < 1:
		return fmt.Errorf("--sets: %d is too few: use 1 or more", o.sets)
	case flags.Changed("sets"):
		o.time = 0
	}
	if _, err := o.parseForms(); err != nil {
		return err
	}
	if !flags.Changed("seed") {
		o.seed = policyset.NewSeed()
	}
	return o.compiler.check()
}

// parseForms returns the forms to draw, none for all.
func (o *fuzzOptions) parseForms() ([]policyset.Form, error) {
	out := make([]policyset.Form, len(o.forms))
	for i, word := range o.forms {
		if err := out[i].UnmarshalText([]byte(word)); err != nil {
			return nil, fmt.Errorf("--forms: %w", err)
		}
	}
	return out, nil
}

func (o *fuzzOptions) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	forms, err := o.parseForms()
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(stderr, 0)
	defer progress.Stop()
	h, err := o.envoy.start(progress.Count(ctx))
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, newEndError(h.Close())) }()
	compiler, _, end, err := o.compiler.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, newEndError(end())) }()
	progress.Clear()
	// The seed is printed first, so that it is known even after a failure.
	fmt.Fprintf(stdout, "seed %d on Envoy %s (%s)\n", o.seed, h.Version(), h.Runtime())
	fuzzer := differential.Fuzzer{
		Runner: suite.Runner{Harness: h, Compiler: compiler, AnyNames: o.anyNames}, Seed: o.seed, Forms: forms,
		Done: func(t differential.Tally) { progress.Show(t.String()) },
	}
	report, err := fuzzer.Run(progress.Count(ctx), differential.Limit{Sets: o.sets, Time: o.time})
	progress.Stop()
	if err != nil {
		fmt.Fprintln(stdout, report.Tally)
		if context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		return machineError(err)
	}
	if err = report.Export(o.export, func(set uint64) string { return o.againCommand(report.Seed, set) }); err != nil {
		err = fmt.Errorf("--export: %w", err)
	}
	report.WriteText(stdout, terminal.PaintFor(stdout))
	return withFailure(exitFor(false, !report.Holds()), err)
}

// againCommand is the command that draws the set again.
func (o *fuzzOptions) againCommand(seed, set uint64) string {
	words := []string{"meshproof fuzz", "--seed", fmt.Sprint(seed), "--sets", fmt.Sprint(set + 1)}
	if len(o.forms) > 0 {
		words = append(words, "--forms", strings.Join(o.forms, ","))
	}
	words = append(words, o.compiler.arguments()...)
	if o.anyNames {
		words = append(words, "--any-names")
	}
	if o.envoy.version != "" {
		words = append(words, "--envoy", o.envoy.version)
	}
	return strings.Join(words, " ")
}
