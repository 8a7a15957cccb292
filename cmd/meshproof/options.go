package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/manifest"
)

// optionFlags are the options of all dialects, which a case states under options.
type optionFlags []*optionFlag

// optionFlag is a [capability.Flag] with its text; it implements pflag.Value.
type optionFlag struct {
	capability.Flag
	text string
	// value is the value of the key in YAML, empty for the default.
	value string
}

func newOptionFlag(f capability.Flag) *optionFlag {
	if len(f.Values) > 0 {
		return &optionFlag{Flag: f, text: f.Values[0]}
	}
	return &optionFlag{Flag: f}
}

// Set implements pflag.Value.
func (f *optionFlag) Set(text string) error {
	value, err := f.Value(text)
	if err != nil {
		return err
	}
	byDefault, err := f.Value(newOptionFlag(f.Flag).text)
	if value == byDefault {
		value = ""
	}
	f.text, f.value = text, value
	return err
}

// String implements pflag.Value.
func (f *optionFlag) String() string { return f.text }

// Type implements pflag.Value.
func (f *optionFlag) Type() string {
	if len(f.Values) == 0 {
		return "string"
	}
	return strings.Join(f.Values, "|")
}

func (o *optionFlags) add(flags *pflag.FlagSet) {
	for _, dialect := range dialects.Having[capability.Flagger]() {
		for _, f := range dialect.Flags() {
			flag := newOptionFlag(f)
			*o = append(*o, flag)
			flags.Var(flag, f.Name, f.Usage)
		}
	}
}

func (o optionFlags) complete(cmd *cobra.Command) {
	for _, f := range o {
		if len(f.Values) > 0 {
			completeValues(cmd, f.Name)
		}
	}
}

// document returns the options as a case states them.
func (o optionFlags) document() manifest.Document {
	var text strings.Builder
	for _, f := range o {
		if f.value != "" {
			fmt.Fprintf(&text, "%s: %s\n", f.Key, f.value)
		}
	}
	docs, err := manifest.Parse("flags", []byte(text.String()))
	if err != nil {
		panic(err) // the dialect writes YAML
	}
	if len(docs) == 0 {
		return manifest.Document{}
	}
	return docs[0]
}

// sideFlags are the options of one of two sets that are compared. An option that is not
// given for the set holds for both sets.
type sideFlags struct {
	flags optionFlags
	set   *pflag.FlagSet
	// prefix stands in front of the name of each flag.
	prefix string
}

// add adds the flags for the set of that name, such as OLD, beside those of both sets.
func (s *sideFlags) add(cmd *cobra.Command, both optionFlags, name string) {
	s.set, s.prefix = cmd.Flags(), strings.ToLower(name)+"-"
	for _, f := range both {
		own := newOptionFlag(f.Flag)
		if f.UsageOfSet != "" {
			s.set.Var(own, s.prefix+f.Name, fmt.Sprintf(f.UsageOfSet, name)+" (default: the value of --"+f.Name+")")
			// The other flag has the default.
			s.set.Lookup(s.prefix + f.Name).DefValue = ""
			completeValues(cmd, s.prefix+f.Name)
		}
		s.flags = append(s.flags, own)
	}
}

// overriding returns the options of the set, given the options of both sets.
func (s *sideFlags) overriding(both optionFlags) optionFlags {
	out := make(optionFlags, len(both))
	for i, f := range both {
		out[i] = f
		if s.set.Changed(s.prefix + f.Name) {
			out[i] = s.flags[i]
		}
	}
	return out
}
