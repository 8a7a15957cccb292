package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/terminal"
)

func newEnvoyPropose() *cobra.Command {
	var file string
	var output outputFormat
	cmd := &cobra.Command{
		Use:   "propose",
		Short: "Propose newer releases of Envoy than those that are pinned",
		Long: `Propose asks pip which releases of Envoy there are. Of each minor release, from the oldest that is
pinned on, it proposes the newest patch, with size and digest of its binaries; post-releases are passed
over. It downloads the binaries of what it proposes, and nothing where nothing is newer. They are not
kept and not run. What is pinned is what was downloaded first: look at a proposal before you commit it.

With --write the pins are those of that file, and the proposals are written into it.`,
		Example: `  meshproof envoy propose
  meshproof envoy propose --write internal/pin/versions.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			proposals, err := pin.Propose(cmd.Context(), file)
			if errors.As(err, new(*pin.Error)) {
				return machine(err)
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
				return proposalsJSON(cmd.OutOrStdout(), proposals)
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

// proposalsJSON prints an array, newest release first.
func proposalsJSON(w io.Writer, proposals []pin.Proposal) error {
	type wheel struct {
		Platform string `json:"platform"`
		Wheel    string `json:"wheel"`
		Size     int64  `json:"size"`
		SHA256   string `json:"sha256"`
	}
	type proposal struct {
		Version  string   `json:"version"`
		Replaces []string `json:"replaces"`
		Missing  []string `json:"missing"`
		Wheels   []wheel  `json:"wheels"`
	}
	out := []proposal{}
	for _, p := range proposals {
		to := proposal{p.Version, append([]string{}, p.Replaces...), append([]string{}, p.Missing...), []wheel{}}
		for _, w := range p.Wheels {
			to.Wheels = append(to.Wheels, wheel{w.Platform, w.File, w.Size, w.SHA256})
		}
		out = append(out, to)
	}
	return terminal.WriteJSON(w, out)
}
