package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
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
