package claim_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/property"
)

// TestKey holds how places are written.
func TestKey(t *testing.T) {
	t.Parallel()
	for want, path := range map[string][]string{
		"sub":                   {"sub"},
		"groups[]":              {"groups", "[]"},
		"level#":                {"level", "#"},
		"levels[#]":             {"levels", "[#]"},
		"realm.name?":           {"realm", "name", "?"},
		`"?"`:                   {"?"},
		`a."[#]".b`:             {"a", "[#]", "b"},
		`"#"`:                   {"#"},
		`a."#".b`:               {"a", "#", "b"},
		"realm_access.roles[]":  {"realm_access", "roles", "[]"},
		`"kubernetes.io".pod`:   {"kubernetes.io", "pod"},
		`"[]"`:                  {"[]"},
		`""`:                    {""},
		`a."[]".b`:              {"a", "[]", "b"},
		`"https://x.example/r"`: {"https://x.example/r"},
		`"with \" quote and ü"`: {`with " quote and ü`},
		`"a[]"`:                 {"a[]"},
		`"https://x.example"[]`: {"https://x.example", "[]"},
	} {
		if got := claim.Key(path...); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	for _, key := range []string{"", "[]", "#", "?", "[#]", "a?#", "a[#]#", "a#[]", "a[]#", ".a", "a.", "a..b", "a b", `"a`, "a[]b", `"a"b`} {
		if path, _ := claim.Path(key); path != nil {
			t.Errorf("%s is no key, but has the path %q", key, path)
		}
	}
}

// TestPath reads drawn keys back: no two places share a key.
func TestPath(t *testing.T) {
	t.Parallel()
	segment := rapid.OneOf(rapid.SampledFrom([]string{"[]", "#", "[#]", "?", "a", "", ".", `"`, `\`, "a.b"}), rapid.StringMatching(`[a-z.\[\]"\\]{0,4}`), rapid.String())
	property.Check(t, func(t *rapid.T) {
		path := rapid.SliceOfN(segment, 1, 4).Draw(t, "path")
		got, form := claim.Path(claim.Key(path...))
		if form != "" {
			got = append(got, form)
		}
		if !slices.Equal(got, path) {
			t.Fatalf("%q is %s, which is read as %q", path, claim.Key(path...), got)
		}
	})
}
