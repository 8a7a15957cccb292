package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// matcherText expands the short form of a matcher, such as "id=a path=/x/* GET":
// a trailing * makes a Prefix.
func matcherText(short string) string {
	var fields []string
	match := func(field, value string) string {
		prefix, ok := strings.CutSuffix(value, "*")
		if ok {
			return field + ": {type: Prefix, value: " + prefix + "}"
		}
		return field + ": {type: Exact, value: " + value + "}"
	}
	for _, word := range strings.Fields(short) {
		if id, ok := strings.CutPrefix(word, "id="); ok {
			fields = append(fields, match("spiffeId", "spiffe://td/"+id))
		} else if path, ok := strings.CutPrefix(word, "path="); ok {
			fields = append(fields, match("path", path))
		} else {
			fields = append(fields, "method: "+word)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// neverAllows returns who is denied by each warning of a hidden allow.
func neverAllows(ws []policy.Warning) []string {
	var out []string
	for _, w := range ws {
		if _, by, ok := strings.Cut(w.Message, "never allows: "); ok {
			_, whom, _ := strings.Cut(by, " denies ")
			out = append(out, whom)
		}
	}
	return out
}

func TestLintHidden(t *testing.T) {
	t.Parallel()
	const identities, requests, everybody = "the same identities", "the same requests", "everybody"
	http, tcp := fixture.Inbounds()[:1], fixture.Inbounds()[2:3]
	for _, tt := range []struct {
		deny, allow string
		in          []policy.Inbound
		want        string
	}{
		{deny: "GET", allow: "GET", in: http, want: requests},
		{deny: "GET", allow: "PUT", in: http},
		{deny: "GET", allow: "path=/a", in: http},
		{deny: "GET", allow: "id=a", in: http},
		{deny: "GET", allow: "id=a path=/a GET", in: http, want: requests},

		{deny: "path=/a", allow: "path=/a", in: http, want: requests},
		{deny: "path=/a", allow: "path=/a*", in: http},
		{deny: "path=/a", allow: "path=/a/", in: http},
		{deny: "path=/a*", allow: "path=/a", in: http, want: requests},
		{deny: "path=/a*", allow: "path=/a/b", in: http, want: requests},
		{deny: "path=/a*", allow: "path=/a/b*", in: http, want: requests},
		{deny: "path=/a*", allow: "path=/ab", in: http},
		{deny: "path=/a*", allow: "path=/ab*", in: http},
		{deny: "path=/a/*", allow: "path=/a*", in: http, want: requests},
		{deny: "path=/a/b*", allow: "path=/a*", in: http},
		{deny: "path=/a*", allow: "GET", in: http},
		{deny: "path=/a*", allow: "id=a", in: http},
		{deny: "path=/a*", allow: "id=a path=/a GET", in: http, want: requests},
		{deny: "path=/", allow: "path=/*", in: http},

		{deny: "path=/*", allow: "path=/a", in: http, want: everybody},
		{deny: "path=/*", allow: "GET", in: http, want: everybody},
		{deny: "path=/*", allow: "id=a*", in: http, want: everybody},
		{deny: "path=/* GET", allow: "GET", in: http, want: requests},
		{deny: "path=/* GET", allow: "path=/*", in: http},
		{deny: "id=a path=/*", allow: "id=a", in: http, want: identities},
		{deny: "id=a path=/*", allow: "id=b", in: http},

		{deny: "id=a", allow: "id=a path=/a", in: http, want: identities},
		{deny: "id=a/*", allow: "id=a/b*", in: http, want: identities},
		{deny: "id=a/b", allow: "id=a/*", in: http},
		{deny: "id=a", allow: "id=a*", in: http},
		{deny: "id=a", allow: "GET", in: http},

		{deny: "id=a GET", allow: "id=a GET", in: http, want: requests},
		{deny: "id=a GET", allow: "id=a PUT", in: http},
		{deny: "id=a GET", allow: "id=b GET", in: http},
		{deny: "id=a GET", allow: "id=a", in: http},
		{deny: "id=a GET", allow: "GET", in: http},
		{deny: "id=a/* GET", allow: "id=a/b GET", in: http, want: requests},
		{deny: "id=a/* GET", allow: "id=b/a GET", in: http},
		{deny: "id=a path=/a*", allow: "id=a path=/a/b", in: http, want: requests},
		{deny: "id=a path=/a*", allow: "id=a path=/b", in: http},
		{deny: "id=a path=/a*", allow: "path=/a", in: http},
		{deny: "path=/a* GET", allow: "path=/a GET", in: http, want: requests},
		{deny: "path=/a* GET", allow: "path=/a", in: http},
		{deny: "path=/a* GET", allow: "id=a GET", in: http},
		{deny: "id=a* path=/a* GET", allow: "id=ab path=/a/b GET", in: http, want: requests},
		{deny: "id=a* path=/a* GET", allow: "id=ab path=/a/b PUT", in: http},

		{deny: "GET", allow: "id=a", in: tcp, want: everybody},
		{deny: "path=/a", allow: "id=a*", in: tcp, want: everybody},
		{deny: "id=a GET", allow: "id=a", in: tcp, want: identities},
		{deny: "id=a GET", allow: "id=b", in: tcp},
		{deny: "id=a GET", allow: "GET", in: tcp},

		{deny: "GET", allow: "id=a", in: fixture.Inbounds()},
		{deny: "GET", allow: "GET", in: fixture.Inbounds(), want: requests},
	} {
		for _, list := range []string{"allow", "allowWithShadowDeny"} {
			one := "{type: MeshTrafficPermission, name: p, spec: {default: {" + list + ": [" + matcherText(tt.allow) + "], deny: [" + matcherText(tt.deny) + "]}}}"
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, neverAllows(lint.Lint(fixture.Parse(t, one), tt.in, permission.Options{}))); diff != "" {
				t.Errorf("%s %s under deny %s on %d inbounds (-want +got):\n%s", list, tt.allow, tt.deny, len(tt.in), diff)
			}
		}
	}
}

// TestLintHiddenIsSound holds the findings of every deny beside every allow against
// what the evaluation lets through.
func TestLintHiddenIsSound(t *testing.T) {
	t.Parallel()
	var shorts []string
	for _, id := range []string{"", "id=a", "id=a*", "id=a/b", "id=a/*"} {
		for _, path := range []string{"", "path=/", "path=/*", "path=/a", "path=/a*", "path=/a/b", "path=/a/*", "path=/ab*"} {
			for _, method := range []string{"", "GET", "PUT"} {
				if short := strings.TrimSpace(id + " " + path + " " + method); short != "" {
					shorts = append(shorts, short)
				}
			}
		}
	}
	var requests []policy.Request
	for _, id := range []string{"a", "ab", "a/b", "a/c", "b"} {
		for _, path := range []string{"*", "/", "/a", "/a/", "/a/b", "/a/c", "/ab", "/ab/c", "/b"} {
			for _, method := range []string{"GET", "PUT", "DELETE"} {
				requests = append(requests, policy.Request{URIs: []string{"spiffe://td/" + id}, Path: path, Method: method})
			}
		}
	}
	// The requests that each matcher meets, of an inbound that allows them.
	in := fixture.Inbounds()[:1]
	meets := make([][]bool, len(shorts))
	for i, short := range shorts {
		ps := fixture.Parse(t, "{type: MeshTrafficPermission, name: p, spec: {default: {allow: ["+matcherText(short)+"]}}}")
		for _, r := range requests {
			meets[i] = append(meets[i], evaluation.Evaluate(ps, in[0], permission.Options{}, r).Effect == policy.Allow)
		}
	}
	var allows []string
	for _, allow := range shorts {
		allows = append(allows, matcherText(allow))
	}
	for d, deny := range shorts {
		ps := fixture.Parse(t, "type: MeshTrafficPermission\nname: p\nspec:\n  default:\n    deny: ["+matcherText(deny)+"]\n    allow:\n    - "+strings.Join(allows, "\n    - "))
		hidden := make(map[string]bool)
		for _, w := range lint.TakeSurvey(ps, in, permission.Options{}).Hidden {
			_, item, _ := strings.Cut(w.Place, ".allow")
			hidden[item] = true
		}
		if len(hidden) == 0 {
			t.Errorf("deny %s hides nothing, not even itself", deny)
		}
		for a, allow := range shorts {
			left := false
			for r := range requests {
				left = left || meets[a][r] && !meets[d][r]
			}
			said := hidden[fmt.Sprintf("[%d]", a)]
			if said == left {
				t.Errorf("allow %s under deny %s: hidden is %t, but something left is %t", allow, deny, said, left)
			}
		}
	}
}
