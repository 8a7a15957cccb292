package clusterobject_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/policy/manifest"
)

func read(t *testing.T, text string) clusterobject.Object {
	t.Helper()
	docs, err := manifest.Parse("a.yaml", []byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%s: %d documents, %v", text, len(docs), err)
	}
	return clusterobject.Read(docs[0])
}

// An object is unknown unless a table says otherwise, and so is one of a known kind that says more than its table has.
func TestCategories(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]clusterobject.Category{
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}":                                                                                    clusterobject.Workload,
		"{apiVersion: shop.example/v1, kind: Deployment, metadata: {name: a}}":                                                                            clusterobject.Unknown,
		"{kind: Deployment, metadata: {name: a}}":                                                                                                         clusterobject.Unknown,
		"{apiVersion: v1, kind: Service, metadata: {name: a}}":                                                                                            clusterobject.Service,
		"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: istio-system}}":                                                                   clusterobject.Unknown,
		"{apiVersion: v1, kind: Namespace, metadata: {name: istio-system}}":                                                                               clusterobject.Namespace,
		"{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}":                                                                                     clusterobject.Account,
		"{apiVersion: v1, kind: Secret, metadata: {name: a}}":                                                                                             clusterobject.Config,
		"{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/service-account-token}":                                                  clusterobject.Unknown,
		"{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {istio/multiCluster: 'true'}}}":                                                       clusterobject.Unknown,
		"{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a}}":                                                                 clusterobject.Config,
		"{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a}, spec: {target: {manifest: {kind: Role}}}}":                       clusterobject.Unknown,
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}}":                                                                     clusterobject.Harmless,
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: istiod}}":                                                                clusterobject.Unknown,
		"{apiVersion: v1, kind: ResourceQuota, metadata: {name: a}, spec: {hard: {pods: 1}}}":                                                             clusterobject.Harmless,
		"{apiVersion: v1, kind: ResourceQuota, metadata: {name: a}, spec: {hard: {count/authorizationpolicies.security.istio.io: 1}}}":                    clusterobject.Unknown,
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {nfs: {path: /a}}}":                                                          clusterobject.Harmless,
		"{apiVersion: v1, kind: PersistentVolume, metadata: {name: a}, spec: {hostPath: {path: /a}}}":                                                     clusterobject.Unknown,
		"{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: a}, spec: {hosts: [a.example]}}":                                       clusterobject.Harmless,
		"{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: a}, spec: {hosts: [a.example], endpoints: [{address: 10.0.0.1}]}}":     clusterobject.Unknown,
		"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, spec: {hosts: [a], http: [{route: [{weight: 1}]}]}}":             clusterobject.Harmless,
		"{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {name: a}, spec: {gateways: [g], hosts: [a], http: [{rewrite: {uri: /}}]}}": clusterobject.Unknown,
		"{type: MeshTrace, name: a, mesh: m}":                                                                                                             clusterobject.Harmless,
		"{type: MeshMetric, name: a, mesh: m}":                                                                                                            clusterobject.Unknown,
		"{type: Deployment, name: a, mesh: m}":                                                                                                            clusterobject.Unknown,
		"{apiVersion: kuma.io/v1alpha1, kind: MeshMetric, metadata: {name: a}}":                                                                           clusterobject.Unknown,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app: istiod}}}":                                                                   clusterobject.Unknown,
	} {
		if got := read(t, text).Category; got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// An object is there once where two documents are alike, and a key has both where they are not. The version of a kind is no part of its key.
func TestObjectsByKey(t *testing.T) {
	t.Parallel()
	docs, err := manifest.Parse("a.yaml", []byte(`
{apiVersion: a.example/v1, kind: A, metadata: {name: a}}
---
{apiVersion: a.example/v1, kind: A, metadata: {name: a}}
---
{apiVersion: a.example/v2, kind: A, metadata: {name: a}}
---
{apiVersion: a.example/v2, kind: A, metadata: {name: b}}
`))
	if err != nil {
		t.Fatal(err)
	}
	all := clusterobject.ReadAll(docs)
	key := clusterobject.KeyOf(all.All[0].Identity)
	if len(all.All) != 3 || len(all.ByKey[key]) != 2 || all.Repeated[key] != 1 {
		t.Errorf("%d objects, %d with the key, %d repeated", len(all.All), len(all.ByKey[key]), all.Repeated[key])
	}
	var pairs [][2]int
	clusterobject.EachPair(all, clusterobject.ReadAll(docs[3:]), func(was, is []clusterobject.Object) { pairs = append(pairs, [2]int{len(was), len(is)}) })
	if len(pairs) != 2 || pairs[0] != [2]int{1, 1} || pairs[1] != [2]int{2, 0} {
		t.Errorf("pairs %v, want b of both sides, and then a of one", pairs)
	}
}

// A ConfigMap or a Secret has the text of a manifest where a tool would apply it, whatever its form.
func TestTextsWithManifests(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{apiVersion: v1, kind: ConfigMap, data: {a: "apiVersion: v1\nkind: Pod"}}`:                                                                    true,
		`{apiVersion: v1, kind: Secret, data: {a: YXBpVmVyc2lvbjogdjEKa2luZDogUG9k}}`:                                                                  true,
		`{apiVersion: v1, kind: ConfigMap, binaryData: {a: YXBpVmVyc2lvbjogdjEKa2luZDogUG9k}}`:                                                         true,
		`{apiVersion: v1, kind: ConfigMap, data: {a: "type: MeshTrafficPermission\nname: a"}}`:                                                         true,
		`{apiVersion: v1, kind: ConfigMap, data: {a: "apiVersion: v1\nkind: Config\nclusters: []"}}`:                                                   false,
		`{apiVersion: v1, kind: ConfigMap, data: {a: "kind: of text"}}`:                                                                                false,
		`{apiVersion: external-secrets.io/v1, kind: ExternalSecret, spec: {target: {template: {data: {a: "apiVersion: apps/v1\nkind: Deployment"}}}}}`: true,
	} {
		if got := read(t, text).CarriesManifest(); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}
