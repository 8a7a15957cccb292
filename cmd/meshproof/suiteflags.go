package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
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
	flags.StringSliceVar(&c.supported, "supported-features", nil, "extended features that are supported; cases that need another are not applicable; none for none of them (default: all)")
	flags.StringSliceVar(&c.exempt, "exempt-features", nil, "features that are not supported although the others are")
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

// suite reads the cases and what is asked of them.
func (o runOptions) suite(paths []string) (matrix.Suite, error) {
	selection, err := o.claims.selection()
	if err != nil {
		return matrix.Suite{}, err
	}
	s := matrix.Suite{Selection: selection, Shard: o.shard, Runtime: o.runtime, AnyNames: o.anyNames, Again: o.again(len(paths) == 0)}
	if s.Versions, err = o.versionList(); err != nil {
		return s, err
	}
	if s.Times, err = o.readTimes(); err != nil {
		return s, err
	}
	var memo verdict.Memo
	s.Read = memo.Read
	s.Cases, err = o.load(paths, selection, s.Read)
	return s, err
}

// versionList returns the versions that --envoy names.
func (o runOptions) versionList() ([]string, error) {
	if !o.flags.Changed("envoy") {
		return nil, nil
	}
	versions, err := matrix.ParseVersions(o.versions)
	switch {
	case errors.As(err, new(*matrix.StartError)):
		return nil, machineError(err)
	case err != nil:
		return nil, fmt.Errorf("--envoy: %w", err)
	}
	return versions, nil
}

func (o runOptions) readTimes() (matrix.Times, error) {
	if o.times == "" {
		return nil, nil
	}
	data, err := os.ReadFile(o.times)
	if err != nil {
		return nil, fmt.Errorf("--times: %w", err)
	}
	times, err := matrix.ParseTimes(data)
	if err != nil {
		return nil, fmt.Errorf("--times: %s: %w", o.times, err)
	}
	return times, nil
}

// load reads the cases. It refuses bad policies before Envoy is started for them.
func (o runOptions) load(paths []string, selection matrix.Selection, read func(cases.Case) (*verdict.Reading, error)) ([]cases.Case, error) {
	open := cases.Stories
	if len(paths) > 0 {
		open = func() ([]cases.Case, error) { return cases.Load(paths...) }
	}
	all, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: name a case file, or a folder with some", err)
	}
	if err != nil {
		return nil, err
	}
	var chosen []cases.Case
	var errs []error
	for _, c := range all {
		if !o.filter.matches(c) {
			continue
		}
		chosen = append(chosen, c)
		if reason, _ := selection.Skip(c); c.ExpectError == "" && reason == "" {
			// What a single inbound refuses is a result of the case.
			if _, err := read(c); !errors.As(err, new(*verdict.InboundError)) {
				errs = append(errs, err)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("--case: none of %s has a name or story that matches %q", terminal.Count(len(all), "case"), &o.filter)
	}
	return chosen, errors.Join(errs...)
}
