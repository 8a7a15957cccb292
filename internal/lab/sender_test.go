package lab_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
)

// Two inbounds of one name, in two namespaces, cannot stand in one lab. The error names both.
func TestSenderCaseRefusesTwins(t *testing.T) {
	t.Parallel()
	const of = `apiVersion: kuma.io/v1alpha1
kind: Dataplane
metadata: {name: NAME, namespace: NS}
spec: {networking: {address: 10.0.0.2, inbound: [{name: main, port: 8080, tags: {app: backend-NS, kuma.io/protocol: http}}]}}
---
apiVersion: kuma.io/v1alpha1
kind: MeshService
metadata: {name: backend, namespace: NS}
spec: {selector: {dataplaneTags: {app: backend-NS}}, ports: [{name: http, port: 80, targetPort: 8080, appProtocol: http}]}
`
	service := func(name, namespace string) string {
		return strings.NewReplacer("NAME", name, "NS", namespace).Replace(of)
	}
	const web = "apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmetadata: {name: web, namespace: a}\nspec: {networking: {address: 10.0.0.1, inbound: []}}\n"
	for second, want := range map[string]string{
		"backend-1": `the namespaces "a" and "b" have an inbound backend-1/main each`,
		"backend-2": "",
	} {
		files, err := lab.Open(lab.Choice{}, write(t, map[string]string{"a.yaml": web, "b.yaml": service("backend-1", "a"), "c.yaml": service(second, "b")}))
		if err != nil {
			t.Fatal(err)
		}
		files.TakeRouting()
		senders, err := files.Senders(lab.Surroundings{})
		if err != nil || len(senders) != 3 {
			t.Fatalf("%d senders, %v", len(senders), err)
		}
		_, err = files.SenderCase(lab.Surroundings{}, senders[0])
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", second, err, want)
		}
	}
}
