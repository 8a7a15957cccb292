package manifestdiff_test

import (
	"strings"
	"testing"
)

// TestPlacedInPlanes has changes of objects that name no namespace. They are harmless, unless a tool places them beside a control plane.
func TestPlacedInPlanes(t *testing.T) {
	t.Parallel()
	flux := func(namespace string) string {
		return together(policy, "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {path: ./a, targetNamespace: "+namespace+"}\n")
	}
	argo := func(spec string) string {
		return together(policy, "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a, namespace: argocd}\nspec: {"+spec+"}\n")
	}
	kustomize := func(namespace string) string {
		return together(policy, "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nnamespace: "+namespace+"\nresources: [a.yaml]\n")
	}
	role := func(namespace string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r" + namespace + "}\nrules: [{apiGroups: [''], resources: [configmaps], verbs: [update]}]\n"
	}
	scaler := "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: discovery}\nspec: {minReplicas: 0}\n"
	settings := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n"
	const inPlane = "is new"
	for _, tt := range []struct{ name, same, is, want string }{
		{"a role by Flux", flux("istio-system"), role(""), inPlane},
		{"a role by Flux, elsewhere", flux("shop"), role(""), ""},
		{"a role that names its namespace", flux("istio-system"), role(", namespace: shop"), ""},
		{"a scaler by Flux", flux("istio-system"), scaler, inPlane},
		{"settings by Flux", flux("kube-system"), settings, inPlane},
		{"settings by Argo CD", argo("source: {path: a}, destination: {namespace: kube-system}"), settings, inPlane},
		{"settings by Kustomize in Argo CD", argo("source: {path: a, kustomize: {namespace: linkerd}}, destination: {namespace: shop}"), settings, inPlane},
		{"settings by Kustomize", kustomize("kyverno"), settings, inPlane},
		{"settings elsewhere", kustomize("shop"), settings, ""},
	} {
		change{tt.name, tt.same, "", tt.is}.expect(t, tt.want)
	}
	change{"a role that changes", flux("istio-system"), strings.Replace(role(""), "update", "get", 1), role("")}.expect(t, "has changed")
	binding := "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}\nsubjects: [{kind: ServiceAccount, name: a, namespace: shop}]\n"
	reading := strings.Replace(role(""), "update", "get", 1)
	change{"a binding of a role that reads", together(flux("kube-system"), reading), "", binding}.expect(t, "")
	change{"a binding of a role that writes", together(flux("kube-system"), role("")), "", binding}.expect(t, "pass a sidecar")
	change{"a role that changes elsewhere", flux("shop"), strings.Replace(role(""), "update", "get", 1), role("")}.expect(t, "")
}
