package authorization_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
)

// TestLintSplit warns where a policy has a rule for callers and one for ports.
func TestLintSplit(t *testing.T) {
	t.Parallel()
	const (
		callers = "{sources: [{type: ServiceAccount, serviceAccount: {name: cart}}]}"
		ports   = "{networkAttributes: {ports: [8080]}}"
		both    = "{sources: [{type: ServiceAccount, serviceAccount: {name: cart}}], networkAttributes: {ports: [8080]}}"
	)
	for _, tt := range []struct{ name, rules, field string }{
		{"apart", "[" + callers + ", " + ports + "]", "spec.rules[1]"},
		{"the other way", "[" + ports + ", " + callers + "]", "spec.rules[0]"},
		{"together", "[" + both + "]", ""},
		{"callers alone", "[" + callers + ", " + both + "]", ""},
		{"ports alone", "[" + ports + ", " + both + "]", ""},
		{"everybody", "[" + callers + ", {}]", ""},
		{"nobody", "[{sources: []}, " + ports + "]", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var field string
			for _, w := range authorization.Lint(parseAll(t, one("p", "{}", tt.rules)), inbounds()) {
				if w.Kind == "split-rule" {
					_, field, _ = strings.Cut(w.Place, ": ")
				}
			}
			if field != tt.field {
				t.Errorf("got %q, want %q", field, tt.field)
			}
		})
	}
}
