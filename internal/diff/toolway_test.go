package diff

import (
	"maps"
	"strings"
	"testing"
)

// TestWideningOfABase has a new pod in a base. The kustomization of another folder takes the base, and a tool takes that folder.
func TestWideningOfABase(t *testing.T) {
	t.Parallel()
	const (
		policy = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		pod    = "{apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		flux   = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: k, namespace: flux-system}, spec: {path: PATH, sourceRef: {kind: GitRepository, name: a}, patches: [{patch: x}]}}\n"
		told   = "may change it on its way"
	)
	at := func(path string) string { return strings.Replace(flux, "PATH", path, 1) }
	argo := "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: k, namespace: argocd}, spec: {destination: {namespace: shop}, source: {repoURL: x, path: q, plugin: {name: x}}}}\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"by Flux":                  {map[string]string{"k.yaml": at("./q")}, told},
		"by Flux, of another one":  {map[string]string{"k.yaml": at("./z"), "z/kustomization.yaml": "resources: [../p]\n"}, ""},
		"by Argo CD":               {map[string]string{"k.yaml": argo}, told},
		"by Fleet":                 {map[string]string{"q/fleet.yaml": "namespace: lab\n"}, told},
		"by an overlay of it":      {map[string]string{"k.yaml": at("./z"), "z/kustomization.yaml": "resources: [../q]\n"}, told},
		"by its file":              {map[string]string{"k.yaml": at("./z"), "z/kustomization.yaml": "resources: [../o/b.yaml]\n"}, told},
		"by a file of Argo CD":     {map[string]string{"k.yaml": strings.Replace(argo, "plugin: {name: x}", "directory: {recurse: true}", 1), "q/.argocd-source-k.yaml": "kustomize: {commonLabels: {team: a}}\n"}, told},
		"by a file of images":      {map[string]string{"k.yaml": strings.Replace(argo, "plugin: {name: x}", "directory: {recurse: true}", 1), "q/.argocd-source-k.yaml": "kustomize: {images: ['a=b']}\n"}, ""},
		"by values of a chart":     {map[string]string{"values.yaml": "applications: {web: {source: {repoURL: x, path: q, plugin: {name: x}}}}\n"}, told},
		"by values of a release":   {map[string]string{"k.yaml": "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: k, namespace: shop}, spec: {chart: {spec: {chart: sync}}, values: {kustomization: {spec: {path: ./q, patches: [{patch: x}]}}}}}\n"}, told},
		"by a mutation of Kyverno": {map[string]string{"k.yaml": "{apiVersion: kyverno.io/v1, kind: ClusterPolicy, metadata: {name: m}, spec: {rules: [{name: a, match: {any: [{resources: {kinds: [Kustomization]}}]}, mutate: {patchStrategicMerge: {spec: {patches: [{patch: x}]}}}}]}}\n"}, told},
		"by kpt":                   {map[string]string{"o/Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: o}\npipeline: {mutators: [{image: set-labels, configMap: {team: a}}]}\n"}, told},
		"by kpt, another label":    {map[string]string{"o/Kptfile": "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: o}\npipeline: {mutators: [{image: set-labels, configMap: {unit: a}}]}\n"}, ""},
		"by Helmfile":              {map[string]string{"helmfile.yaml": "releases: [{name: o, chart: ./o, jsonPatches: [{target: {kind: Pod, name: a}, patch: [{op: add, path: /metadata/labels/team, value: a}]}]}]\n"}, told},
		"by kluctl":                {map[string]string{"deployment.yaml": "deployments: [{path: o}]\ncommonLabels: {team: a}\n"}, told},
		"by Karmada":               {map[string]string{"k.yaml": "{apiVersion: policy.karmada.io/v1alpha1, kind: OverridePolicy, metadata: {name: g, namespace: shop}, spec: {overrideRules: [{overriders: {labelsOverrider: [{operator: add, value: {team: a}}]}}]}}\n"}, told},
		"by another object":        {map[string]string{"k.yaml": "{apiVersion: config.projectsveltos.io/v1beta1, kind: ClusterProfile, metadata: {name: g}, spec: {patches: [{patch: '[{op: add, path: /spec/replicas, value: 2}]'}]}}\n"}, ""},
		"by a script":              {map[string]string{"run.sh": "kubectl apply -f o\nkubectl label pods --all team=a\n"}, told},
		"by a script of yq":        {map[string]string{"run.sh": "yq -i '.metadata.labels.team = \"a\"' o/*.yaml\nkubectl apply -f o\n"}, told},
		"by a script that asks":    {map[string]string{"run.sh": "kubectl apply -f o\nkubectl get pods --show-labels -l team=a\n"}, ""},
		"by a script, another one": {map[string]string{"run.sh": "kubectl apply -f o\nkubectl label pods --all unit=a\n"}, ""},
		"by what a ConfigMap has":  {map[string]string{"k.yaml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}, data: {k: '" + strings.TrimSpace(at("./q")) + "'}}\n"}, told},
		"by one that takes others": {map[string]string{"k.yaml": at("./p")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{"p.yaml": policy, "o/b.yaml": strings.Replace(pod, "NAME", "b", 1), "o/kustomization.yaml": "resources: [b.yaml]\n", "q/kustomization.yaml": "resources: [../o]\n", "p/kustomization.yaml": "resources: []\n"}
			maps.Copy(old, tt.files)
			recent := maps.Clone(old)
			recent["o/b.yaml"] += "---\n" + strings.Replace(pod, "NAME", "a", 1)
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
