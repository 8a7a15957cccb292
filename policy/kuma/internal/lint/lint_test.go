package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

func TestLint(t *testing.T) {
	t.Parallel()
	named := func(name, spec string) string {
		return "{type: MeshTrafficPermission, name: " + name + ", spec: {" + spec + "}}"
	}
	one := func(spec string) string { return named("p", spec) }
	allow := func(matcher string) string { return one("default: {allow: [{" + matcher + "}]}") }
	prefix := func(value string) string { return "spiffeId: {type: Prefix, value: '" + value + "'}" }
	exact := func(value string) string { return "spiffeId: {type: Exact, value: '" + value + "'}" }
	path := func(kind, value string) string { return "path: {type: " + kind + ", value: '" + value + "'}" }
	http := fixture.Inbounds()[:1]
	for _, tt := range []struct {
		name, policies string
		inbounds       []policy.Inbound
		want           []string
	}{
		{name: "nothing to say", policies: allow(exact("spiffe://td/a")), inbounds: fixture.Inbounds()},
		{name: "allow by server name", policies: allow("sni: {type: Exact, value: a.example}"), inbounds: fixture.Inbounds()},
		{name: "deny by server name", policies: one("default: {deny: [{sni: {type: Exact, value: a.example}}]}"), inbounds: http,
			want: []string{"policies.yaml:1: spec.default.deny[0].sni: a caller can send another server name than a.example, or none, and is not denied then: deny the identity, or allow by server name [deny-by-server-name]"}},
		{name: "address as a server name", policies: allow("sni: {type: Exact, value: 10.0.0.1}"), inbounds: http,
			want: []string{"policies.yaml:1: spec.default.allow[0].sni: 10.0.0.1 is an address: a client sends no server name to an address, so that this never matches [never-matches]"}},
		{name: "deny by server name hides no other name", policies: one("default: {deny: [{sni: {type: Exact, value: a.example}, method: GET}], allow: [{sni: {type: Exact, value: b.example}, method: GET}, {sni: {type: Exact, value: a.example}, method: GET}]}"), inbounds: http,
			want: []string{
				"policies.yaml:1: spec.default.deny[0].sni: a caller can send another server name than a.example, or none, and is not denied then: deny the identity, or allow by server name [deny-by-server-name]",
				"policies.yaml:1: spec.default.allow[1]: never allows: kri_mtp_default___p_ denies the same requests [hidden-by-deny]",
			}},
		{name: "nothing at all", policies: "", inbounds: fixture.Inbounds()},
		{name: "no spec", policies: "{type: MeshTrafficPermission, name: p}", inbounds: http,
			want: []string{"policies.yaml:1: spec: MeshTrafficPermission p has no rules: it has no effect [no-rules]"}},
		{name: "empty spec", policies: one(""), want: []string{"policies.yaml:1: spec: MeshTrafficPermission p has no rules: it has no effect [no-rules]"}},
		{name: "empty rules", policies: one("rules: []"), want: []string{"policies.yaml:1: spec: MeshTrafficPermission p has no rules: it has no effect [no-rules]"}},
		{name: "empty default", policies: one("default: {}"), want: []string{"policies.yaml:1: spec.default: no list has a matcher: the rule has no effect [empty-list]"}},
		{name: "empty lists only", policies: one("default: {deny: [], allow: []}"), want: []string{"policies.yaml:1: spec.default: no list has a matcher: the rule has no effect [empty-list]"}},
		{name: "empty rule", policies: one("rules: [{}, {default: {deny: [{method: GET}]}}]"),
			want: []string{"policies.yaml:1: spec.rules[0].default: no list has a matcher: the rule has no effect [empty-list]"}},
		{name: "empty list beside another", policies: one("default: {allowWithShadowDeny: [], deny: [{method: GET}]}"),
			want: []string{"policies.yaml:1: spec.default.allowWithShadowDeny: the list is empty: it has no effect [empty-list]"}},
		{name: "prefix of a namespace", policies: allow(prefix("spiffe://td/ns/observability")), want: []string{
			"policies.yaml:1: spec.default.allow[0]: prefix spiffe://td/ns/observability does not end in a slash: " +
				"it also admits spiffe://td/ns/observability-evil/...; write spiffe://td/ns/observability/, or Exact for each identity: Kuma up to 2.14 refuses a slash at the end [prefix-inside-name]"}},
		{name: "prefix of a denied namespace", policies: one("default: {deny: [{" + prefix("spiffe://td/ns/a") + "}]}"), want: []string{
			"policies.yaml:1: spec.default.deny[0]: prefix spiffe://td/ns/a does not end in a slash: " +
				"it also denies spiffe://td/ns/a-evil/...; if that may get in, write spiffe://td/ns/a/, or Exact for each identity: Kuma up to 2.14 refuses a slash at the end [prefix-inside-name]"}},
		{name: "a denied namespace as a whole name", policies: one("default: {deny: [{spiffeId: {type: Exact, value: spiffe://td/ns/a}}]}"), want: []string{
			"policies.yaml:1: spec.default.deny[0]: spiffe://td/ns/a ends behind a namespace, and no service account has such an identity: " +
				"it denies nobody; write spiffe://td/ns/a/sa/ACCOUNT for each account, or a Prefix [never-matches]"}},
		{name: "accounts of a namespace as a whole name", policies: allow("spiffeId: {type: Exact, value: spiffe://td/ns/a/sa}"), want: []string{
			"policies.yaml:1: spec.default.allow[0]: spiffe://td/ns/a/sa ends behind a namespace, and no service account has such an identity: " +
				"it admits nobody; write spiffe://td/ns/a/sa/ACCOUNT for each account, or a Prefix [never-matches]"}},
		{name: "whole names", policies: one("default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/ns/a/sa/b}}, {spiffeId: {type: Exact, value: spiffe://td/a}}]}")},
		{name: "prefix of an account", policies: allow(prefix("spiffe://td/ns/a/sa/cart")), want: []string{
			"policies.yaml:1: spec.default.allow[0]: prefix spiffe://td/ns/a/sa/cart does not end in a slash: " +
				"it also admits spiffe://td/ns/a/sa/cart-evil; write Exact for this one identity [prefix-inside-name]"}},
		{name: "prefix of a trust domain", policies: allow(prefix("spiffe://td.mesh")), want: []string{
			"policies.yaml:1: spec.default.allow[0]: prefix spiffe://td.mesh breaks off inside a trust domain: " +
				"it also admits the trust domain spiffe://td.mesh-evil; write spiffe://td.mesh/ [prefix-inside-name]"}},
		{name: "whole prefixes", policies: one("default: {allow: [{" + prefix("spiffe://td/") + "}], deny: [{" + prefix("spiffe://td/ns/a/") + "}]}")},
		{name: "path with two slashes", policies: allow(path("Exact", "/a//b")),
			want: []string{"policies.yaml:1: spec.default.allow[0].path: path /a//b never matches: by default the listener turns it into /a/b first; write that [never-matches]"}},
		{name: "path with a dot segment", policies: allow(path("Exact", "/a/./b")),
			want: []string{"policies.yaml:1: spec.default.allow[0].path: path /a/./b never matches: by default the listener turns it into /a/b first; write that [never-matches]"}},
		{name: "prefix path that climbs", policies: allow(path("Prefix", "/a/..")),
			want: []string{"policies.yaml:1: spec.default.allow[0].path: path /a/.. never matches: by default the listener turns it into / first; write that [never-matches]"}},
		{name: "path with a brace", policies: allow(path("Exact", "/users/{id}")),
			want: []string{"policies.yaml:1: spec.default.allow[0].path: path /users/{id} never matches: by default the listener turns it into /users/%7Bid%7D first; write that [never-matches]"}},
		{name: "path with an escaped slash", policies: allow(path("Prefix", "/a%2fb")),
			want: []string{"policies.yaml:1: spec.default.allow[0].path: path /a%2fb never matches: by default the listener answers it with a 400 [never-matches]"}},
		{name: "path with an escaped letter", policies: allow(path("Exact", "/%61")),
			want: []string{"policies.yaml:1: spec.default.allow[0].path: path /%61 never matches: by default the listener turns it into /a first; write that [never-matches]"}},
		{name: "plain paths", policies: one("default: {allow: [{" + path("Prefix", "/") + "}, {" + path("Prefix", "/a/") + "}, {" + path("Exact", "/a/") + "}, {" + path("Exact", "/%20") + "}]}")},
		{name: "hidden by the same identity", policies: one("default: {deny: [{" + exact("spiffe://td/a") + "}], allow: [{" + exact("spiffe://td/a") + ", method: GET}]}"), inbounds: http,
			want: []string{"policies.yaml:1: spec.default.allow[0]: never allows: kri_mtp_default___p_ denies the same identities [hidden-by-deny]"}},
		{name: "hidden by a prefix of another policy", inbounds: http,
			policies: named("operator", "default: {deny: [{"+prefix("spiffe://td/ns/a/")+"}]}") + "\n---\n" + named("owner", "default: {allowWithShadowDeny: [{"+prefix("spiffe://td/ns/a/sa/")+"}]}"),
			want:     []string{"policies.yaml:3: spec.default.allowWithShadowDeny[0]: never allows: kri_mtp_default___operator_ denies the same identities [hidden-by-deny]"}},
		{name: "hidden on one inbound of several", inbounds: fixture.Inbounds(),
			policies: named("operator", "default: {allow: [{"+exact("spiffe://td/a")+"}]}") + "\n---\n" +
				named("owner", "targetRef: {kind: Dataplane, labels: {app: backend}}, default: {deny: [{"+exact("spiffe://td/a")+"}]}")},
		{name: "not hidden by a deny of some requests", policies: one("default: {deny: [{" + exact("spiffe://td/a") + ", method: PUT}], allow: [{" + exact("spiffe://td/a") + "}]}"), inbounds: http},
		{name: "not hidden by a narrower deny", policies: one("default: {deny: [{" + exact("spiffe://td/a/b") + "}], allow: [{" + prefix("spiffe://td/a/") + "}, {method: GET}]}"), inbounds: http},
		{name: "applies to nothing", policies: one("targetRef: {kind: Dataplane, sectionName: grpc}, default: {allow: [{method: GET}]}"), inbounds: http,
			want: []string{`policies.yaml:1: MeshTrafficPermission p applies to no inbound (backend/http-port: targetRef.sectionName is "grpc", the inbound's is "http-port") [selects-nothing]`}},
		{name: "blind on tcp", policies: allow("method: GET"), inbounds: fixture.Inbounds()[2:3],
			want: []string{"policies.yaml:1: spec.default.allow[0]: tcp inbound backend/5432 sees neither path nor method: there this allows nothing [http-on-tcp]"}},
		{name: "in the order of the policies", policies: named("b", "") + "\n---\n" + named("a", "targetRef: {kind: Dataplane, name: x}"), inbounds: http, want: []string{
			"policies.yaml:1: spec: MeshTrafficPermission b has no rules: it has no effect [no-rules]",
			"policies.yaml:3: spec: MeshTrafficPermission a has no rules: it has no effect [no-rules]",
			`policies.yaml:3: MeshTrafficPermission a applies to no inbound (backend/http-port: targetRef.name is "x") [selects-nothing]`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range lint.Lint(fixture.Parse(t, tt.policies), tt.inbounds, permission.Options{}) {
				if !strings.HasPrefix(w.Policy, "kri_mtp_default___") {
					t.Errorf("warning without its policy: %+v", w)
				}
				got = append(got, w.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestShadowFormText(t *testing.T) {
	t.Parallel()
	for _, form := range []permission.ShadowForm{permission.Accepted, permission.Precise} {
		var got permission.ShadowForm
		if err := got.UnmarshalText([]byte(form.String())); err != nil || got != form {
			t.Errorf("%s reads back as %s, %v", form, got, err)
		}
	}
	var form permission.ShadowForm
	if err := form.UnmarshalText([]byte("exact")); err == nil || err.Error() != `shadowForm "exact" is unknown: use accepted or precise` {
		t.Errorf("UnmarshalText(exact) = %v", err)
	}
}

func TestLintFrom(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"": "policies.yaml:1: spec.from: the list is empty: the policy has no effect [empty-list]",
		"{kind: Mesh}; {kind: MeshService, name: web}":                                                                           "",
		"{kind: MeshService, name: web}; {kind: Mesh}":                                                                           "from[0]",
		"{kind: MeshService, name: web}; {kind: Mesh, mesh: other}":                                                              "",
		"{kind: MeshService, name: web}; {kind: Mesh, mesh: default}":                                                            "from[0]",
		"{kind: MeshService, name: web}; {kind: MeshService, name: web, mesh: other}":                                            "",
		"{kind: MeshSubset, tags: {a: b}}; {kind: Mesh, mesh: default}":                                                          "",
		"{kind: MeshSubset, tags: {a: b, c: d}}; {kind: MeshSubset, tags: {a: b}}":                                               "from[0]",
		"{kind: MeshSubset, tags: {a: b}}; {kind: MeshSubset, tags: {a: b, c: d}}":                                               "",
		"{kind: MeshSubset, tags: {a: b}}; {kind: MeshSubset, tags: {a: c}}":                                                     "",
		"{kind: MeshServiceSubset, name: web, tags: {a: b}}; {kind: MeshSubset, tags: {a: b}}":                                   "from[0]",
		"{kind: MeshSubset, mesh: other, tags: {a: b}}; {kind: Mesh, mesh: other}":                                               "from[0]",
		"{kind: MeshSubset, tags: {kuma.io/service: web, a: b}}; {kind: MeshService, name: api}; {kind: MeshService, name: web}": "from[0]",
	} {
		var items []string
		for _, target := range strings.Split(from, "; ") {
			if target != "" {
				items = append(items, "{targetRef: "+target+", default: {action: Allow}}")
			}
		}
		ps := fixture.Parse(t, "{type: MeshTrafficPermission, name: a, spec: {from: ["+strings.Join(items, ", ")+"]}}")
		got := lint.Lint(ps, nil, permission.Options{})
		if (want == "") != (len(got) == 0) || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0].String(), want) {
			t.Errorf("%s: %v, want %q", from, got, want)
		}
	}
}
