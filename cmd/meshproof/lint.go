package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/findings"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/podlint"
	"github.com/meshproof/meshproof/internal/terminal"
)

func newLint() *cobra.Command {
	source := sourceOptions{routing: true}
	var output outputFormat
	var ignored []string
	cmd := &cobra.Command{
		Use:   "lint PATH…",
		Short: "Warn of policies that may not do what their author means",
		Long: `Lint warns of policies that are legal and may not do what their author means. It asks no Envoy. Each
kind of warning has a section in docs/lint.md. Exit status 1 where there is a warning that no case expects.`,
		Example: `  meshproof lint policies/
  meshproof lint policies/ --output sarif --ignore host-without-port`,
		Args: needPath,
		RunE: func(cmd *cobra.Command, paths []string) error {
			files, s, err := source.open(paths)
			if err != nil {
				return err
			}
			all, _, err := source.casesOf(files, s)
			if err != nil {
				return err
			}
			found, err := findings.Collect(all, files.Meshes(s), ignored, podlint.Warn(files, s)...)
			if err != nil {
				return err
			}
			printNotes(cmd.ErrOrStderr(), dialects.Drafts(files.All()))
			if output == outputSARIF {
				err = terminal.WriteJSON(cmd.OutOrStdout(), found.SARIF(matrix.Version()))
			} else {
				err = printResult(cmd.OutOrStdout(), output, found)
			}
			return cmp.Or(err, exitFor(false, !found.Holds()))
		},
	}
	source.add(cmd)
	addOutput(cmd, &output, outputSARIF)
	cmd.Flags().StringSliceVar(&ignored, "ignore", nil, "`kinds` of warnings to leave out, as in selects-nothing,no-rules")
	return cmd
}
