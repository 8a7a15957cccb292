package flagvalue_test

import (
	"maps"
	"testing"

	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/internal/flagvalue"
)

// TestKeyed holds which pairs a flag of pairs takes.
func TestKeyed(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"--label=a=b": "", "--label=a=": "", "--label=a=b,c=d=e": "",
		"--label==":       "--label: the key is missing: write key=value",
		"--label==b":      "--label: the key is missing: write key=value",
		"--label=a=,=":    "--label: the key is missing: write key=value",
		"--label=a":       "--label: a must be formatted as key=value",
		"--label=z=2":     "--label: z appears twice: write each key once",
		"--label=a=1,a=2": "--label: a key appears twice: write each key once",
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		pairs := map[string]string{}
		flags.StringToStringVar(&pairs, "label", nil, "")
		label := flags.Lookup("label")
		label.Value = flagvalue.Keyed(label.Value, &pairs)
		got := ""
		if err := flags.Parse([]string{arg, "--label=z=1"}); err != nil {
			got = flagvalue.Explain(err).Error()
		} else if !maps.Equal(pairs, map[string]string{"z": "1", "a": pairs["a"], "c": pairs["c"]}) && len(pairs) != 2 {
			t.Errorf("%s: pairs %v", arg, pairs)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", arg, got, want)
		}
	}
}
