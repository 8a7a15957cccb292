package advisory_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/advisory"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

func TestStateOfAnAdvisory(t *testing.T) {
	t.Parallel()
	passed, gated := advisory.Outcome{Passed: true, Asked: true}, advisory.Outcome{NotApplicable: true, Asked: true}
	for name, tt := range map[string]struct {
		outcomes []advisory.Outcome
		want     advisory.State
	}{
		"no result":                     {nil, advisory.Unknown},
		"all as wanted":                 {[]advisory.Outcome{passed, passed}, advisory.Absent},
		"one as without a fix":          {[]advisory.Outcome{passed, gated}, advisory.Present},
		"one went wrong":                {[]advisory.Outcome{gated, {Failed: true, Asked: true}}, advisory.Wrong},
		"one was not run":               {[]advisory.Outcome{passed, {}}, advisory.Unknown},
		"one needs what is not claimed": {[]advisory.Outcome{passed, {NotApplicable: true}}, advisory.Unknown},
	} {
		if got := advisory.StateOf(tt.outcomes...); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

const detour = `case: a deny with an open rest
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080, protocol: http}, {name: tcp-port, port: 5432, protocol: tcp}]}]
options: {OPTIONS}
policies:
  - type: MeshTrafficPermission
    mesh: default
    name: p
    spec: {default: {deny: [{path: {type: Prefix, value: /admin/users}}], allow: [{path: {type: Prefix, value: PATH}}]}}
requests: [{from: spiffe://trust-domain.mesh/a, to: backend/http-port, want: deny, path: /admin/users}]
`

// TestAttempts holds the requests that a flaw lets past policies.
func TestAttempts(t *testing.T) {
	t.Parallel()
	flawed := behavior.Set{}.Change(behavior.DotParameters, false)
	for _, tt := range []struct {
		name, path, options string
		envoy               behavior.Set
		want                []string
	}{
		{"an open rest", "/", "", flawed, []string{"/..;/admin/users"}},
		{"an open rest, without the flaw", "/", "", behavior.Set{}, nil},
		// Paths outside of /public are denied by default, and reached through it.
		{"an open folder", "/public/news", "", flawed, []string{"/public/news/..;/..;/admin/users", "/public/news/..;/..;/"}},
		{"a listener that normalizes nothing", "/", "pathNormalization: {normalizePath: false, mergeSlashes: false, escapedSlashes: keep}", flawed, nil},
	} {
		text := strings.NewReplacer("PATH", tt.path, "OPTIONS", tt.options).Replace(detour)
		reading, err := verdict.Read(casetest.Parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		attempt := advisory.Attempts(reading, tt.envoy)
		var got []string
		for _, q := range attempt.Reading.Case.Requests {
			got = append(got, q.Path)
			if e, ok := attempt.Reading.OnEnvoy(tt.envoy).Inbound(q.To).Expect(q).(verdict.Judged); !ok || e.Decision.Effect != policy.Allow {
				t.Errorf("%s: %s does not pass: %+v", tt.name, q.Path, e)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

const secondLine = `case: a deny on a header
workloads: [{name: backend, namespace: shop, inbounds: [{port: 8080, protocol: http}]}]
policies:
  - apiVersion: security.istio.io/v1
    kind: AuthorizationPolicy
    metadata: {name: no-admin, namespace: shop}
    spec: {action: DENY, rules: [{when: [{key: "request.headers[x-role]", values: [admin]}]}]}
requests: [{from: spiffe://trust-domain.mesh/a, to: backend/8080, want: allow}]
`

// TestAttemptsOfOthers has rules whose first witness no other rule lets in: a flaw lets pass only the callers, and the paths, that another rule
// allows.
func TestAttemptsOfOthers(t *testing.T) {
	t.Parallel()
	const web = "spiffe://trust-domain.mesh/ns/shop/sa/web"
	flawed := behavior.Set{}.Change(behavior.HeaderLines, false).Change(behavior.DotParameters, false)
	for name, tt := range map[string]struct{ deny, allow, want string }{
		"a caller":            {`{when: [{key: "request.headers[x-role]", values: [admin]}]}`, `{from: [{source: {principals: [trust-domain.mesh/ns/shop/sa/web]}}]}`, web + " / 2"},
		"a caller and a path": {`{when: [{key: "request.headers[x-role]", values: [admin]}]}`, `{from: [{source: {principals: [trust-domain.mesh/ns/shop/sa/web]}}], to: [{operation: {paths: [/api]}}]}`, web + " /api 2"},
		"a caller by a path":  {`{to: [{operation: {paths: [/admin*]}}]}`, `{from: [{source: {principals: [trust-domain.mesh/ns/shop/sa/web]}}]}`, web + " /..;/admin 0"},
		"a caller by the beginning of the header": {`{when: [{key: "request.headers[x-role]", values: [admin]}]}`, `{from: [{source: {principals: [trust-domain.mesh/ns/shop/sa/web]}}], when: [{key: "request.headers[x-role]", values: [user*]}]}`, web + " / 3"},
		"a caller by the end of the header":       {`{when: [{key: "request.headers[x-role]", values: [admin]}]}`, `{from: [{source: {principals: [trust-domain.mesh/ns/shop/sa/web]}}], when: [{key: "request.headers[x-role]", values: ["*user"]}]}`, web + " / 3"},
		"nobody":                                  {`{when: [{key: "request.headers[x-role]", values: [admin]}]}`, ``, ""},
	} {
		text := strings.Replace(secondLine, "requests:", `  - apiVersion: security.istio.io/v1
    kind: AuthorizationPolicy
    metadata: {name: callers, namespace: shop}
    spec: {rules: [`+tt.allow+`]}
requests:`, 1)
		text = strings.Replace(text, `{when: [{key: "request.headers[x-role]", values: [admin]}]}`, tt.deny, 1)
		reading, err := verdict.Read(casetest.Parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, q := range advisory.Attempts(reading, flawed).Reading.Case.Requests {
			got = append(got, fmt.Sprintf("%s %s %d", q.From.Name, cmp.Or(q.Path, "/"), len(q.Headers)))
		}
		if text := strings.Join(got, "; "); text != tt.want {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
	}
}

// TestAttemptsByHeaders holds the lines that get past a deny on a header where an Envoy joins
// lines, and that nothing is tried where it does not.
func TestAttemptsByHeaders(t *testing.T) {
	t.Parallel()
	reading, err := verdict.Read(casetest.Parse(t, secondLine))
	if err != nil {
		t.Fatal(err)
	}
	joins := behavior.Set{}.Change(behavior.HeaderLines, false)
	asked := advisory.Attempts(reading, joins).Reading.Case.Requests
	if len(asked) != 1 || len(asked[0].Headers) < 2 {
		t.Errorf("%d requests, want one with several lines: %+v", len(asked), asked)
	}
	if asked := advisory.Attempts(reading, behavior.Set{}).Reading.Case.Requests; len(asked) != 0 {
		t.Errorf("an Envoy with the fix is asked: %+v", asked)
	}
}

// TestStrangeCallers has policies whose callers are all of a trust domain that nothing states: no search finds one of them, and the report says so.
func TestStrangeCallers(t *testing.T) {
	t.Parallel()
	ask := func(r *verdict.Reading) result.Case { return result.Case{Case: r.Case} }
	const allow = `  - apiVersion: security.istio.io/v1
    kind: AuthorizationPolicy
    metadata: {name: callers, namespace: shop}
    spec: {rules: [{from: [{source: {principals: [CALLERS]}}]}]}
requests:`
	joins := behavior.Set{}.Change(behavior.HeaderLines, false)
	for name, tt := range map[string]struct {
		callers string
		envoy   behavior.Set
		want    string
	}{
		"callers of the mesh":                  {"trust-domain.mesh/ns/shop/sa/web", joins, ""},
		"callers of another mesh":              {"other.mesh/ns/shop/sa/web", joins, "are about callers of other.mesh, and the inbound trusts trust-domain.mesh"},
		"callers of both":                      {"other.mesh/ns/shop/sa/web, trust-domain.mesh/ns/shop/sa/web", joins, ""},
		"callers of another mesh, and no flaw": {"other.mesh/ns/shop/sa/web", behavior.Set{}, ""},
		"callers of any mesh":                  {"'*/ns/shop/sa/web'", joins, ""},
	} {
		text := strings.Replace(secondLine, "requests:", strings.Replace(allow, "CALLERS", tt.callers, 1), 1)
		reading, err := verdict.Read(casetest.Parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		r := advisory.Report{Behavior: tt.envoy}
		r.Search([]*verdict.Reading{reading, reading}, ask)
		if got := strings.Join(r.Notes, "; "); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") || len(r.Notes) > 1 {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestDocumentLists compares the list of the document with the cases.
func TestDocumentLists(t *testing.T) {
	golden.Section(t, "../../docs/advisories.md", "advisories", listed(advisory.Known(casetest.Stories(t))))
}

func listed(known []advisory.Advisory) string {
	var b strings.Builder
	b.WriteString("| advisory | of | what the author of a policy loses | fixed in | told by |\n|---|---|---|---|---|\n")
	for _, a := range known {
		told := "all releases here have the fix"
		if flaw, ok := a.Behavior(); ok {
			told = "`" + flaw.String() + "`"
		} else if a.Product != "Envoy" {
			told = "the compiler under test"
		}
		file, _, _ := strings.Cut(a.Cases[0].Place, ":")
		names := strings.Join(append([]string{fmt.Sprintf("[%s](../%s)", a.ID, file)}, a.Aliases...), ", ")
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", names, a.Product, a.Loses, strings.Join(a.Fixed, ", "), told)
	}
	return b.String()
}

// TestAdvisoryIsNeeded refuses what gives a case of an advisory no meaning.
func TestAdvisoryIsNeeded(t *testing.T) {
	t.Parallel()
	for want, advisory := range map[string]string{
		"is no number of an advisory": "{id: CVE-26-1, product: Envoy, loses: a deny}",
		"the product is missing":      "{id: CVE-2026-73551, loses: a deny}",
		"the loss is missing":         "{id: kuma#16873, product: Kuma}",
		"one of them is no number":    "{id: CVE-2026-73551, aliases: [GHSA], product: Envoy, loses: a deny}",
		"did you mean fixed?":         "{id: CVE-2026-73551, product: Envoy, loses: a deny, fix: 1.0.0}",
	} {
		text := strings.Replace(detour, "options: {OPTIONS}", "advisory: "+advisory, 1)
		if _, err := cases.Parse("test.yaml", []byte(strings.Replace(text, "PATH", "/", 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", advisory, err, want)
		}
	}
}
