package explanation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/token"
)

// TestParseClaims reads claims as flags write them.
func TestParseClaims(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]any{
		"":                                nil,
		"sub=alice":                       {"sub": "alice"},
		"sub=":                            {"sub": ""},
		"groups[]=dev groups[]=a=b sub=x": {"sub": "x", "groups": []any{"dev", "a=b"}},
		`realm."a=b".roles[]=dev`:         {"realm": map[string]any{"a=b": map[string]any{"roles": []any{"dev"}}}},
		`level#=7 levels[#]=1.5 levels[#]=true levels[]=x`: {"level": 7.0, "levels": []any{1.5, true, "x"}},
		`a?={} b?=[] c.d?={}`:                              {"a": map[string]any{}, "b": []any{}, "c": map[string]any{"d": map[string]any{}}},
	} {
		got, err := parseClaims(strings.Fields(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got.Payload()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		words, ok := claimWords(got)
		again, err := parseClaims(strings.Split(strings.TrimPrefix(strings.Join(append([]string{""}, words...), " "), " --claim "), " --claim "))
		if text == "" {
			again, err = parseClaims(words)
		}
		if !ok || err != nil || cmp.Diff(want, again.Payload()) != "" {
			t.Errorf("%s: written as %q, read as %v: %v", text, words, again.Payload(), err)
		}
	}
	for _, text := range []string{"sub", "level#=x", "levels[#]=07", "a?=1", "=a", "a b=c", "sub=a sub=b"} {
		texts := strings.Fields(text)
		if text == "a b=c" {
			texts = []string{text}
		}
		if _, err := parseClaims(texts); err == nil {
			t.Errorf("%q is not refused", text)
		}
	}
	for _, odd := range []*token.Token{{Claims: map[string]any{"exp": 7}}, {Claims: map[string]any{"sub": "a"}, Fault: token.Expired}} {
		if words, ok := claimWords(odd); ok {
			t.Errorf("%s is written as %q", token.Text(odd), words)
		}
	}
}
