package main

import (
	"encoding"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
)

// textFlag makes a flag of a type that reads and prints itself.
type textFlag struct {
	value interface {
		encoding.TextUnmarshaler
		fmt.Stringer
	}
	usage string
}

// Set implements pflag.Value.
func (f textFlag) Set(s string) error { return f.value.UnmarshalText([]byte(s)) }

// String implements pflag.Value.
func (f textFlag) String() string { return f.value.String() }

// Type implements pflag.Value.
func (f textFlag) Type() string { return f.usage }

// oneOf makes a flag that takes one of some words.
type oneOf[T ~string] struct {
	value *T
	words []T
}

// Set implements pflag.Value.
func (f oneOf[T]) Set(s string) error {
	if !slices.Contains(f.words, T(s)) {
		last := len(f.words) - 1
		return fmt.Errorf("%q is unknown: use %s or %s", s, join(f.words[:last], ", "), f.words[last])
	}
	*f.value = T(s)
	return nil
}

// String implements pflag.Value.
func (f oneOf[T]) String() string { return string(*f.value) }

// Type implements pflag.Value.
func (f oneOf[T]) Type() string { return join(f.words, "|") }

func join[T ~string](words []T, separator string) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = string(word)
	}
	return strings.Join(out, separator)
}

// caseFilter is the value of --case. The zero value matches every case.
type caseFilter struct{ pattern *regexp.Regexp }

// Set implements pflag.Value.
func (f *caseFilter) Set(s string) (err error) {
	f.pattern, err = regexp.Compile(s)
	return err
}

// String implements pflag.Value.
func (f *caseFilter) String() string {
	if f.pattern == nil {
		return ""
	}
	return f.pattern.String()
}

// Type implements pflag.Value.
func (*caseFilter) Type() string { return "regexp" }

func (f *caseFilter) matches(c cases.Case) bool {
	return lab.Choice{Pattern: f.pattern}.Matches(c)
}
