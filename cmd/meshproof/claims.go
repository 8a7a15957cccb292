package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/internal/matrix"
)

// claims are the flags that say what a compiler supports.
type claims struct {
	profiles, supported, exempt []string
	// flags tells which of them were set.
	flags *pflag.FlagSet
}

func (c *claims) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	c.flags = flags
	flags.StringSliceVar(&c.profiles, "profile", nil, "run only the cases of these profiles, see meshproof features")
	flags.StringSliceVar(&c.supported, "supported-features", nil, "extended features that are supported, or none; a case that needs another feature is not applicable (default: all)")
	flags.StringSliceVar(&c.exempt, "exempt-features", nil, "features that are not supported")
	completeFunc(cmd, "profile", completeProfiles)
	completeFunc(cmd, "supported-features", completeExtended)
	completeFunc(cmd, "exempt-features", completeFeatures)
}

func (c claims) selection() (s matrix.Selection, err error) {
	if c.flags.Changed("profile") && len(c.profiles) == 0 {
		return s, fmt.Errorf("--profile: name one of %v, or leave it out for all", feature.Profiles())
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
