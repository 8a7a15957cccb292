package main

import (
	"encoding"
	"fmt"
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
