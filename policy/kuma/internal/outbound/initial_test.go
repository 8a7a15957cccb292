package outbound_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Kuma makes a MeshTimeout with each mesh, and the name that sorts first is the stronger.
func TestInitialTimeouts(t *testing.T) {
	t.Parallel()
	of := func(name, target, to, conf string) string {
		return "---\n{type: MeshTimeout, mesh: m, name: " + name + ", spec: {targetRef: " + target + ", to: [{targetRef: " + to + ", default: " + conf + "}]}}\n"
	}
	const mesh, request = "{kind: Mesh}", "{http: {requestTimeout: 2s}}"
	for name, test := range map[string]struct{ policies, want string }{
		"a name that sorts behind it": {of("timeouts", mesh, mesh, "{idleTimeout: 1m, http: {requestTimeout: 2s, maxStreamDuration: 1s}}"), "p.yaml:2: spec.to[0].targetRef: Kuma makes the MeshTimeout mesh-timeout-all-m with the mesh, which is stronger by its name and sets idleTimeout, requestTimeout too"},
		"a name that sorts before it": {of("a", mesh, mesh, request), ""},
		"its own name":                {of("mesh-timeout-all-m", mesh, mesh, request), ""},
		"it is among them":            {of("timeouts", mesh, mesh, request) + of("mesh-timeout-all-m", mesh, mesh, "{idleTimeout: 1h}"), ""},
		"that of another mesh is":     {of("timeouts", mesh, mesh, request) + of("mesh-timeout-all-other", mesh, mesh, "{idleTimeout: 1h}"), "p.yaml:2"},
		"for a service":               {of("timeouts", mesh, "{kind: MeshService, name: a}", request), ""},
		"for some Dataplanes":         {of("timeouts", "{kind: Dataplane, labels: {app: a}}", mesh, request), ""},
		"the same time":               {of("timeouts", mesh, mesh, "{http: {requestTimeout: 15s}}"), ""},
		"a time that it does not set": {of("timeouts", mesh, mesh, "{http: {maxStreamDuration: 1s}}"), ""},
		"of a namespace":              {"{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout, metadata: {name: timeouts, namespace: shop}, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 2s}}}]}}", ""},
		"of the system":               {"{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout, metadata: {name: timeouts, namespace: kuma-system}, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 2s}}}]}}", "p.yaml:1: spec.to[0].targetRef: Kuma makes the MeshTimeout mesh-timeout-all-default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := manifest.Parse("p.yaml", []byte(test.policies))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(outbound.InitialTimeouts(docs, "kuma-system"), "\n")
			if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}
