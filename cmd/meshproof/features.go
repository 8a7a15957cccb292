package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/matrix"
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
				return terminal.WriteJSON(cmd.OutOrStdout(), feature.All())
			}
			table := terminal.Table{{"profile", "level", "feature", "a compiler with it"}}
			for _, f := range feature.All() {
				table = append(table, []string{string(f.Profile), string(f.Level), string(f.Name), f.About})
			}
			table.Write(cmd.OutOrStdout(), "")
			return nil
		},
	}
	addOutput(cmd, &output)
	return cmd
}

// featureNames returns the names of the features of the levels.
func featureNames(levels ...feature.Level) (names []feature.Name) {
	for _, f := range feature.All() {
		if slices.Contains(levels, f.Level) {
			names = append(names, f.Name)
		}
	}
	return names
}

// claims are the flags that say what a compiler supports.
type claims struct {
	profiles, supported, exempt []string
	// flags tells which of them were set.
	flags *pflag.FlagSet
}

func (c *claims) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	c.flags = flags
	flags.StringSliceVar(&c.profiles, "profile", nil, "run only the cases of these `profiles`, see meshproof features")
	flags.StringSliceVar(&c.supported, "supported-features", nil, "extended `features` that are supported, or none; a case that needs another feature is not applicable (default: all)")
	flags.StringSliceVar(&c.exempt, "exempt-features", nil, "`features` that are not supported")
	completeWords(cmd, "profile", feature.Profiles())
	completeWords(cmd, "supported-features", append(featureNames(feature.Extended), matrix.NoFeature))
	completeWords(cmd, "exempt-features", append(featureNames(feature.Core, feature.Extended), matrix.AuthorizationPolicyCoreFeatures))
}

func (c claims) selection() (s matrix.Selection, err error) {
	if c.flags.Changed("profile") && len(c.profiles) == 0 {
		return s, fmt.Errorf("--profile: name one of %s, or leave it out for all", feature.ProfileNames())
	}
	for _, text := range c.profiles {
		var p feature.Profile
		if err := p.UnmarshalText([]byte(text)); err != nil {
			return s, fmt.Errorf("--profile: %w", err)
		}
		s.Profiles = append(s.Profiles, p)
	}
	if c.flags.Changed("supported-features") {
		if s.Supported, err = matrix.ParseSupported(c.supported); err != nil {
			return s, fmt.Errorf("--supported-features: %w", err)
		}
	}
	if s.Exempt, err = matrix.ParseFeatures(c.exempt); err != nil {
		return s, fmt.Errorf("--exempt-features: %w", err)
	}
	return s, nil
}
