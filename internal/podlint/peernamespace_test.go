package podlint_test

import "testing"

// TestPeerNamespaces has policies that name callers by a namespace which nothing in the folder is of, beside one that is spelt almost alike, and others.
func TestPeerNamespaces(t *testing.T) {
	t.Parallel()
	const (
		pods  = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: web}}}}\n"
		other = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: billing}}\n"
	)
	istio := func(source string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {" + source + "}}]}]}}\n"
	}
	kuma := func(match string) string {
		return "{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: shop}, spec: {targetRef: {kind: Dataplane, labels: {app: web}}, rules: [{default: {deny: [{spiffeID: {" + match + "}}]}}]}}\n"
	}
	cilium := func(labels string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {" + labels + "}}]}]}}\n"
	}
	for name, tt := range map[string]struct{ policy, others, want string }{
		"a misspelt namespace":         {istio("namespaces: [biling]"), pods + other, "p.yaml:1: spec.rules[0].from[0].source.namespaces[0]: nothing in the folder is of the namespace biling: did you mean billing? [no-peer]"},
		"one that is not meant":        {istio("notNamespaces: [biling]"), pods + other, "did you mean billing?"},
		"the namespace of a principal": {istio("principals: [cluster.local/ns/biling/sa/api]"), pods + other, "did you mean billing?"},
		"the beginning of a principal": {istio("principals: [cluster.local/ns/biling/*]"), pods + other, "did you mean billing?"},
		"the namespace of an account":  {istio("serviceAccounts: [biling/api]"), pods + other, "did you mean billing?"},
		"a prefix of Kuma":             {kuma("type: Prefix, value: spiffe://td/ns/biling/"), pods + other, "p.yaml:1: spec.rules[0].default.deny[0].spiffeID.value: nothing in the folder is of the namespace biling: "},
		"an identity of Kuma":          {kuma("type: Exact, value: spiffe://td/ns/biling/sa/api"), pods + other, "did you mean billing?"},
		"a label of Cilium":            {cilium("'k8s:io.kubernetes.pod.namespace': biling"), pods + other, "did you mean billing?"},
		"the right namespace":          {istio("namespaces: [billing]"), pods + other, ""},
		"one that is not alike":        {istio("namespaces: [monitoring]"), pods + other, ""},
		"a letter in front":            {istio("namespaces: [illing]"), pods + other, ""},
		"another number":               {istio("namespaces: [billing2]"), pods + other, ""},
		"both":                         {istio("namespaces: [biling, billing]"), pods + other, ""},
		"a pattern":                    {istio("namespaces: ['biling*']"), pods + other, ""},
		"another trust domain":         {istio("principals: [west.example/ns/biling/*, east.example/ns/shop/*]"), pods + other, ""},
		"one of another policy":        {istio("namespaces: [biling]") + "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: q, namespace: biling}, spec: {}}\n", "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}}}}\n" + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: billings2}}\n", ""},
		"a chart that may make it":     {istio("namespaces: [biling]"), pods + other + "---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: a, namespace: biling}}\n", ""},
		"a tool that chooses another":  {istio("namespaces: [biling]"), pods + other + "---\n{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, namespace: biling, resources: [a.yaml]}\n", ""},
		"no workload in the folder":    {istio("namespaces: [biling]"), other, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.policy+tt.others, tt.want)
		})
	}
}
