package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/conformance"
	"github.com/meshproof/meshproof/conformance/report"
	"github.com/meshproof/meshproof/harness/envoy"
)

// runOptions are the flags of run.
type runOptions struct {
	versions []string
	runtime  envoy.Runtime
	output   outputFormat
	filter   caseFilter
	envoyLog string
	report   string
	claims   claims
	shard    conformance.Shard
	times    string
}

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [PATH…]",
		Short: "Run case files on a real Envoy (without a path: the built-in user stories)",
		Long: `Run boots Envoy, brings up the inbounds of each case, fires its requests as their callers,
and holds answers, upstream, access log and counters against the policies and the case.

A PATH is a case file, or a folder with case files. With several versions of Envoy it runs
the same cases on each, and prints where they differ.`,
		Example: `  meshproof run
  meshproof run cases/kuma/path.yaml --envoy 1.39.3 --runtime process
  meshproof run --case 'observability.*metrics' --output json
  meshproof run --envoy all --report matrix
  meshproof run --profile GEP-3779 --shard 1/2 --report shard-1`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.versions, "envoy", nil, "versions of Envoy, separated by commas, see meshproof envoy list, or all of those (default "+envoy.DefaultVersion+", or that of ENVOY_BIN or ENVOY_IMAGE)")
	flags.Var(textFlag{&o.runtime, "auto|container|process"}, "runtime", "how to run Envoy")
	flags.Var(&o.filter, "case", "run only the cases whose name or story matches this regular expression")
	o.claims.add(cmd)
	flags.Var(textFlag{&o.shard, "I/N"}, "shard", "run only part I of N, from 1; job/N takes I from JOB_COMPLETION_INDEX of a Kubernetes Job")
	flags.StringVar(&o.times, "times", "", "balance the shards by the times in this file, see meshproof report times (default: those measured for the built-in cases)")
	flags.StringVar(&o.report, "report", "", "write results, conformance report, page, JUnit and summary into this folder")
	flags.StringVar(&o.envoyLog, "envoy-log", "", "write Envoy's own log to this file; of several versions, to one each, with the version behind the name")
	addOutput(cmd, &o.output)
	completeValues(cmd, "runtime")
	completeFunc(cmd, "envoy", completeVersions)
	return cmd
}

func (o runOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	s, err := o.suite(paths)
	if err != nil {
		return err
	}
	logs := envoyLogs{path: o.envoyLog, several: len(s.Versions) > 1}
	defer func() { err = also(err, logs.close()) }()
	if err := logs.open(s.Versions); err != nil {
		return err
	}
	s.Log = logs.of
	plan, err := s.Plan()
	if err != nil {
		return err
	}
	progress := newProgress(stderr, len(plan)*max(1, len(s.Versions)))
	defer progress.stop()
	s.Done = progress.done
	results, runErr := s.Run(ctx)
	progress.stop()
	if err := context.Cause(ctx); err != nil {
		return errors.Join(err, notEnded(runErr))
	}
	if o.output == outputJSON {
		err = writeRuns(stdout, results)
	} else {
		writeResults(stdout, paintFor(stdout), results)
	}
	if o.report != "" && len(results) > 0 {
		err = errors.Join(err, report.Write(o.report, runs(results)))
	}
	return started(also(exitOf(results), err), runErr)
}

// started adds why a version could not be run, or not be ended, to what the others
// end with.
func started(err, runErr error) error {
	switch start := (*conformance.StartError)(nil); {
	case runErr == nil:
		return err
	case !errors.As(runErr, &start):
		return also(err, closed(runErr))
	case err == nil:
		return startError(runErr)
	default:
		return also(err, runErr)
	}
}

// runs are the reports of the results.
func runs(results []conformance.Result) []report.Run {
	out := make([]report.Run, len(results))
	for i, r := range results {
		out[i] = r.Report
	}
	return out
}

// writeRuns prints a JSON object for each run.
func writeRuns(w io.Writer, results []conformance.Result) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	var errs []error
	for _, r := range results {
		errs = append(errs, encoder.Encode(r.Report))
	}
	return errors.Join(errs...)
}

// startError tells a version that nobody knows, which is bad input, from a machine
// that cannot run Envoy.
func startError(err error) error {
	if errors.Is(err, envoy.ErrUnknownVersion) {
		return err
	}
	return machine(err)
}

// notEnded returns the error of what could not be ended, nil for any other.
func notEnded(err error) error {
	if start := (*conformance.StartError)(nil); errors.As(err, &start) {
		return nil
	}
	return closed(err)
}

// exitOf returns the error that stands for the exit status of all results; what went
// wrong has been printed by then.
func exitOf(results []conformance.Result) error {
	var s summary
	for _, r := range results {
		for _, c := range r.Results {
			s.add(c)
		}
	}
	return s.exit()
}

// again returns the command that repeats one case.
func again(builtIn bool) func(cases.Case, report.Run) string {
	return func(c cases.Case, run report.Run) string { return againCommand(c, run.Envoy, run.Runtime, builtIn) }
}

var errNoVersion = fmt.Errorf("--envoy: name a version such as %s, or all", envoy.DefaultVersion)
