package main

import (
	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/internal/terminal"
)

func newFeatures() *cobra.Command {
	var output outputFormat
	cmd := &cobra.Command{
		Use:   "features",
		Short: "List the profiles and features that the cases are about",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output == outputJSON {
				return terminal.WriteJSON(cmd.OutOrStdout(), featuresJSON())
			}
			table := terminal.Table{{"profile", "level", "feature", "a compiler with it"}}
			for _, f := range feature.All() {
				table = append(table, []string{string(f.Profile), f.Level.String(), string(f.Name), f.About})
			}
			table.Write(cmd.OutOrStdout(), "")
			return nil
		},
	}
	addOutput(cmd, &output)
	return cmd
}

type jsonFeature struct {
	Name    feature.Name    `json:"name"`
	Profile feature.Profile `json:"profile"`
	Level   string          `json:"level"`
	About   string          `json:"about"`
}

func featuresJSON() []jsonFeature {
	var out []jsonFeature
	for _, f := range feature.All() {
		out = append(out, jsonFeature{f.Name, f.Profile, f.Level.String(), f.About})
	}
	return out
}
