package lint_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// Kuma 2.12 and 2.13 ask an allow of the mesh before a deny of a Dataplane.
func TestOlderOrder(t *testing.T) {
	t.Parallel()
	policy := func(name, target, rules string) string {
		return "---\n{type: MeshTrafficPermission, name: " + name + ", spec: {targetRef: " + target + ", rules: [" + rules + "]}}\n"
	}
	const (
		mesh, backend, other = "{kind: Mesh}", "{kind: Dataplane, labels: {app: backend}}", "{kind: Dataplane, labels: {app: other}}"
		everybody            = "{default: {allow: [{spiffeID: {type: Prefix, value: spiffe://td}}]}}"
		denyWeb              = "{default: {deny: [{spiffeID: {type: Exact, value: spiffe://td/web}}]}}"
		shadow               = "{default: {allowWithShadowDeny: [{sni: {type: Exact, value: a}}]}}"
	)
	for name, test := range map[string]struct {
		policies, want string
	}{
		"an allow of the mesh":         {policy("a", mesh, everybody) + policy("b", backend, denyWeb), "policies.yaml:4"},
		"a deny of the mesh":           {policy("a", mesh, denyWeb) + policy("b", backend, everybody), ""},
		"a name that sorts later":      {policy("z", mesh, everybody) + policy("a", mesh, denyWeb), "policies.yaml:4"},
		"a name that sorts first":      {policy("a", mesh, everybody) + policy("z", mesh, denyWeb), ""},
		"rules of one policy":          {policy("a", mesh, everybody+", "+denyWeb), "policies.yaml:2"},
		"the same, the deny first":     {policy("a", mesh, denyWeb+", "+everybody), ""},
		"one rule":                     {policy("a", mesh, strings.Replace(everybody, "{allow", "{deny: [{spiffeID: {type: Exact, value: spiffe://td/web}}], allow", 1)), ""},
		"other callers":                {policy("a", mesh, strings.Replace(everybody, "spiffe://td", "spiffe://td/api", 1)) + policy("b", backend, denyWeb), ""},
		"other workloads":              {policy("z", other, everybody) + policy("b", backend, denyWeb), ""},
		"an allow that shadows a deny": {policy("a", mesh, shadow) + policy("b", backend, denyWeb), "policies.yaml:4"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(lint.OlderOrder(fixture.Parse(t, test.policies), permission.Options{}), "\n")
			if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
