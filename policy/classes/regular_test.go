package classes

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
)

// TestSendable holds the languages of what can be sent against the plain rules.
func TestSendable(t *testing.T) {
	t.Parallel()
	spaces := map[string]space{
		"method of HTTP/1.1": methodSpace{}, "method of HTTP/2": methodSpace{tokens: true},
		"identity":         &callerSpace{known: []string{"td"}},
		"trusted identity": &callerSpace{known: []string{"td"}, trusted: []string{"td", "a.b"}},
	}
	for _, n := range []policy.PathNormalization{
		{}, {Raw: true}, {KeepSlashes: true}, {EscapedSlashes: policy.KeepEscapedSlashes}, {EscapedSlashes: policy.UnescapeSlashes}, {KeepDotParameters: true},
		{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes},
	} {
		spaces[strings.TrimSpace(strings.Join([]string{"path", n.EscapedSlashes.String(), map[bool]string{true: "raw"}[n.Raw], map[bool]string{true: "slashes"}[n.KeepSlashes], map[bool]string{true: "parameters"}[n.KeepDotParameters]}, " "))] = pathSpace{normalization: n}
	}
	parts := []string{"/", "a", "Z", "0", ".", "..", "-", "_", "~", ";", "%2f", "%5C", "%2e", "%41", "%7e", "%20", "%00", "%", "%2", "//", "/./", "/../", "..;x", "?", "#", `\`, " ", "é",
		"spiffe://", "td", "a.b", "/ns/a", "GET", "CONNECT", "MSEARCH", ",", "@", "|"}
	for name, in := range spaces {
		sets := languagesOf(in)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			property.Check(t, func(t *rapid.T) {
				value := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 6).Draw(t, "parts"), "")
				if strings.Contains(name, "identity") && rapid.Bool().Draw(t, "id") {
					value = "spiffe://td/" + value
				}
				sound := in.sound(value) == nil && value != "" && !(strings.HasPrefix(name, "path") && strings.Contains(value, "?"))
				if strings.Contains(name, "identity") && strings.Contains(value, ",") {
					sound = false
				}
				for i, l := range sets {
					if got := l.Matches(value); got != sound && (got || i == len(sets)-1) {
						t.Fatalf("language %d has %q: %t, want %t (%v)", i, value, got, sound, in.sound(value))
					}
				}
			})
		})
	}
}
