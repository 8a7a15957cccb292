package kuma

import (
	"encoding"
	"strconv"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

var optionFlag = capability.Flag{
	Key: "kumaOption", Name: "kuma-option", Values: []string{"option1", "option2", "option3"},
	Usage: "design of MeshTrafficPermission that the policies are written for", UsageOfSet: "design that %s is written for",
	// A case file has the number alone.
	Value: func(text string) (string, error) {
		var o permission.Option
		err := o.UnmarshalText([]byte(text))
		return strconv.Itoa(int(o) + 1), err
	},
}

// Flags implements [capability.Flagger].
func (dialect) Flags() []capability.Flag {
	return []capability.Flag{
		optionFlag,
		{
			Key: "shadowForm", Name: "shadow-form", Values: []string{"accepted", "precise"}, Usage: "shape of the shadow",
			Value: func(text string) (string, error) { return known(text, new(permission.ShadowForm)) },
		},
		{
			Key: "legacyCompiler", Name: "legacy-compiler", Values: []string{"compact", "full"}, Usage: "compiler of policies with from",
			Value: func(text string) (string, error) { return known(text, new(legacy.Compiler)) },
		},
		{
			Key: "systemNamespace", Name: "system-namespace", Usage: "namespace of the control plane, kuma-system where it is empty",
			Value: func(text string) (string, error) { return strconv.Quote(text), nil },
		},
	}
}

// known returns the text of a value that reads itself.
func known(text string, value encoding.TextUnmarshaler) (string, error) {
	return text, value.UnmarshalText([]byte(text))
}
