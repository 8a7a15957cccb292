package plainpath_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/plainpath"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
)

func TestNormalize(t *testing.T) {
	t.Parallel()
	const refused = "refused"
	for _, tt := range []struct {
		how        policy.PathNormalization
		path, want string
	}{
		{path: "/a/b", want: "/a/b"},
		{path: "/a/../b", want: "/b"},
		{path: "/a/./b/.", want: "/a/b/"},
		{path: "/..", want: "/"},
		{path: "/a//b///", want: "/a/b/"},
		{path: "/a//../b", want: "/a/b"},
		{path: "/", want: "/"},
		{path: "//", want: "//"},
		{path: "////?x", want: "//?x"},
		{path: "/a/..//", want: "//"},
		{path: `/a\..\b`, want: "/b"},
		{path: "/%61%2e%2E/x", want: "/a../x"},
		{path: "/a/%2e%2e/x", want: "/x"},
		{path: "/a/..;x/b", want: "/b"},
		{path: "/a/%2e%2e;x/b", want: "/a/..;x/b"},
		{path: "/%2561", want: "/%2561"},
		{path: "/a{b}|^`\"<>?{", want: "/a%7Bb%7D%7C%5E%60%22%3C%3E?{"},
		{path: "/a{", how: policy.PathNormalization{Raw: true}, want: "/a{"},
		{path: "/a?b=../c//d%2F", want: "/a?b=../c//d%2F"},
		{path: "*", want: "*"},
		{path: "/a%00", want: refused},
		{path: "/a#b", want: refused},
		{path: "/a%2Fb", want: refused},
		{path: "/a%5cb", want: refused},
		{path: "/a%2Fb", how: policy.PathNormalization{EscapedSlashes: policy.UnescapeSlashes}, want: "/a/b"},
		{path: "/a/x%2f../b", how: policy.PathNormalization{EscapedSlashes: policy.UnescapeSlashes}, want: "/a/b"},
		{path: "/a%2fb", how: policy.PathNormalization{EscapedSlashes: policy.KeepEscapedSlashes}, want: "/a%2fb"},
		{path: "/a//b", how: policy.PathNormalization{KeepSlashes: true}, want: "/a//b"},
		{path: "/a/../b//c", how: policy.PathNormalization{Raw: true}, want: "/a/../b/c"},
		{path: "/a/..;x/b", how: policy.PathNormalization{KeepDotParameters: true}, want: "/a/..;x/b"},
	} {
		got, ok := plainpath.Normalize(tt.how, tt.path)
		if !ok {
			got = refused
		}
		if got != tt.want {
			t.Errorf("%q under %+v is %q, want %q", tt.path, tt.how, got, tt.want)
		}
	}
}

// The two readings of a path agree.
func TestNormalizeAgrees(t *testing.T) {
	t.Parallel()
	parts := []string{"/", "/", "//", ".", "..", "a", "b", "%2e", "%2E", "%2f", "%5C", "%00", "%61", "%25", "%2", "%", "%zz", ";x", "?", "#", `\`, "~", "{", "^", `"`, "é", "%c3", "*", " "}
	property.Check(t, func(r *rapid.T) {
		how := policy.PathNormalization{
			Raw: rapid.Bool().Draw(r, "raw"), KeepSlashes: rapid.Bool().Draw(r, "slashes"), KeepDotParameters: rapid.Bool().Draw(r, "parameters"),
			EscapedSlashes: policy.EscapedSlashes(rapid.IntRange(0, 2).Draw(r, "escaped")),
		}
		path := rapid.SampledFrom([]string{"/", "", "/a"}).Draw(r, "start")
		for _, part := range rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(r, "parts") {
			path += part
		}
		want, err := how.Apply(path)
		got, ok := plainpath.Normalize(how, path)
		if ok != (err == nil) || got != want {
			r.Fatalf("%q under %+v is %q (%t), and %q (%v)", path, how, got, ok, want, err)
		}
	})
}
