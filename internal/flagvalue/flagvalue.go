// Package flagvalue has the values of flags: one of some words, a port, an address, pairs, and a
// type that reads and prints itself.
//
// It guarantees that an unknown word is an error that lists the known ones, and that an error names
// the flag and what it takes. It adds no flag to a command.
package flagvalue

import (
	"encoding"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Text returns the value of a flag of a type that reads and prints itself. The usage stands for the
// type in the help of a command.
func Text(value interface {
	encoding.TextUnmarshaler
	fmt.Stringer
}, usage string) pflag.Value {
	return text{value, usage}
}

type text struct {
	value interface {
		encoding.TextUnmarshaler
		fmt.Stringer
	}
	usage string
}

func (f text) Set(s string) error { return f.value.UnmarshalText([]byte(s)) }

func (f text) String() string { return f.value.String() }

func (f text) Type() string { return f.usage }

// Port returns the value of a flag that takes a port which a caller can connect to, and sets its default.
func Port(value *uint16, standard uint16) pflag.Value {
	*value = standard
	return (*port)(value)
}

type port uint16

func (p *port) Set(s string) error {
	n, err := strconv.ParseUint(s, 10, 16)
	if err == nil && n == 0 {
		err = errors.New("no caller can connect to port 0")
	}
	if err == nil {
		*p = port(n)
	}
	return err
}

func (p *port) String() string { return strconv.Itoa(int(*p)) }

func (*port) Type() string { return "uint16" }

// OneOf returns the value of a flag that takes one of some words.
func OneOf[T ~string](value *T, words ...T) pflag.Value { return oneOf[T]{value, words} }

type oneOf[T ~string] struct {
	value *T
	words []T
}

func (f oneOf[T]) Set(s string) error {
	if !slices.Contains(f.words, T(s)) {
		last := len(f.words) - 1
		return fmt.Errorf("%q is unknown: use %s or %s", s, strings.Join(Words(f.words[:last]), ", "), f.words[last])
	}
	*f.value = T(s)
	return nil
}

func (f oneOf[T]) String() string { return string(*f.value) }

func (f oneOf[T]) Type() string { return strings.Join(Words(f.words), "|") }

// Words returns the words as texts.
func Words[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = string(word)
	}
	return out
}

// numbers says what to write for the types of flags whose own errors name functions of Go.
var numbers = map[string]string{
	"int":      "a whole number",
	"uint16":   "a whole number from 1 to 65535",
	"uint64":   "a whole number of at least 0",
	"duration": "a duration with a unit, such as 30s or 5m",
	"bool":     "true or false",
}

// Explain returns the error of a flag with a value that its type does not take, in words that say
// what to write. Each other error stays as it is.
func Explain(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	name, value := invalid.GetFlag().Name, invalid.GetFlag().Value
	if use, ok := numbers[value.Type()]; ok {
		return fmt.Errorf("--%s: %q is not %s", name, invalid.GetValue(), use)
	}
	return fmt.Errorf("--%s: %w", name, invalid.Unwrap())
}
