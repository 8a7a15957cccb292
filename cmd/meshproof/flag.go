package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/internal/flagvalue"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/terminal"
)

// flagGroup is what some flags of a command are about. The help prints each group by itself.
type flagGroup string

// Flags about policy files, and those about case files, need such a file.
const (
	policyFiles   flagGroup = "policy files"
	caseFiles     flagGroup = "case files"
	oneOfTwoSets  flagGroup = "one of the two sets"
	oneRequest    flagGroup = "the request"
	otherCompiler flagGroup = "another compiler"
	labEnvoy      flagGroup = "Envoy"
)

// flagGroups are all groups in the order of the help.
var flagGroups = []flagGroup{oneRequest, policyFiles, oneOfTwoSets, caseFiles, otherCompiler, labEnvoy}

// flagGroupKey is the annotation of a flag that names its group.
const flagGroupKey = "meshproof_flag_group"

func newFlags() *pflag.FlagSet { return pflag.NewFlagSet("", pflag.ContinueOnError) }

// addGroup adds the flags of one group to a command.
func addGroup(cmd *cobra.Command, group flagGroup, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		f.Annotations = map[string][]string{flagGroupKey: {string(group)}}
		cmd.Flags().AddFlag(f)
	})
}

// isOf reports whether a flag is of a group.
func (g flagGroup) isOf(f *pflag.Flag) bool {
	return slices.Contains(f.Annotations[flagGroupKey], string(g))
}

// addCaseFilter adds --case, which is about case files.
func addCaseFilter(cmd *cobra.Command, filter *lab.Choice) {
	flags := newFlags()
	flags.Var(filter, "case", "only the cases whose name or story matches this regular expression")
	addGroup(cmd, caseFiles, flags)
}

// addLabels adds --label.
func addLabels(flags *pflag.FlagSet, labels *map[string]string, of string) {
	flags.StringToStringVar(labels, "label", nil, "label of the "+of+", as `key=value`; repeatable")
	label := flags.Lookup("label")
	label.DefValue, label.Value = "", flagvalue.Keyed(label.Value, labels)
}

// flagValue is the value of a flag as a command states it.
func flagValue(f *pflag.Flag) string {
	value := f.Value.String()
	if slices.Contains([]string{"stringToString", "stringSlice"}, f.Value.Type()) {
		value = strings.TrimSuffix(strings.TrimPrefix(value, "["), "]")
	}
	return value
}

// outputFormat is the value of --output. Every result has text and JSON.
type outputFormat string

const (
	outputText     outputFormat = "text"
	outputJSON     outputFormat = "json"
	outputYAML     outputFormat = "yaml"
	outputSVG      outputFormat = "svg"
	outputMarkdown outputFormat = "markdown"
	outputSARIF    outputFormat = "sarif"
)

// addOutput adds --output with text, JSON and further formats.
func addOutput(cmd *cobra.Command, o *outputFormat, further ...outputFormat) {
	*o = outputText
	cmd.Flags().VarP(flagvalue.OneOf(o, append([]outputFormat{outputText, outputJSON}, further...)...), "output", "o", "how to print the result")
	completeValues(cmd, "output")
}

// addStrict adds --strict.
func addStrict(cmd *cobra.Command, strict *bool) {
	cmd.Flags().BoolVar(strict, "strict", false, "fail where there is a warning that no case expects, and refuse files with documents of other kinds")
}

// addStrictFiles adds --strict to a command that has no warnings.
func addStrictFiles(cmd *cobra.Command, strict *bool) {
	cmd.Flags().BoolVar(strict, "strict", false, "refuse files with documents of other kinds")
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
