// Package optionflag states the options of dialects as flags of a command: a flag for each
// option, and the document that a case would state under options.
//
// It guarantees that a flag which has its default adds nothing to the document. It knows no
// dialect: the dialects say which options they have.
package optionflag

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Set are the options of all dialects, which a case states under options.
type Set []*Flag

// Flag is a [capability.Flag] with its text; it implements pflag.Value.
type Flag struct {
	capability.Flag
	text string
	// owns reports whether a document is a policy of the flag's dialect.
	owns func(manifest.Document) bool
	// value is the value of the key in YAML, empty for the default.
	value string
}

// New returns the flag with its default.
func New(f capability.Flag) *Flag {
	if len(f.Values) > 0 {
		return &Flag{Flag: f, text: f.Values[0]}
	}
	return &Flag{Flag: f}
}

// Set implements pflag.Value.
func (f *Flag) Set(text string) error {
	value, err := f.Value(text)
	if err != nil {
		return err
	}
	byDefault, err := f.Value(New(f.Flag).text)
	if value == byDefault {
		value = ""
	}
	f.text, f.value = text, value
	return err
}

// String implements pflag.Value.
func (f *Flag) String() string { return f.text }

// Type implements pflag.Value.
func (f *Flag) Type() string {
	if len(f.Values) == 0 {
		return "string"
	}
	return strings.Join(f.Values, "|")
}

// Add adds the flags of all dialects.
func (o *Set) Add(flags *pflag.FlagSet) {
	for _, dialect := range dialects.Having[capability.Flagger]() {
		for _, f := range dialect.Flags() {
			flag := New(f)
			flag.owns = func(doc manifest.Document) bool {
				router, routes := dialect.(capability.Router)
				return dialect.(language.Dialect).Owns(doc) || routes && router.OwnsRouting(doc)
			}
			*o = append(*o, flag)
			flags.Var(flag, f.Name, f.Usage)
		}
	}
}

// Unused says of the flags that were given which ones are about no document, where there are
// documents at all; "" for none.
func (o Set) Unused(docs []manifest.Document) string {
	var names []string
	for _, f := range o {
		if f.value != "" && len(docs) > 0 && !slices.ContainsFunc(docs, f.owns) {
			names = append(names, "--"+f.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + ": there is no policy of its dialect, so that the option changes nothing: leave it out"
}

// Document returns the options as a case states them.
func (o Set) Document() manifest.Document {
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

// Side are the options of one of two sets that are compared. An option that is not
// given for the set holds for both sets.
type Side struct {
	flags Set
	set   *pflag.FlagSet
	// prefix stands in front of the name of each flag.
	prefix string
}

// Add adds the flags for the set of that name, such as OLD, beside those of both sets.
func (s *Side) Add(flags *pflag.FlagSet, both Set, name string) {
	s.set, s.prefix = flags, strings.ToLower(name)+"-"
	for _, f := range both {
		own := New(f.Flag)
		if f.UsageOfSet != "" {
			s.set.Var(own, s.prefix+f.Name, fmt.Sprintf(f.UsageOfSet, name)+" (default: the value of --"+f.Name+")")
			// The other flag has the default.
			s.set.Lookup(s.prefix + f.Name).DefValue = ""
		}
		s.flags = append(s.flags, own)
	}
}

// Overriding returns the options of the set, given the options of both sets.
func (s *Side) Overriding(both Set) Set {
	out := make(Set, len(both))
	for i, f := range both {
		out[i] = f
		if s.set.Changed(s.prefix + f.Name) {
			out[i] = s.flags[i]
		}
	}
	return out
}
