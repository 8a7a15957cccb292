package manifestdiff_test

import (
	"strings"
	"testing"
)

// TestNewCallersWithoutNamespace has a new workload that names no namespace: a tool may apply it to each one that policies let in.
func TestNewCallersWithoutNamespace(t *testing.T) {
	t.Parallel()
	const (
		calls = "serviceAccountName"
		flux  = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {path: ./a, targetNamespace: cart}\n"
		right = "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: cart}\nsubjects: [{kind: ServiceAccount, name: web, namespace: cart}]\nroleRef: {kind: ClusterRole, name: admin}\n"
	)
	unplaced := strings.Replace(deployment, "namespace: shop, ", "", 1)
	placed := strings.Replace(deployment, "namespace: shop", "namespace: lab", 1)
	istio := func(source string) string {
		return strings.Replace(policy, "principals: [cluster.local/ns/shop/sa/fe]", source, 1)
	}
	cilium := func(peer string) string {
		return "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: p, namespace: data}\nspec: {endpointSelector: {}, ingress: [{fromEndpoints: [{" + peer + "}]}]}\n"
	}
	linkerd := func(spec string) string {
		return together(linkerdServer, "apiVersion: policy.linkerd.io/v1alpha1\nkind: MeshTLSAuthentication\nmetadata: {name: a, namespace: shop}\nspec: {"+spec+"}\n")
	}
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"a namespace of Istio", istio("namespaces: [cart]"), "", unplaced}, calls},
		{change{"a namespace of Istio, and one elsewhere", istio("namespaces: [cart]"), "", placed}, ""},
		{change{"a namespace of Istio, by the account default", istio("namespaces: [cart]"), "", strings.Replace(unplaced, "      serviceAccountName: web\n", "", 1)}, "calls as somebody whom policies may let in"},
		{change{"namespaces of Istio", istio("namespaces: ['cart-*']"), "", unplaced}, calls},
		{change{"a condition of Istio", istio("ipBlocks: [10.0.0.1]}}], when: [{key: source.namespace, values: [cart]}]}, {from: [{source: {ipBlocks: [10.0.0.2]"), "", unplaced}, calls},
		{change{"an account of Istio", policy, "", unplaced}, ""},
		{change{"a namespace of Cilium", cilium("matchLabels: {'k8s:io.kubernetes.pod.namespace': cart}"), "", unplaced}, calls},
		{change{"a namespace of Cilium, and one elsewhere", cilium("matchLabels: {'k8s:io.kubernetes.pod.namespace': cart}"), "", placed}, ""},
		{change{"an expression of Cilium", cilium("matchExpressions: [{key: 'k8s:io.kubernetes.pod.namespace', operator: In, values: [cart]}]"), "", unplaced}, calls},
		{change{"a namespace of Linkerd", linkerd("identityRefs: [{kind: Namespace, name: cart}]"), "", unplaced}, calls},
		{change{"the names of a namespace of Linkerd", linkerd("identities: ['*.cart.serviceaccount.identity.linkerd.cluster.local']"), "", unplaced}, calls},
		{change{"another account of Linkerd", linkerd("identities: [fe.cart.serviceaccount.identity.linkerd.cluster.local]"), "", unplaced}, ""},
		{change{"rights in the namespace that Flux applies to", together(policy, flux, right), "", unplaced}, "serviceAccountName"},
		{change{"rights elsewhere", together(policy, right), "", placed}, ""},
	} {
		tt.expect(t, tt.want)
	}
}
