package manifestdiff_test

import (
	"strings"
	"testing"
)

// TestRelabeled has a new workload beside an object of Flux that may patch it.
func TestRelabeled(t *testing.T) {
	t.Parallel()
	const told = "may change it on its way"
	flux := func(spec string) string {
		return together(policy, "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {path: ./a, "+spec+"}\n")
	}
	for _, tt := range []struct{ name, spec, want string }{
		{"no patch", "prune: true", ""},
		{"a patch of pods", "patches: [{patch: a, target: {kind: Deployment}}]", told},
		{"a patch by a name", "patches: [{patch: a, target: {name: a}}]", told},
		{"a patch of kinds", "patches: [{patch: a, target: {kind: '.*'}}]", told},
		{"a patch without a target", "patches: [{patch: a}]", told},
		{"a patch of releases", "patches: [{patch: a, target: {kind: HelmRelease}}]", ""},
		{"a component", "components: [../a]", told},
		{"labels that nothing asks for", "commonMetadata: {labels: {team: a}}", ""},
		{"labels by which policies choose workloads", "commonMetadata: {labels: {app: web}}", ""},
	} {
		change{tt.name, flux(tt.spec), "", strings.Replace(deployment, "name: web, namespace", "name: web2, namespace", 1)}.expect(t, tt.want)
	}
	const cilium = "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: c, namespace: data}\nspec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {role: front}}]}]}\n"
	pod := strings.Replace(deployment, "name: web, namespace", "name: web2, namespace", 1)
	change{"labels by which policies choose callers, and that no template gets", together(cilium, flux("commonMetadata: {labels: {role: front}}")), "", pod}.expect(t, "")
	bare := "apiVersion: v1\nkind: Pod\nmetadata: {name: web2, namespace: shop, labels: {app: x}}\nspec: {containers: [{name: a, image: a}]}\n"
	change{"labels by which policies choose callers", together(cilium, flux("commonMetadata: {labels: {role: front}}")), "", bare}.expect(t, told)
	change{"labels of a pod that nothing asks for", together(cilium, flux("commonMetadata: {labels: {team: a}}")), "", bare}.expect(t, "")
}
