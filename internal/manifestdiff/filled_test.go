package manifestdiff_test

import (
	"strings"
	"testing"
)

// byRole lets callers in by a label.
const byRole = "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: c, namespace: data}\nspec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {role: front}}]}]}\n"

// TestFilledWorkloads has new workloads with a placeholder: what a tool puts there may be a caller whom policies let in.
func TestFilledWorkloads(t *testing.T) {
	t.Parallel()
	const told = "has a placeholder where it counts"
	web := strings.Replace(deployment, "name: web, namespace", "name: web2, namespace", 1)
	pod := func(labels string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: web2, namespace: shop, labels: {" + labels + "}}\nspec: {containers: [{name: a, image: a}]}\n"
	}
	for _, tt := range []struct{ name, policies, is, want string }{
		{"an account", policy, strings.Replace(web, "serviceAccountName: web", "serviceAccountName: ${account}", 1), told},
		{"an account of a chart", policy, strings.Replace(web, "serviceAccountName: web", "serviceAccountName: '{{ .Values.account }}'", 1), told},
		{"a namespace", policy, strings.Replace(web, "namespace: shop", "namespace: '${namespace}'", 1), told},
		{"a label by which policies choose callers", byRole, pod("role: '${role}'"), told},
		{"another label", byRole, pod("team: '${role}'"), ""},
		{"an image", policy, strings.Replace(web, "image: web", "image: 'web:${tag}'", 1), ""},
		{"none", policy, web, ""},
	} {
		change{tt.name, tt.policies, "", tt.is}.expect(t, tt.want)
	}
}

// TestMutatedWorkloads has a new workload beside an object that changes it as an API server gets it.
func TestMutatedWorkloads(t *testing.T) {
	t.Parallel()
	const told = "may change it on its way"
	kyverno := func(mutate string) string {
		return "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: k}\nspec: {rules: [{name: a, match: {any: [{resources: {kinds: [Pod]}}]}, mutate: {" + mutate + "}}]}\n"
	}
	gatekeeper := func(location string) string {
		return "apiVersion: mutations.gatekeeper.sh/v1\nkind: AssignMetadata\nmetadata: {name: g}\nspec: {location: '" + location + "', parameters: {assign: {value: front}}}\n"
	}
	admission := func(expression string) string {
		return "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingAdmissionPolicy\nmetadata: {name: m}\nspec: {mutations: [{applyConfiguration: {expression: '" + expression + "'}}]}\n"
	}
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: web2, namespace: shop, labels: {app: x}}\nspec: {containers: [{name: a, image: a}]}\n"
	for _, tt := range []struct{ name, mutator, want string }{
		{"an account", kyverno("patchStrategicMerge: {spec: {serviceAccountName: fe}}"), told},
		{"a label that counts", kyverno("patchStrategicMerge: {metadata: {labels: {role: front}}}"), told},
		{"a label that counts, where there is none", kyverno("patchStrategicMerge: {metadata: {labels: {+(role): front}}}"), told},
		{"a label that counts, by a patch in JSON", kyverno("patchesJson6902: '[{op: add, path: /metadata/labels/role, value: front}]'"), told},
		{"another label", kyverno("patchStrategicMerge: {metadata: {labels: {team: front}}}"), ""},
		{"a label that counts, by a patch of all labels", kyverno("patchesJson6902: \"- op: add\\n  path: /metadata/labels\\n  value: {role: front}\""), told},
		{"another label, by a patch of all labels", kyverno("patchesJson6902: \"- op: add\\n  path: /metadata/labels\\n  value: {team: front}\""), ""},
		{"a label that counts, by an expression", admission("Object{metadata: Object.metadata{labels: Object.metadata.labels{role: \"front\"}}}"), told},
		{"a label that counts, by a mapping of an expression", admission("Object{metadata: Object.metadata{labels: {\"role\": \"front\"}}}"), told},
		{"a label that counts, by a path of an expression", admission("[JSONPatch{op: \"add\", path: \"/metadata/labels/\" + jsonpatch.escapeKey(\"role\"), value: \"front\"}]"), told},
		{"another label, by an expression", admission("Object{metadata: Object.metadata{labels: Object.metadata.labels{team: \"front\"}}}"), ""},
		{"an image", kyverno("patchStrategicMerge: {spec: {containers: [{image: a}]}}"), ""},
		{"an account that is asked for alone", strings.Replace(kyverno(""), "mutate: {}", "validate: {pattern: {spec: {serviceAccountName: fe}}}", 1), ""},
		{"a label of Gatekeeper", gatekeeper("metadata.labels.role"), told},
		{"another label of Gatekeeper", gatekeeper("metadata.labels.team"), ""},
	} {
		change{tt.name, together(byRole, tt.mutator), "", pod}.expect(t, tt.want)
	}
}

// TestAnnotatedWorkloads has a workload that gets an annotation by which a patch chooses what it changes.
func TestAnnotatedWorkloads(t *testing.T) {
	t.Parallel()
	annotated := strings.Replace(deployment, "annotations: {", "annotations: {tier: front, ", 1)
	patched := "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\nspec: {path: ./a, patches: [{patch: x, target: {annotationSelector: tier=front}}]}\n"
	change{"a patch chooses by it", together(policy, patched), deployment, annotated}.expect(t, "metadata.annotations.tier")
	change{"no patch chooses by it", policy, deployment, annotated}.expect(t, "")
}
