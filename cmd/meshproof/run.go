package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/envoy"
	"github.com/meshproof/meshproof/harness/suite"
)

// runOptions are the flags of run.
type runOptions struct {
	version  string
	runtime  envoy.Runtime
	output   outputFormat
	name     string
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
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.version, "envoy", envoy.DefaultVersion, "version of Envoy, see meshproof envoy list")
	flags.Var(textFlag{&o.runtime, "auto|container|process"}, "runtime", "how to run Envoy")
	flags.StringVar(&o.name, "case", "", "run only the cases whose name or story matches this regular expression")
	flags.StringVar(&o.envoyLog, "envoy-log", "", "write Envoy's own log to this file")
	addOutput(cmd, &o.output)
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
	defer func() { err = errors.Join(err, machine(h.Close())) }()
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
		writeText(stdout, summary, results)
	}
	return errors.Join(err, summary.exit())
}

// startError tells a version that nobody knows, which is bad input, from a
// machine that cannot run Envoy.
func startError(err error) error {
	if errors.Is(err, envoy.ErrUnknownVersion) {
		return err
	}
	return machine(err)
}

func (o runOptions) load(paths []string) ([]cases.Case, error) {
	all, err := cases.Stories()
	if len(paths) > 0 {
		all, err = cases.Load(paths...)
	}
	if err != nil || o.name == "" {
		return all, err
	}
	pattern, err := regexp.Compile(o.name)
	if err != nil {
		return nil, fmt.Errorf("--case: %w", err)
	}
	var chosen []cases.Case
	for _, c := range all {
		if pattern.MatchString(c.Name) || pattern.MatchString(c.Story) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--case: none of the %d cases has a name or story that matches %q", len(all), o.name)
	}
	return chosen, nil
}
