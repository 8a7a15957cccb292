package authorization_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// TestLintSpelling warns of an exact path where a caller who may not send it gets in with a slash behind it, and of no other path.
func TestLintSpelling(t *testing.T) {
	t.Parallel()
	deny := func(rules string) string { return one("wall", "action: DENY, rules: ["+rules+"]") }
	allow := func(rules string) string { return one("door", "rules: ["+rules+"]") }
	const (
		paths  = "spec.rules[0].to[0].operation.paths[0] /a"
		others = "spec.rules[0].to[0].operation.notPaths[0] /a"
		exact  = "{to: [{operation: {paths: [/a]}}]}"
		but    = "{to: [{operation: {notPaths: [/a]}}]}"
	)
	http, tcp := inbounds()[:1], inbounds()[1:2]
	grpc := slices.Clone(http)
	grpc[0].Protocol = policy.GRPC
	for _, tt := range []struct {
		name, policies string
		inbounds       []policy.Inbound
		want           []string
	}{
		{name: "a DENY", policies: deny(exact), want: []string{paths}},
		{name: "an ALLOW of all others", policies: allow(but), want: []string{others}},
		{name: "for some callers", policies: deny("{from: [{source: {notNamespaces: [ops]}}], to: [{operation: {paths: [/a]}}]}"), want: []string{paths}},
		{name: "for one method", policies: deny("{to: [{operation: {methods: [PUT], paths: [/a]}}]}"), want: []string{paths}},
		{name: "the second path of a list", policies: deny("{to: [{operation: {paths: ['/b*', /a]}}]}"), want: []string{"spec.rules[0].to[0].operation.paths[1] /a"}},
		{name: "beside an ALLOW of all", policies: deny(exact) + allow("{}"), want: []string{paths}},
		{name: "beside an ALLOW of what is below", policies: deny(exact) + allow("{to: [{operation: {paths: ['/a/*']}}]}"), want: []string{paths}},
		{name: "beside an ALLOW of another path", policies: deny(exact) + allow("{to: [{operation: {paths: [/a, /b]}}]}")},
		{name: "with what is below", policies: deny("{to: [{operation: {paths: [/a, '/a/*']}}]}")},
		{name: "with the slash", policies: deny("{to: [{operation: {paths: [/a, /a/]}}]}")},
		{name: "within a longer beginning", policies: deny("{to: [{operation: {paths: [/a, '/*']}}]}")},
		{name: "what is below is denied by another policy", policies: deny(exact) + one("below", "action: DENY, rules: [{to: [{operation: {paths: ['/a/*']}}]}]")},
		{name: "an ALLOW of all others but what is below", policies: allow("{to: [{operation: {notPaths: [/a, '/a/*']}}]}")},
		{name: "an ALLOW that lets the path in by another rule", policies: allow(but + ", " + exact)},
		{name: "an ALLOW of the path", policies: allow(exact)},
		{name: "a DENY of all others", policies: deny(but)},
		{name: "a beginning, an end, a template", policies: deny("{to: [{operation: {paths: ['/a*', '*/a', '/{*}/a']}}]}")},
		{name: "the root, a file, a method of gRPC", policies: deny("{to: [{operation: {paths: [/, /a/, /robots.txt, /a.B/C]}}]}")},
		{name: "a path that Envoy rewrites", policies: deny("{to: [{operation: {paths: [/x/../a]}}]}")},
		{name: "a placeholder", policies: deny("{to: [{operation: {paths: ['/<a>']}}]}")},
		{name: "a dry run", policies: strings.Replace(deny(exact), "name: wall", "name: wall, annotations: {istio.io/dry-run: 'true'}", 1)},
		{name: "an AUDIT", policies: one("p", "action: AUDIT, rules: ["+exact+"]")},
		{name: "a connection", policies: deny(exact), inbounds: tcp},
		{name: "gRPC", policies: deny(exact), inbounds: grpc},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			on := tt.inbounds
			if on == nil {
				on = http
			}
			var got []string
			for _, w := range warnings(t, tt.policies, on, token.Demand{}) {
				if rest, ok := strings.CutPrefix(w, string(warning.OtherSpelling)+" "); ok {
					field, message, _ := strings.Cut(rest, ": ")
					_, path, _ := strings.Cut(message, "may not send ")
					path, _, _ = strings.Cut(path, " ")
					got = append(got, field+" "+path)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
