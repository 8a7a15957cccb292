package diff

import (
	"maps"
	"strings"
	"testing"
)

// TestSentPolicies has a new ALLOW that names no namespace: it is the first of the namespace default, and one more of the namespace to which a tool applies it.
func TestSentPolicies(t *testing.T) {
	t.Parallel()
	const (
		named = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{to: [{operation: {paths: [/a]}}]}]}}\n"
		bare  = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: q}, spec: {selector: {matchLabels: {app: web}}, rules: [{to: [{operation: {paths: [/b]}}]}]}}\n"
		made  = "{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: r, namespace: x}, spec: {resources: [{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: k}, spec: {path: ./a, targetNamespace: NAMESPACE}}]}}\n"
		told  = "names no namespace: a tool may apply it in one"
	)
	for name, tt := range map[string]struct{ file, text, want string }{
		"no tool":                          {"a/other.txt", "", ""},
		"a file of Fleet":                  {"a/fleet.yaml", "{defaultNamespace: shop}\n", told},
		"a file of Fleet for a lab":        {"a/fleet.yaml", "{defaultNamespace: lab}\n", ""},
		"a file of Fleet in another place": {"b/fleet.yaml", "{defaultNamespace: shop}\n", ""},
		"an object that makes one of Flux": {"r.yaml", strings.Replace(made, "NAMESPACE", "shop", 1), told},
		"one that makes another":           {"r.yaml", strings.Replace(made, "NAMESPACE", "lab", 1), ""},
		"a script":                         {"deploy.sh", "kubectl apply -n shop -f a\n", told},
		"a script with the long option":    {"deploy.sh", "kubectl apply --namespace=shop -f a\n", told},
		"a script with a variable":         {"deploy.sh", "NAMESPACE=shop\nkubectl apply -n $NAMESPACE -f a\n", told},
		"a script without a space":         {"deploy.sh", "kubectl apply -nshop -f a\n", told},
		"a script that chooses it before":  {"deploy.sh", "kubens shop\nkubectl apply -f a\n", told},
		"a script with a project":          {"deploy.sh", "oc project shop\nkubectl apply -f a\n", told},
		"a setting of a step":              {"build.yaml", "{steps: [{uses: deploy, with: {namespace: shop, manifests: a}}]}\n", told},
		"a setting of a step for a lab":    {"build.yaml", "{steps: [{uses: deploy, with: {namespace: lab, manifests: a}}]}\n", ""},
		"a setting of a program":           {"skaffold.yaml", "{apiVersion: skaffold/v4beta1, kind: Config, deploy: {kubectl: {defaultNamespace: shop}}}\n", told},
		"a script for a lab":               {"deploy.sh", "kubectl apply -n lab -f a\n", ""},
		"the steps of a job":               {"build.yaml", "{steps: [{args: [apply, -n, shop, -f, a]}]}\n", told},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{tt.file: tt.text, "p.yaml": named, "a/b.yaml": "{apiVersion: v1, kind: ServiceAccount, metadata: {name: b, namespace: shop}}\n"}
			recent := maps.Clone(old)
			recent["a/q.yaml"] = bare
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
