package diff

import (
	"fmt"
	"strings"
	"testing"
)

// Two routes may take one request and be equally close to it. Then the older one counts, which no file says, and the lab takes
// the one whose name sorts first. The route t, which is less close, lets everybody in: so no request of the lab changes.
func TestWideningByAge(t *testing.T) {
	t.Parallel()
	route := func(name string, matches ...string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/v1beta3, kind: HTTPRoute, metadata: {name: %s, namespace: x}, spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], rules: [{matches: [%s]}]}}\n", name, strings.Join(matches, ", "))
	}
	lets := func(name, refs string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy, metadata: {name: %[1]s, namespace: x}, spec: {targetRef: {group: policy.linkerd.io, kind: HTTPRoute, name: %[1]s}, requiredAuthenticationRefs: [%[2]s]}}\n", name, refs)
	}
	header := func(path, name, value string) string {
		return fmt.Sprintf("{path: {value: %s}, headers: [{name: %s, value: %q}]}", path, name, value)
	}
	query := func(path, name string) string {
		return fmt.Sprintf("{path: {value: %s}, queryParams: [{name: %s, value: a}]}", path, name)
	}
	of := func(kind, path string) string { return fmt.Sprintf("{path: {type: %s, value: %q}}", kind, path) }
	const server = "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: web, namespace: x}, spec: {podSelector: {matchLabels: {app: web}}, port: 8080}}\n"
	common := server + route("t", "{path: {value: /a}}", "{path: {value: /b}}") + lets("t", "") + lets("r", "{kind: ServiceAccount, name: fe}") + lets("s", "")
	for name, tt := range map[string]struct {
		same, old, recent string
		widens            bool
	}{
		"another header":              {route("r", header("/a", "x", "1")), route("s", header("/b", "'y'", "1")), route("s", header("/a", "'y'", "1")), true},
		"another line of one header":  {route("r", header("/a", "x", "1")), route("s", header("/b", "x", "2")), route("s", header("/a", "x", "2")), true},
		"another parameter":           {route("r", query("/a", "x")), route("s", query("/b", "'y'")), route("s", query("/a", "'y'")), true},
		"an expression of the path":   {route("r", of("Exact", "/a/x")), route("s", of("RegularExpression", "^(/b/.*)$")), route("s", of("RegularExpression", "^(/a/.*)$")), true},
		"the one that closes is gone": {route("s", header("/a", "'y'", "1")), route("z", header("/a", "x", "1")) + lets("z", "{kind: ServiceAccount, name: fe}"), lets("z", "{kind: ServiceAccount, name: fe}"), true},
		"other paths":                 {route("r", header("/a", "x", "1")), route("s", header("/c", "'y'", "1")), route("s", header("/b", "'y'", "1")), false},
		"another method":              {route("r", "{path: {value: /a}, method: GET}"), route("s", "{path: {value: /b}, method: POST}"), route("s", "{path: {value: /a}, method: POST}"), false},
		"nothing":                     {route("r", header("/a", "x", "1")), route("s", header("/a", "'y'", "1")), route("s", header("/a", "'y'", "1")), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, recent := sideOf(t, common+tt.same+tt.old), sideOf(t, common+tt.same+tt.recent)
			for _, compare := range []func(a, b Side, to string) (*Difference, error){Diff, DiffBeside} {
				d, err := compare(old, recent, "")
				if err != nil {
					t.Fatal(err)
				}
				if opens := strings.Join(d.Opens, "; "); strings.Contains(opens, "is older than") != tt.widens {
					t.Errorf("%q, want %t", opens, tt.widens)
				}
			}
		})
	}
}
