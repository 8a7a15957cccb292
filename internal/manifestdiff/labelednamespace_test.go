package manifestdiff_test

import (
	"strings"
	"testing"
)

// TestCallersByNamespace has a new workload in a namespace by whose label a policy of Cilium lets callers in.
func TestCallersByNamespace(t *testing.T) {
	t.Parallel()
	cilium := func(peer string) string {
		return "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: c, namespace: data}\nspec: {endpointSelector: {}, ingress: [{fromEndpoints: [{" + peer + "}]}]}\n"
	}
	namespace := func(labels string) string {
		return "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {" + labels + "}}\n"
	}
	const (
		byLabel      = "matchLabels: {'k8s:io.cilium.k8s.namespace.labels.team': red}"
		byExpression = "matchExpressions: [{key: 'k8s:io.cilium.k8s.namespace.labels.team', operator: In, values: [red]}]"
		told         = "opens something"
	)
	web := strings.Replace(deployment, "name: web, namespace", "name: web2, namespace", 1)
	for _, tt := range []struct{ name, same, want string }{
		{"a label", together(cilium(byLabel), namespace("team: red")), told},
		{"an expression", together(cilium(byExpression), namespace("team: red")), told},
		{"another value", together(cilium(byLabel), namespace("team: blue")), ""},
		{"another label", together(cilium(byLabel), namespace("unit: red")), ""},
		{"a namespace that no document describes", cilium(byLabel), told},
		{"a label that a kustomization gives", together(cilium(byLabel), namespace("unit: red"), "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nlabels: [{pairs: {team: red}}]\n"), told},
		{"another label of a kustomization", together(cilium(byLabel), namespace("unit: red"), "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nlabels: [{pairs: {unit: red}}]\n"), ""},
		{"a label of a domain, by a patch", together(cilium(strings.Replace(byLabel, "team", "a.example/team", 1)), namespace("unit: red"),
			"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches: [{target: {kind: Namespace}, patch: '[{op: add, path: /metadata/labels/a.example~1team, value: red}]'}]\n"), told},
		{"the label of its name", together(cilium("matchLabels: {'k8s:io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name': cart}"), namespace("team: red")), ""},
	} {
		change{tt.name, tt.same, "", web}.expect(t, tt.want)
	}
}
