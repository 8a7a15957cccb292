package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fileKind is a kind of input file. Some flags speak of one kind only.
type fileKind string

const (
	policyFiles fileKind = "policy files"
	caseFiles   fileKind = "case files"
)

// fileKindKey is the annotation of a flag that names its kind of file.
const fileKindKey = "meshproof_file_kind"

func newFileFlags() *pflag.FlagSet { return pflag.NewFlagSet("", pflag.ContinueOnError) }

// addFileFlags adds flags to a command. Each flag carries its kind of file, and its usage
// begins with it.
func addFileFlags(cmd *cobra.Command, kind fileKind, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		f.Usage = string(kind) + ": " + f.Usage
		f.Annotations = map[string][]string{fileKindKey: {string(kind)}}
		cmd.Flags().AddFlag(f)
	})
}
