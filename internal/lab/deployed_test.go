package lab_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/lab"
)

// The routes and timeouts of a folder take the place of those of a case, and the services of the case stay. A
// case without services has no routes, whatever the folder has.
func TestDeployedRoutes(t *testing.T) {
	t.Parallel()
	const (
		service = "{type: MeshService, name: NAME, spec: {selector: {dataplaneTags: {app: b}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}}"
		route   = "{type: MeshHTTPRoute, name: NAME, spec: {to: [{targetRef: {kind: MeshService, name: own}, rules: [{matches: [{}], default: {backendRefs: [{kind: MeshService, name: own}]}}]}]}}"
	)
	named := func(name, text string) string { return strings.Replace(text, "NAME", name, 1) }
	const plain = "case: a\nworkloads: [{name: b, inbounds: [{port: 8080}]}]\npolicies: []\nrequests: [{from: plaintext, to: b/8080, want: handshake-failure}]\n"
	routed := "case: a\nworkloads: [{name: b, labels: {app: b}, inbounds: [{port: 8080}]}]\noutbounds: [" + named("own", service) + "]\npolicies: [" + named("own", route) + "]\nrequests: [{from: b, to: 'MeshService/own:80', want: 403}]\n"
	folder, err := lab.OpenPolicies(write(t, map[string]string{"a.yaml": aPolicy + "---\n" + named("deployed", service) + "\n---\n" + named("deployed", route) + "\n"}))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{routed: 2, plain: 0} {
		c, err := lab.WithPolicies(casetest.Parse(t, text), folder.All())
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Routing) != want || len(c.Policies) != 1 {
			t.Errorf("%d routes and services, %d policies", len(c.Routing), len(c.Policies))
		}
		for _, doc := range c.Routing {
			_, sends := doc.Lookup("spec.to")
			var name string
			if at, ok := doc.Lookup("name"); !ok || at.Decode(&name) != nil || (name == "own") == sends {
				t.Errorf("%s", doc.Flow())
			}
		}
	}
}
