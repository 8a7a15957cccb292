package lab_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
)

// Two workloads of one name, in two namespaces, have names of their own in the lab, and their identities. Where
// a policy selects one of them by its plain name, the error names both.
func TestSenderCaseTellsTwinsApart(t *testing.T) {
	t.Parallel()
	const of = `apiVersion: kuma.io/v1alpha1
kind: Dataplane
metadata: {name: NAME, namespace: NS}
spec: {networking: {address: 10.0.0.2, inbound: [{name: main, port: 8080, tags: {app: backend-NS, kuma.io/protocol: http}}]}}
---
apiVersion: kuma.io/v1alpha1
kind: MeshService
metadata: {name: backend, namespace: NS}
spec: {selector: SELECTOR, ports: [{name: http, port: 80, targetPort: 8080, appProtocol: http}]}
`
	service := func(name, namespace, selector string) string {
		return strings.NewReplacer("NAME", name, "NS", namespace).Replace(strings.ReplaceAll(of, "SELECTOR", selector))
	}
	permission := func(target string) string {
		return "\n---\n{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: " + target + ", rules: [{default: {allow: [{spiffeID: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]}}]}}"
	}
	const web = "apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmetadata: {name: web, namespace: a}\nspec: {networking: {address: 10.0.0.1, inbound: []}}\n"
	const byTags, one = "{dataplaneTags: {app: backend-NS}}", `have one name, and a policy selects one of them by its name`
	for name, tt := range map[string]struct{ web, second, selector, policy, want, inbounds string }{
		"one name":                  {web, "backend-1", byTags, "", "", "backend-1/main backend-1.b/main"},
		"two names":                 {web, "backend-2", byTags, "", "", "backend-1/main backend-2/main"},
		"the name of the sender":    {strings.Replace(web, "web", "backend-1", 1), "backend-1", byTags, "", "", "backend-1.b/main"},
		"a service by the full":     {web, "backend-1", "{dataplaneRef: {name: backend-1.NS}}", "", "", "backend-1/main backend-1.b/main"},
		"a service by the name":     {web, "backend-1", "{dataplaneRef: {name: backend-1}}", "", "", ""},
		"a policy by another label": {web, "backend-1", byTags, permission("{kind: Dataplane, labels: {app: x}}"), "", "backend-1/main backend-1.b/main"},
		"a policy by the label":     {web, "backend-1", byTags, permission("{kind: Dataplane, labels: {kuma.io/display-name: backend-1}}"), "", "backend-1/main backend-1.b/main"},
		"a policy by the name":      {web, "backend-1", byTags, permission("{kind: Dataplane, name: backend-1}"), `the workloads a/backend-1 and b/backend-1 ` + one, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := service("backend-1", "a", tt.selector)
			if tt.web != web {
				// The sender has no inbound, and the name of a workload of another namespace.
				first = first[strings.Index(first, "---"):]
			}
			files, err := lab.Open(lab.Choice{}, write(t, map[string]string{"a.yaml": tt.web, "b.yaml": first, "c.yaml": service(tt.second, "b", tt.selector) + tt.policy}))
			if err != nil {
				t.Fatal(err)
			}
			files.TakeRouting()
			senders, err := files.Senders(lab.Surroundings{})
			if err != nil {
				t.Fatal(err)
			}
			c, err := files.SenderCase(lab.Surroundings{}, senders[0])
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			var names []string
			for _, in := range c.Inbounds {
				names = append(names, in.String())
				if want := "spiffe://trust-domain.mesh/ns/" + in.Workload.Namespace + "/sa/" + strings.TrimSuffix(in.Workload.Name, ".b"); in.Identity.String() != want {
					t.Errorf("%s is %s, want %s", in, in.Identity, want)
				}
			}
			if got := strings.Join(names, " "); got != tt.inbounds {
				t.Errorf("%s, want %s", got, tt.inbounds)
			}
		})
	}
}
