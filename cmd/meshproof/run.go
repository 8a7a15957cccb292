package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/envoy"
	"github.com/meshproof/meshproof/harness/suite"
	"github.com/meshproof/meshproof/policy/dialect"
)

// runOptions are the flags of run.
type runOptions struct {
	version  string
	runtime  envoy.Runtime
	output   outputFormat
	filter   caseFilter
	envoyLog string
}

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [PATH…]",
		Short: "Run case files on a real Envoy (without a path: the built-in user stories)",
		Long: `Run boots Envoy, brings up the inbounds of each case, fires its requests as their callers,
and holds answers, upstream, access log and counters against the policies and the case.

A PATH is a case file, or a folder with case files.`,
		Example: `  meshproof run
  meshproof run cases/kuma/path.yaml --envoy 1.39.3 --runtime process
  meshproof run --case 'observability.*metrics' --output json`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.version, "envoy", "", "version of Envoy, see meshproof envoy list (default "+envoy.DefaultVersion+", or that of ENVOY_BIN or ENVOY_IMAGE)")
	flags.Var(textFlag{&o.runtime, "auto|container|process"}, "runtime", "how to run Envoy")
	flags.Var(&o.filter, "case", "run only the cases whose name or story matches this regular expression")
	flags.StringVar(&o.envoyLog, "envoy-log", "", "write Envoy's own log to this file")
	addOutput(cmd, &o.output)
	completeValues(cmd, "runtime")
	completeFunc(cmd, "envoy", completeVersions)
	return cmd
}

func (o runOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	chosen, err := o.load(paths)
	if err != nil {
		return err
	}
	opts := []harness.Option{harness.WithEnvoy(o.version), harness.WithRuntime(o.runtime)}
	if o.envoyLog != "" {
		log, err := os.OpenFile(o.envoyLog, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("--envoy-log: %w", err)
		}
		defer log.Close()
		opts = append(opts, harness.WithLog(log))
	}
	progress := newProgress(stderr, len(chosen))
	defer progress.stop()
	h, err := harness.Start(ctx, opts...)
	if err != nil {
		return startError(err)
	}
	defer func() { err = also(err, closed(h.Close())) }()
	results := suite.Runner{Harness: h, Done: progress.done}.Run(ctx, chosen...)
	progress.stop()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	summary := summarize(h, results)
	summary.builtIn = len(paths) == 0
	if o.output == outputJSON {
		err = writeJSON(stdout, summary, results)
	} else {
		writeText(stdout, paintFor(stdout), summary, results)
	}
	return also(summary.exit(), err)
}

// startError tells a version that nobody knows, which is bad input, from a
// machine that cannot run Envoy.
func startError(err error) error {
	if errors.Is(err, envoy.ErrUnknownVersion) {
		return err
	}
	return machine(err)
}

// load reads the cases and refuses those with bad policies before Envoy is
// started for them.
func (o runOptions) load(paths []string) ([]cases.Case, error) {
	read := cases.Stories
	if len(paths) > 0 {
		read = func() ([]cases.Case, error) { return cases.Load(paths...) }
	}
	all, err := read()
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: name a case file, or a folder with some", err)
	}
	if err != nil {
		return nil, err
	}
	var chosen []cases.Case
	var errs []error
	for _, c := range all {
		if !o.filter.matches(c) {
			continue
		}
		chosen = append(chosen, c)
		if c.ExpectError == "" {
			_, err := dialect.Parse(c.Policies, c.Options)
			errs = append(errs, err)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--case: none of %s has a name or story that matches %q", count(len(all), "case"), &o.filter)
	}
	return chosen, errors.Join(errs...)
}
