// Command meshproof proves what a mesh authorization policy really does, by
// asking a real Envoy.
//
// It exits with 0 where everything went as wanted, 1 where a decision differs, 2
// for bad input or usage, 3 where Envoy or the machine failed, and 130 where it
// was interrupted. It guarantees that nothing it started is left when it exits.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/children"
	"github.com/meshproof/meshproof/internal/flagvalue"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/start"
	"github.com/meshproof/meshproof/internal/terminal"
)

func main() {
	start.Done()
	interrupts := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	if signal.Ignored(syscall.SIGHUP) { // nohup keeps a program alive without its terminal
		interrupts = interrupts[:2]
	}
	ctx, stop := signal.NotifyContext(context.Background(), interrupts...)
	context.AfterFunc(ctx, func() { endAfterSignal(ctx, stop) })
	os.Exit(execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// endAfterSignal ends this process when everything that was started has ended. It ends work
// that does not look at its context too, such as parsing.
func endAfterSignal(ctx context.Context, stop context.CancelFunc) {
	stop() // the next signal kills
	err := context.Cause(ctx)
	if !children.AwaitNone(endTime) {
		err = newEndError(fmt.Errorf("it takes longer than %s: the watchdogs end it now", endTime))
	}
	os.Exit(exitStatus(ctx, err, os.Stderr))
}

// endTime is how long everything that was started may take to end after a signal. What is
// left then is removed by the watchdogs, when this process has ended.
const endTime = 15 * time.Second

// execute runs one command line and returns its exit status.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &terminal.Output{Writer: stdout}
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.Err != nil {
		if errors.Is(err, out.Err) {
			err = nil
		}
		err = withFailure(err, fmt.Errorf("write the result: %w", out.Err))
	}
	return exitStatus(ctx, err, stderr)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "meshproof",
		Short: "Prove what a mesh authorization policy really does, by asking a real Envoy",
		Long: `meshproof proves what a mesh authorization policy really does, by asking a real Envoy.

Exit status: 0 all as wanted, 1 a decision differs or something was not verified,
2 bad input or usage, 3 Envoy or the machine failed, 130 interrupted.`,
		Version: version(debug.ReadBuildInfo()),
		// An unknown command is an error, not a page of help.
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// Errors are printed once, on one line, by exitStatus.
		SilenceErrors:     true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return automaton.CheckLimit() },
		SilenceUsage:      true,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(badFlag)
	groupUsage(root)
	addCommands(root, "Commands that ask a real Envoy:",
		newRun(), newProve(), newSideBySide(), newVerify(), newAdvisories(), newMutate(), newFuzz())
	addCommands(root, "Commands that read policies:",
		newDiff(), newExplain(), newLint(), newCompile(), newConvert(), newInspect(), newDescribe(), newGet())
	const others = "Other commands:"
	addCommands(root, others, newEnvoy(), newFeatures(), newReport(),
		&cobra.Command{Use: "version", Short: "Print the version, as --version does", Args: noArgs,
			Run: func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), "meshproof", root.Version) }})
	root.SetHelpCommandGroupID(others)
	root.SetCompletionCommandGroupID(others)
	checkTopics(root)
	return root
}

// addCommands adds commands that the help prints under one title.
func addCommands(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// checkTopics lets help and completion refuse what they do not know, as all commands do.
func checkTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil {
					found, rest = root, args
				}
				return noArgs(found, rest)
			}
		case "completion":
			cmd.Args, cmd.RunE = noArgs, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// badFlag adds which flag a misspelt one may mean, and where the flags are described.
func badFlag(cmd *cobra.Command, err error) error {
	meant := ""
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if closest, ok := spelling.Closest(unknown.GetSpecifiedName(), known); ok {
			meant = "did you mean --" + closest + "? "
		}
	}
	return fmt.Errorf("%w: %ssee %s --help", flagvalue.Explain(err), meant, cmd.CommandPath())
}

// noArgs takes no argument. Where there are commands, it takes an argument for an unknown
// command.
func noArgs(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasAvailableSubCommands():
		return fmt.Errorf("unexpected argument %q: see %s --help", args[0], cmd.CommandPath())
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	meant := ""
	if closest, ok := spelling.Closest(args[0], known); ok {
		meant = "did you mean " + closest + "? "
	}
	return fmt.Errorf("unknown command %q: %s%s has %s", args[0], meant, cmd.CommandPath(), strings.Join(known, ", "))
}

// newGroup returns a command that only has commands below it.
func newGroup(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}

// needTwo takes two arguments, which are compared.
func needTwo(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 2:
			return nil
		case 1:
			return fmt.Errorf("two %s are compared, there is 1: see %s --help", what, cmd.CommandPath())
		default:
			return fmt.Errorf("two %s are compared, there are %d: see %s --help", what, len(args), cmd.CommandPath())
		}
	}
}

func needPath(cmd *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		return fmt.Errorf("no file was named: see %s --help", cmd.CommandPath())
	}
	return nil
}

// version is what --version prints. The Go command records it with the build.
func version(info *debug.BuildInfo, ok bool) string {
	built := "(unknown build)"
	if ok && info.Main.Version != "" {
		built = info.Main.Version
	}
	return fmt.Sprintf("%s, %s %s/%s, Envoy %s unless told otherwise", built, runtime.Version(), runtime.GOOS, runtime.GOARCH, harness.DefaultVersion)
}
