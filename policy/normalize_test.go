package policy_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
)

// TestPathNormalization is what Envoy was seen to forward, by what its HTTP
// connection manager is told: nothing, to normalize, to merge slashes too, and
// then to unescape or to refuse escaped slashes. "400" is a refusal.
func TestPathNormalization(t *testing.T) {
	t.Parallel()
	columns := []policy.PathNormalization{
		{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes},
		{KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes},
		{EscapedSlashes: policy.KeepEscapedSlashes},
		{EscapedSlashes: policy.UnescapeSlashes},
		{},
	}
	same := func(s string) [5]string { return [5]string{s, s, s, s, s} }
	for target, want := range map[string][5]string{
		"/admin":           same("/admin"),
		"/":                same("/"),
		"/admin?x=1":       same("/admin?x=1"),
		"/admin?":          same("/admin?"),
		"/admin?a=//b/../": same("/admin?a=//b/../"),
		"/admin?a=%2f":     same("/admin?a=%2f"),
		"/admin#frag":      same("400"),
		"/admin/":          same("/admin/"),
		"/admin/x":         same("/admin/x"),
		"/adminx":          same("/adminx"),
		"/admin;j=1":       same("/admin;j=1"),
		"/admin%20":        same("/admin%20"),
		"/admin%3fx":       same("/admin%3fx"),
		"/ADMIN":           same("/ADMIN"),
		"/%2561dmin":       same("/%2561dmin"),
		"*":                same("*"),
		"//admin":          {"//admin", "//admin", "/admin", "/admin", "/admin"},
		"//":               same("//"),
		"////":             {"////", "////", "//", "//", "//"},
		"/..//":            {"/..//", "//", "//", "//", "//"},
		"/./admin":         {"/./admin", "/admin", "/admin", "/admin", "/admin"},
		"/x/../admin":      {"/x/../admin", "/admin", "/admin", "/admin", "/admin"},
		"/x/%2e%2e/admin":  {"/x/%2e%2e/admin", "/admin", "/admin", "/admin", "/admin"},
		"/%61dmin":         {"/%61dmin", "/admin", "/admin", "/admin", "/admin"},
		`/\admin`:          {`/\admin`, "//admin", "/admin", "/admin", "/admin"},
		`/x\..\admin`:      {`/x\..\admin`, "/admin", "/admin", "/admin", "/admin"},
		"/%2fadmin":        {"/%2fadmin", "/%2fadmin", "/%2fadmin", "/admin", "400"},
		"/x%2f..%2fadmin":  {"/x%2f..%2fadmin", "/x%2f..%2fadmin", "/x%2f..%2fadmin", "/admin", "400"},
		"/admin%2fx":       {"/admin%2fx", "/admin%2fx", "/admin%2fx", "/admin/x", "400"},
		"/admin%5Cx":       {"/admin%5Cx", "/admin%5Cx", "/admin%5Cx", "/admin/x", "400"},
		"/admin%00":        {"/admin%00", "400", "400", "400", "400"},
		"/../admin":        {"/../admin", "/admin", "/admin", "/admin", "/admin"},
		"/..;/admin":       {"/..;/admin", "/admin", "/admin", "/admin", "/admin"},
		"/x/..;a;b/admin":  {"/x/..;a;b/admin", "/admin", "/admin", "/admin", "/admin"},
		"/x/.;/admin":      {"/x/.;/admin", "/x/admin", "/x/admin", "/x/admin", "/x/admin"},
		"/x/..;":           {"/x/..;", "/", "/", "/", "/"},
		"/x/%2e%2e;/admin": {"/x/%2e%2e;/admin", "/x/..;/admin", "/x/..;/admin", "/x/..;/admin", "/x/..;/admin"},
		"/x/..%3b/admin":   same("/x/..%3b/admin"),
		"/x/...;/admin":    same("/x/...;/admin"),
		"/x/;/../admin":    {"/x/;/../admin", "/x/admin", "/x/admin", "/x/admin", "/x/admin"},
		"/a{b}|^":          {"/a{b}|^", "/a%7Bb%7D%7C%5E", "/a%7Bb%7D%7C%5E", "/a%7Bb%7D%7C%5E", "/a%7Bb%7D%7C%5E"},
		"/\"<>`?{\"":       {"/\"<>`?{\"", "/%22%3C%3E%60?{\"", "/%22%3C%3E%60?{\"", "/%22%3C%3E%60?{\"", "/%22%3C%3E%60?{\""},
		"/{/..;^/%7b":      {"/{/..;^/%7b", "/%7b", "/%7b", "/%7b", "/%7b"},
		"/[x]%zz{'":        {"/[x]%zz{'", "/[x]%zz%7B'", "/[x]%zz%7B'", "/[x]%zz%7B'", "/[x]%zz%7B'"},
		"/admin/..":        {"/admin/..", "/", "/", "/", "/"},
		"/admin/.":         {"/admin/.", "/admin/", "/admin/", "/admin/", "/admin/"},
	} {
		for i, n := range columns {
			got, err := n.Apply(target)
			if err != nil {
				got = err.Error()
				if errors.Is(err, policy.ErrPathRejected) {
					got = "400"
				}
			}
			if got != want[i] {
				t.Errorf("%+v: %s becomes %s, want %s", n, target, got, want[i])
			}
		}
	}
}

// TestNormalizedPathsStayAsTheyAre draws paths without a percent sign, for an
// escape is undone once only and may yield another.
func TestNormalizedPathsStayAsTheyAre(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		target := "/" + rapid.StringMatching(`[a./\\?]{0,12}`).Draw(t, "target")
		once, err := policy.PathNormalization{}.Apply(target)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := (policy.PathNormalization{}).Apply(once); err != nil || twice != once {
			t.Fatalf("%s becomes %s, then %s, %v", target, once, twice, err)
		}
	})
}

func TestEscapedSlashesText(t *testing.T) {
	t.Parallel()
	for _, e := range []policy.EscapedSlashes{policy.RejectEscapedSlashes, policy.KeepEscapedSlashes, policy.UnescapeSlashes} {
		var got policy.EscapedSlashes
		if err := got.UnmarshalText([]byte(e.String())); err != nil || got != e {
			t.Errorf("%s reads back as %s, %v", e, got, err)
		}
	}
	var e policy.EscapedSlashes
	if err := e.UnmarshalText([]byte("redirect")); err == nil || err.Error() != `escapedSlashes "redirect" is unknown: use one of reject, keep, unescape` {
		t.Errorf("UnmarshalText(redirect) = %v", err)
	}
}

// TestDotParameters is what Envoy before 1.39.3 was seen to forward.
func TestDotParameters(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/..;/admin", "/x/..;a;b/admin", "/x/.;/admin"} {
		got, err := policy.PathNormalization{KeepDotParameters: true}.Apply(target)
		if got != target || err != nil {
			t.Errorf("%s became %q, %v", target, got, err)
		}
	}
}
