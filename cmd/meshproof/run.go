package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/flagvalue"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/manifest"
)

// runOptions are the flags of run.
type runOptions struct {
	versions []string
	runtime  harness.Runtime
	output   outputFormat
	filter   lab.Choice
	envoyLog string
	report   string
	claims   claims
	compiler compilerFlags
	anyNames bool
	strict   bool
	quiet    bool
	policies string
	shard    matrix.Shard
	times    string
	sets     int
	seed     uint64
	// flags tells which of them were set.
	flags *pflag.FlagSet
}

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [PATH…]",
		Short: "Run case files on a real Envoy (without a path: the built-in cases)",
		Long: `Run boots Envoy, brings up the inbounds of each case, fires its requests as their callers,
and holds answers, upstream, access log and counters against the policies and the case.

A PATH is a case file, or a folder with case files. With --policies the cases are held against the
policies that are deployed, and a case need not state any. With several versions of Envoy it runs
the same cases on each, and prints where they differ. With --compiler the filters come from
another compiler. They are held against the same policies.`,
		Example: `  meshproof run
  meshproof run --quiet
  meshproof run cases/kuma/path.yaml --envoy 1.39.3 --runtime process
  meshproof run --case 'observability.*metrics' --output json
  meshproof run tests/ --policies deploy/policies --strict
  meshproof run --envoy all --report matrix
  meshproof run --profile GEP-3779 --shard 1/2 --report shard-1
  meshproof run --compiler './mesh-compiler --stdio' --implementation mesh.yaml --any-names --report mesh`,
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := newFlags()
	flags.StringSliceVar(&o.versions, "envoy", nil, "`versions` of Envoy, separated by commas, see meshproof envoy list, or all of them (default "+harness.DefaultVersion+", or the version of ENVOY_BIN or ENVOY_IMAGE)")
	flags.Var(flagvalue.Text(&o.runtime, "auto|container|process"), "runtime", "how to run Envoy")
	flags.StringVar(&o.envoyLog, "envoy-log", "", "write Envoy's own log to this file; with several versions, to a file each, whose name ends in the version")
	addGroup(cmd, labEnvoy, flags)
	flags = cmd.Flags()
	o.flags = flags
	flags.Var(&o.filter, "case", "run only the cases whose name or story matches this regular expression")
	o.claims.add(cmd)
	o.compiler.add(cmd)
	flags.BoolVar(&o.anyNames, "any-names", false, "do not compare the names of the policies that decide")
	addStrict(cmd, &o.strict)
	flags.StringVar(&o.policies, "policies", "", "run the cases against the policies of this file or folder, instead of their own")
	flags.Var(flagvalue.Text(&o.shard, "I/N"), "shard", "run only part I of N, from 1; job/N takes I from JOB_COMPLETION_INDEX of a Kubernetes Job")
	flags.IntVar(&o.sets, "sets", matrix.FreshSets, "with --profile or --report: how many sets of random policies another compiler is asked for beside the cases, 0 for none")
	flags.Uint64Var(&o.seed, "seed", 0, "the same `number` draws the same sets (default: a random seed)")
	flags.StringVar(&o.times, "times", "", "balance the shards by the times in this file, see meshproof report times (default: those measured for the built-in cases)")
	flags.StringVar(&o.report, "report", "", "write results, conformance report, page, JUnit and summary into this folder")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "print a line for each story, and in full only what failed")
	addOutput(cmd, &o.output)
	completeValues(cmd, "runtime")
	completeFunc(cmd, "envoy", completeVersions)
	return cmd
}

func (o runOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	s, err := o.suite(paths, stderr)
	if err != nil {
		return err
	}
	logs, err := matrix.OpenLogs(o.envoyLog, s.Versions)
	if err != nil {
		return fmt.Errorf("--envoy-log: %w", err)
	}
	defer func() { err = withFailure(err, logs.Close()) }()
	s.Log = logs.Writer
	plan, err := s.Plan()
	if err != nil {
		return err
	}
	if err := prepareReport(o.report); err != nil {
		return err
	}
	compiler, implementation, end, err := o.compiler.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, end()) }()
	s.Compiler, s.Implementation = compiler, implementation
	if o.report != "" && o.compiler.lacksImplementation() {
		fmt.Fprintln(stderr, "meshproof: --report: it is unknown whose compiler this is, which no published report may leave open: state it with --implementation")
	}
	progress := terminal.NewProgress(stderr, len(plan)*max(1, len(s.Versions)))
	defer progress.Stop()
	s.Done = func(_ string, r result.Case) { progress.End(r.Case.Name, r.Failed()) }
	results, runErr := s.Run(progress.Count(ctx))
	progress.Stop()
	if err := context.Cause(ctx); err != nil {
		return errors.Join(err, endErrorOf(runErr))
	}
	runs := summary.Runs{All: results, Several: len(s.Versions) > 1, Part: s.Shard != matrix.Shard{}, Quiet: o.quiet}
	// Where no Envoy could be started, standard error says why.
	if o.output == outputText || runs.Several || len(results) > 0 {
		err = printResult(stdout, o.output, runs)
	}
	if reports := append(runs.Reports(), s.Unstarted(runErr)...); o.report != "" && len(reports) > 0 {
		err = errors.Join(err, folder.Write(o.report, reports))
	}
	return joinRunError(withFailure(exitOf(runs.Tally()), err), runErr)
}

// joinRunError adds the error of a version that could not be started, ended or read to the
// error of the other versions.
func joinRunError(err, runErr error) error {
	switch start := (*matrix.StartError)(nil); {
	case runErr == nil:
		return err
	case err == nil && errors.As(runErr, &start):
		return startError(runErr)
	default:
		return withFailure(err, runErr)
	}
}

// endErrorOf returns the error of an Envoy that could not be ended, and nil for any other
// error.
func endErrorOf(err error) error {
	if end := (*matrix.EndError)(nil); errors.As(err, &end) {
		return newEndError(end)
	}
	return nil
}

// againCommand returns the command that repeats one case.
func (o runOptions) againCommand(paths []string) func(cases.Case, report.Run) string {
	more := o.compiler.arguments()
	if o.anyNames {
		more = append(more, "--any-names")
	}
	if o.policies != "" {
		more = append(more, "--policies", terminal.Quote(o.policies))
	}
	if o.strict {
		more = append(more, "--strict")
	}
	return func(c cases.Case, run report.Run) string {
		if c.Name == matrix.FreshCase {
			return o.drawAgain(paths, run.Envoy)
		}
		return summary.RepeatCommand(c, run, len(paths) == 0, more...)
	}
}

// explain returns the command that explains a request of a case.
func (o runOptions) explain(c cases.Case, q result.Request, builtIn bool) string {
	arguments := summary.Arguments(c, builtIn)
	if o.policies != "" {
		arguments = append(arguments, "--policies", o.policies)
	}
	return explanation.NewCommand(arguments...).Line(c, q.Request, true)
}

// drawAgain returns the command that draws the same policies once more.
func (o runOptions) drawAgain(paths []string, envoy string) string {
	words := []string{"meshproof", "run"}
	for _, path := range paths {
		words = append(words, terminal.Quote(path))
	}
	o.flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"seed", "envoy", "envoy-log", "output", "quiet", "times", "shard"}, f.Name) {
			words = append(words, terminal.Quote("--"+f.Name+"="+flagValue(f)))
		}
	})
	return strings.Join(append(words, "--seed", fmt.Sprint(o.seed), "--envoy", envoy), " ")
}

// suite reads the cases, and the flags that say how they are run.
func (o runOptions) suite(paths []string, stderr io.Writer) (matrix.Suite, error) {
	selection, err := o.claims.selection()
	if err != nil {
		return matrix.Suite{}, err
	}
	if !o.flags.Changed("seed") {
		o.seed = policyset.NewSeed()
	}
	s := matrix.Suite{Selection: selection, Shard: o.shard, Runtime: o.runtime, AnyNames: o.anyNames, Strict: o.strict, Again: o.againCommand(paths), Undigested: o.output == outputText && o.report == ""}
	s.Explain = func(c cases.Case, q result.Request) string { return o.explain(c, q, len(paths) == 0) }
	if s.Versions, err = o.versionList(); err != nil {
		return s, err
	}
	if s.Times, err = matrix.ReadTimes(o.times); err != nil {
		return s, fmt.Errorf("--times: %w", err)
	}
	draws := len(selection.Profiles) > 0 || o.report != ""
	for _, name := range []string{"sets", "seed"} {
		if o.flags.Changed(name) && !(draws && o.compiler.isForeign()) {
			return s, fmt.Errorf("--%s: policies are drawn only for another compiler, with --profile or --report: leave --%s out, or see meshproof run --help", name, name)
		}
	}
	if draws {
		s.Sets, s.Seed = cmp.Or(o.sets, -1), o.seed
	}
	memo := verdict.Memo{Foreign: o.compiler.isForeign()}
	s.Read = memo.Read
	var policies []manifest.Document
	if o.policies != "" {
		files, err := o.readPolicies(paths, stderr)
		if err != nil {
			return s, fmt.Errorf("--policies: %w", err)
		}
		policies = files.All()
	}
	s.Cases, err = matrix.Choice{Choice: o.filter, Policies: policies, Selection: selection, Read: s.Read}.Load(paths...)
	return s, err
}

// readPolicies reads the policies that the cases are run against.
func (o runOptions) readPolicies(paths []string, stderr io.Writer) (*lab.Files, error) {
	if len(paths) == 0 {
		return nil, errors.New("the built-in cases are about their own policies: name case files")
	}
	files, err := lab.OpenPolicies(o.policies)
	if err == nil {
		err = lab.LeaveOut(stderr, o.strict, files)
	}
	return files, err
}

// versionList returns the versions that --envoy names.
func (o runOptions) versionList() ([]string, error) {
	if !o.flags.Changed("envoy") {
		return nil, nil
	}
	versions, err := matrix.ParseVersions(o.versions)
	switch {
	case errors.As(err, new(*matrix.StartError)):
		return nil, machineError(err)
	case err != nil:
		return nil, fmt.Errorf("--envoy: %w", err)
	}
	return versions, nil
}
