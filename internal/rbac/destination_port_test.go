package rbac

import (
	"regexp"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
)

// TestPortsRegex compares the regular expression of a range with its numbers.
func TestPortsRegex(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"8000-8999": `8[0-9]{3}`,
		"80-80":     `80`,
		"0-9":       `[0-9]`,
		"1-65535":   `[1-9]|[1-9][0-9]|[1-9][0-9]{2}|[1-9][0-9]{3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]`,
	} {
		if got := portsRegex(policy.Match{Kind: policy.Range, Value: text}); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	property.Check(t, func(t *rapid.T) {
		first := rapid.Uint16().Draw(t, "first")
		last := rapid.Uint16Min(first).Draw(t, "last")
		text := portsRegex(policy.Match{Kind: policy.Range, Value: endpoint.PortsText(first, last)})
		expression := regexp.MustCompile(`^(?:` + text + `)$`)
		for _, port := range []int{int(first) - 1, int(first), int(first) + 1, int(last) - 1, int(last), int(last) + 1, int(rapid.Uint16().Draw(t, "port"))} {
			if got, want := expression.MatchString(strconv.Itoa(port)), int(first) <= port && port <= int(last); got != want {
				t.Fatalf("%d-%d: %s matches %d: %t", first, last, text, port, got)
			}
		}
	})
}
