package token

import (
	"strings"
	"testing"
)

// Two readers of one text must take the same keys out of it: Go takes names in any letters, and the last of
// two, and Envoy takes them letter by letter.
func TestKeysOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"keys": [{"kty": "EC", "x": "b"}, {"kty": "EC", "x": "a"}]}`: `[{"kty":"EC","x":"a"},{"kty":"EC","x":"b"}]`,
		`{"keys": [{"n": 12345678901234567890}]}`:                      `[{"n":12345678901234567890}]`,
		`{"keys": []}`:                            `[]`,
		`{"keys": [{"x": "a"}], "KEYS": []}`:      `[{"x":"a"}]`,
		`{"keys": [{"x": "a"}], "\u212Aeys": []}`: `[{"x":"a"}]`,
		`{"KEYS": []}`:                            "which has a list keys",
		`{"keys": [{"x": "a"}], "keys": []}`:      `member "keys" stands in it twice`,
		`{"keys": [{"x": "a", "x": "b"}]}`:        `member "x" stands in it twice`,
		`{"keys": ["a"]}`:                         "a key is an object",
		`{"keys": {}}`:                            "which has a list keys",
		`{"keys": []} {}`:                         "something stands behind it",
		`{"keys": [`:                              "no JSON Web Key Set",
		`[`:                                       "no JSON Web Key Set",
		``:                                        "no JSON Web Key Set",
	} {
		got, err := KeysOf(text)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
