package flagvalue_test

import (
	"errors"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/internal/flagvalue"
)

// TestExplain holds what a value of a flag that its type does not take comes to.
func TestExplain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ arg, want string }{
		{"--port=abc", `--port: "abc" is not a whole number from 1 to 65535`},
		{"--port=0", `--port: "0" is not a whole number from 1 to 65535`},
		{"--port=65536", `--port: "65536" is not a whole number from 1 to 65535`},
		{"--sets=x", `--sets: "x" is not a whole number`},
		{"--seed=-1", `--seed: "-1" is not a whole number of at least 0`},
		{"--for=5", `--for: "5" is not a duration with a unit, such as 30s or 5m`},
		{"--strict=maybe", `--strict: "maybe" is not true or false`},
		{"--runtime=vm", `--runtime: "vm" is unknown: use auto, container or process`},
		{"--ads=", `--ads: "" is no address: write host:port with a port of at most 65535, as in 127.0.0.1:18000`},
		{"--ads=plane", `--ads: "plane" is no address: write host:port with a port of at most 65535, as in 127.0.0.1:18000`},
		{"--ads=plane:99999", `--ads: "plane:99999" is no address: write host:port with a port of at most 65535, as in 127.0.0.1:18000`},
		{"--none=1", "unknown flag: --none"},
	} {
		t.Run(tt.arg, func(t *testing.T) {
			t.Parallel()
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			var port uint16
			flags.Var(flagvalue.Port(&port, 8080), "port", "")
			flags.Int("sets", 0, "")
			flags.Uint64("seed", 0, "")
			flags.Duration("for", time.Minute, "")
			flags.Bool("strict", false, "")
			var ads string
			flags.Var(flagvalue.Address(&ads, ""), "ads", "")
			runtime := "auto"
			flags.Var(flagvalue.OneOf(&runtime, "auto", "container", "process"), "runtime", "")
			if got := flagvalue.Explain(flags.Parse([]string{tt.arg})); got == nil || got.Error() != tt.want {
				t.Errorf("%v, want %s", got, tt.want)
			}
		})
	}
	if other := errors.New("other"); flagvalue.Explain(other) != other {
		t.Error("another error does not stay as it is")
	}
}
