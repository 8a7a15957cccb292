package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/flagvalue"
	"github.com/meshproof/meshproof/internal/optionflag"
)

// completeValues offers the values of a flag whose type lists them, as in a|b|c.
func completeValues(cmd *cobra.Command, flag string) {
	completeWords(cmd, flag, strings.Split(cmd.Flags().Lookup(flag).Value.Type(), "|"))
}

func completeWords[T ~string](cmd *cobra.Command, flag string, words []T) {
	completeFunc(cmd, flag, cobra.FixedCompletions(flagvalue.Words(words), cobra.ShellCompDirectiveNoFileComp))
}

func completeFunc(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the flag is missing, or has its completion already: a defect of the caller
	}
}

// completeOptions offers the values of options: of the flags for all policies, and of those
// for one of two sets.
func completeOptions(cmd *cobra.Command, options optionflag.Set) {
	for _, f := range options {
		for _, name := range []string{f.Name, "old-" + f.Name, "new-" + f.Name} {
			if flag := cmd.Flags().Lookup(name); flag != nil && len(f.Values) > 0 {
				if _, done := cmd.GetFlagCompletionFunc(name); !done {
					completeValues(cmd, name)
				}
			}
		}
	}
}

// completeFiles offers YAML files, and folders on the way to them.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeVersions offers the pinned versions of Envoy.
func completeVersions(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	releases, err := envoy.List()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var versions []string
	for _, r := range releases {
		versions = append(versions, r.Version)
	}
	return versions, cobra.ShellCompDirectiveNoFileComp
}
