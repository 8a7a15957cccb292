package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/matrix"
)

// completeValues offers the values of a flag whose type lists them, as in a|b|c.
func completeValues(cmd *cobra.Command, flag string) {
	values := strings.Split(cmd.Flags().Lookup(flag).Value.Type(), "|")
	completeFunc(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

func completeFunc(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, values); err != nil {
		panic(err) // the flag is missing, or has its completion already: a defect of the caller
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

// completeProfiles and completeFeatures offer the profiles and features of the cases.
func completeProfiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, p := range feature.Profiles() {
		names = append(names, string(p))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func completeFeatures(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{matrix.AuthorizationPolicyCoreFeatures}
	for _, f := range feature.All() {
		names = append(names, string(f.Name))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeExtended offers the extended features.
func completeExtended(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := []string{matrix.NoFeature}
	for _, f := range feature.All() {
		if f.Level == feature.Extended {
			names = append(names, string(f.Name))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
