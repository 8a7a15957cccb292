package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/harness/envoy"
)

func newEnvoy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "envoy",
		Short: "Fetch and list the Envoy binaries",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:   "fetch [VERSION…]",
			Short: "Download Envoy into the user's cache, checked against its pinned digest",
			RunE: func(cmd *cobra.Command, versions []string) error {
				if len(versions) == 0 {
					versions = []string{envoy.DefaultVersion}
				}
				for _, version := range versions {
					path, err := envoy.Fetch(cmd.Context(), version)
					if err != nil {
						return startError(err)
					}
					fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", version, path)
				}
				return nil
			},
		},
		&cobra.Command{
			Use:   "list",
			Short: "List the versions of Envoy that can be had on this platform",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				releases, err := envoy.List()
				if err != nil {
					return machine(err)
				}
				t := table.NewWriter()
				t.SetOutputMirror(cmd.OutOrStdout())
				t.SetStyle(table.StyleLight)
				t.Style().Options = table.OptionsNoBordersAndSeparators
				t.AppendHeader(table.Row{"version", "platform", "cached at"})
				for _, r := range releases {
					path := "-"
					if r.Cached {
						path = r.Path
					}
					t.AppendRow(table.Row{r.Version, r.Platform, path})
				}
				t.Render()
				return nil
			},
		},
	)
	return cmd
}
