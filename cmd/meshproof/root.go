package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/terminal"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "meshproof",
		Short: "Prove what a mesh authorization policy really does, by asking a real Envoy",
		Long: `meshproof proves what a mesh authorization policy really does, by asking a real Envoy.

Exit status: 0 all as wanted, 1 a decision differs, 2 bad input or usage,
3 Envoy or the machine failed, 130 interrupted.`,
		Version: version(debug.ReadBuildInfo()),
		// An unknown command is an error, not a page of help.
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// Errors are printed once, on one line, by exitStatus.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetFlagErrorFunc(badFlag)
	root.AddCommand(newRun(), newProve(), newDiff(), newVerify(), newMutate(), newFuzz(), newCompile(), newConvert(), newExplain(), newInspect(), newDescribe(), newGet(), newEnvoy(), newFeatures(), newReport())
	return root
}

// outputFormat is the value of --output.
type outputFormat string

const (
	outputText outputFormat = "text"
	outputJSON outputFormat = "json"
)

// Set implements pflag.Value.
func (o *outputFormat) Set(s string) error {
	switch f := outputFormat(s); f {
	case outputText, outputJSON:
		*o = f
		return nil
	default:
		return fmt.Errorf("%q is unknown: use text or json", s)
	}
}

// String implements pflag.Value.
func (o *outputFormat) String() string { return string(*o) }

// Type implements pflag.Value.
func (*outputFormat) Type() string { return "text|json" }

func addOutput(cmd *cobra.Command, o *outputFormat) {
	*o = outputText
	cmd.Flags().VarP(o, "output", "o", "how to print the result")
	completeValues(cmd, "output")
}

// printed is what a command prints: as text, or by its JSON form.
type printed interface {
	WriteText(w io.Writer, p terminal.Paint)
}

// printResult prints a result in the form that --output chooses.
func printResult(stdout io.Writer, output outputFormat, r printed) error {
	if output == outputJSON {
		return terminal.WriteJSON(stdout, r)
	}
	r.WriteText(stdout, terminal.PaintFor(stdout))
	return nil
}
