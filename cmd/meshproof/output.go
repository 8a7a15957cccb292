package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/terminal"
)

// outputFormat is the value of --output. Every result has text and JSON.
type outputFormat string

const (
	outputText     outputFormat = "text"
	outputJSON     outputFormat = "json"
	outputYAML     outputFormat = "yaml"
	outputSVG      outputFormat = "svg"
	outputMarkdown outputFormat = "markdown"
)

// addOutput adds --output with text, JSON and further formats.
func addOutput(cmd *cobra.Command, o *outputFormat, further ...outputFormat) {
	*o = outputText
	cmd.Flags().VarP(oneOf[outputFormat]{o, append([]outputFormat{outputText, outputJSON}, further...)}, "output", "o", "how to print the result")
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
