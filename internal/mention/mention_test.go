package mention_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/mention"
	"github.com/meshproof/meshproof/policy/manifest"
)

func read(t *testing.T, text string) clusterobject.Object {
	t.Helper()
	docs, err := manifest.Parse("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return clusterobject.Read(docs[0])
}

// A selector mentions its labels. The labels of the object itself are no mention.
func TestSelectors(t *testing.T) {
	t.Parallel()
	w := mention.Words{}
	w.AddSelectors(read(t, `{kind: A, metadata: {name: a, labels: {own: label}}, spec: {selector: {app: web}, peers: "k8s:io.cilium.k8s.namespace.labels.team=red", text: "cluster.local/ns/shop/sa/web"}}`).Fields)
	for word, want := range map[string]bool{"app": true, "web": true, "a": true, "team": true, "red": true, "/shop": true, "/web": true, "own": false, "label": false, "": false} {
		if w.Has(word) != want {
			t.Errorf("%q: %t, want %t", word, w.Has(word), want)
		}
	}
}

// What a policy says of callers is kept apart from what it says of workloads, and one that lets in whoever meets no word mentions anybody.
func TestPeers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]bool{
		"{spec: {selector: {app: web}, rules: [{from: [{source: {principals: [a]}}]}]}}":                      {"a": true, "web": false, mention.Anybody: false},
		"{spec: {rules: [{when: [{key: source.namespace, notValues: [b]}]}]}}":                                {"b": false, mention.Anybody: true},
		"{spec: {rules: [{when: [{key: source.namespace, values: [b]}, {key: request.path, values: [c]}]}]}}": {"b": true, "c": false, mention.Anybody: false},
		"{spec: {ingress: [{fromEndpoints: [{}]}]}}":                                                          {mention.Anybody: true},
		"{spec: {identities: [a.b]}}":                                                                         {"a.b": true},
	} {
		w := mention.Words{}
		w.AddPeers(read(t, text).Fields)
		for word, is := range want {
			if w.Has(word) != is {
				t.Errorf("%s: %q: %t, want %t", text, word, w.Has(word), is)
			}
		}
	}
}

// A policy that lets in each account of its own namespace mentions that namespace, though it does not name it.
func TestOwnNamespace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"{apiVersion: a.example/v1, kind: A, metadata: {name: a, namespace: shop}, spec: {peers: [{serviceAccount: {name: '*'}}]}}":                   true,
		"{apiVersion: a.example/v1, kind: A, metadata: {name: a, namespace: shop}, spec: {peers: [{serviceAccount: {name: '*', namespace: other}}]}}": false,
		"{apiVersion: a.example/v1, kind: A, metadata: {name: a, namespace: shop}, spec: {peers: [{serviceAccount: {name: web}}]}}":                   false,
	} {
		w := mention.Words{}
		w.AddOwn(read(t, text))
		if w.Has("shop") != want {
			t.Errorf("%s: %t, want %t", text, w.Has("shop"), want)
		}
	}
}
