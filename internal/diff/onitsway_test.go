package diff

import (
	"strings"
	"testing"
)

// TestWideningOnTheWay has a new pod that a tool changes before it is applied, by what the folder had before.
func TestWideningOnTheWay(t *testing.T) {
	t.Parallel()
	const (
		policy = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		placed = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		space  = "{apiVersion: v1, kind: Namespace, metadata: {name: lab}}\n"
		bare   = "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
	)
	flux := func(spec string) string {
		return "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: k, namespace: flux-system}, spec: {path: ./o, sourceRef: {kind: GitRepository, name: a}" + spec + "}}\n"
	}
	argo := func(source, namespace string) string {
		return "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: k, namespace: argocd}, spec: {destination: {namespace: " + namespace + "}, source: {repoURL: x, path: o" + source + "}}}\n"
	}
	set := func(spec string) string {
		return "{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: k, namespace: argocd}, spec: {generators: [{git: {}}], template: {spec: {destination: {namespace: shop}, source: {repoURL: x, path: '{{path}}'" + spec + "}}\n"
	}
	patched := func(kind, patch string) string {
		return "---\n{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: above, namespace: flux-system}, spec: {path: ./p, sourceRef: {kind: GitRepository, name: a}, patches: [{target: {kind: " + kind + "}, patch: '" + strings.ReplaceAll(patch, "'", "''") + "'}]}}\n"
	}
	const git = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: k, namespace: shop}, spec: {chart: {spec: {chart: o, sourceRef: {kind: GitRepository, name: a}}}}}\n"
	const release = "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: k, namespace: shop}, spec: {chartRef: {kind: HelmChart, name: c}, postRenderers: [{kustomize: {patches: [{patch: x}]}}]}}\n---\n"
	for name, tt := range map[string]struct{ tool, pod, want string }{
		"an ApplicationSet":                         {set("}}}"), placed, ""},
		"labels of an ApplicationSet":               {set(", kustomize: {commonLabels: {team: a}}}}}"), placed, "on its way"},
		"patches of an ApplicationSet":              {set(", kustomize: {patches: [{patch: x}]}}}}"), placed, "on its way"},
		"a patch of its template":                   {set("}}}, templatePatch: x"), placed, "on its way"},
		"a patch of how it is synced":               {set(`}}}, templatePatch: "{{- if .a }}\nspec:\n  syncPolicy: {automated: {prune: {{ .b }}}}\n{{- end }}\n{{ if .c }}\nspec:\n  ignoreDifferences: [{kind: Secret, jsonPointers: [/data]}]\n{{ end }}"`), placed, ""},
		"a patch of its source":                     {set(`}}}, templatePatch: "{{- if .a }}\nspec:\n  source: {kustomize: {patches: [{patch: x}]}}\n{{- end }}"`), placed, "on its way"},
		"a patch below a patch":                     {set(`}}}, templatePatch: "spec:\n{{- if .a }}\n  source: {plugin: {name: x}}\n{{- end }}"`), placed, "on its way"},
		"a patch of many lines":                     {set(`}}}, templatePatch: "spec:\n  syncPolicy: {}\n{{ toYaml .patch | indent 2 }}"`), placed, "on its way"},
		"a patch by a parameter":                    {set(`}}}, templatePatch: "spec: {{ toJson .patch }}"`), placed, "on its way"},
		"a patch of a name by a parameter":          {set(`}}}, templatePatch: "spec: {{ \"{\" }}{{ .key }}: {plugin: {name: x}}}"`), placed, "on its way"},
		"patches of another folder of a repository": {strings.Replace(flux(", patches: [{patch: x}]"), "./o", "./apps/p", 1), placed, ""},
		"patches of its folder in a repository":     {strings.Replace(flux(", patches: [{patch: x}]"), "./o", "./apps/o", 1), placed, "on its way"},
		"patches of a folder elsewhere":             {strings.Replace(flux(", patches: [{patch: x}]"), "./o", "./apps/q", 1), placed, "on its way"},
		"patches of a folder elsewhere, beside one": {flux("") + "---\n" + strings.NewReplacer("./o", "./apps/q", "name: k", "name: q").Replace(flux(", patches: [{patch: x}]")), placed, ""},
		"no change":                                  {flux(""), placed, ""},
		"patches of pods":                            {flux(", patches: [{patch: x, target: {kind: Pod}}]"), placed, "on its way"},
		"patches of any kind":                        {flux(", patches: [{patch: x}]"), placed, "on its way"},
		"patches of others":                          {flux(", patches: [{patch: x, target: {kind: HelmRelease}}]"), placed, ""},
		"a label that counts":                        {flux(", commonMetadata: {labels: {team: a}}"), placed, "on its way"},
		"another label":                              {flux(", commonMetadata: {labels: {unit: a}}"), placed, ""},
		"another namespace":                          {flux(", targetNamespace: lab"), placed, "on its way"},
		"its namespace":                              {flux(", targetNamespace: shop"), placed, ""},
		"the namespace of a control plane":           {flux(", targetNamespace: kube-system"), bare, "on its way"},
		"components":                                 {flux(", components: [../c]"), placed, "on its way"},
		"variables":                                  {flux(", postBuild: {substitute: {a: b}}"), placed, ""},
		"an Application":                             {argo("", "shop"), placed, ""},
		"labels of an Application":                   {argo(", kustomize: {commonLabels: {team: a}}", "shop"), placed, "on its way"},
		"images of an Application":                   {argo(", kustomize: {images: ['a=b']}", "shop"), placed, ""},
		"a plugin of an Application":                 {argo(", plugin: {name: a}", "shop"), placed, "on its way"},
		"an Application for Argo CD":                 {argo("", "argocd"), bare, "on its way"},
		"a namespace of an Application":              {argo("", "argocd"), space, ""},
		"a namespace by Kustomize":                   {argo(", kustomize: {namespace: argocd}", "shop"), space, "on its way"},
		"an ApplicationSet of charts":                {strings.Replace(set(", kustomize: {commonLabels: {team: a}}}}}"), "path: '{{path}}'", "chart: x", 1), placed, ""},
		"labels by a parameter":                      {set(", kustomize: {commonLabels: {'{{name}}': a}}}}}"), placed, "on its way"},
		"a template of a generator":                  {strings.Replace(set("}}}"), "{git: {}}", "{list: {elements: [], template: {metadata: {}, spec: {source: {kustomize: {commonLabels: {team: a}}}}}}}", 1), placed, "on its way"},
		"a generator with a template of a generator": {strings.Replace(set("}}}"), "{git: {}}", "{matrix: {generators: [{git: {template: {spec: {source: {plugin: {name: x}}}}}}]}}", 1), placed, "on its way"},
		"labels of a hydrator":                       {"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: k, namespace: argocd}, spec: {destination: {namespace: shop}, sourceHydrator: {drySource: {repoURL: x, path: o, kustomize: {commonLabels: {team: a}}}}}}\n", placed, "on its way"},
		"an object that makes one of Flux":           {"{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: k, namespace: flux-system}, spec: {resources: [" + strings.TrimSpace(flux(", components: [../c]")) + "]}}\n", placed, "on its way"},
		"an object that makes another one":           {"{apiVersion: fluxcd.controlplane.io/v1, kind: ResourceSet, metadata: {name: k, namespace: flux-system}, spec: {resources: [" + strings.TrimSpace(flux("")) + "]}}\n", placed, ""},
		"a release that changes its chart":           {"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: k, namespace: shop}, spec: {chart: {spec: {chart: ./o}}, postRenderers: [{kustomize: {patches: [{patch: x}]}}]}}\n", placed, "on its way"},
		"a release that changes a chart of Git":      {"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: k, namespace: shop}, spec: {chart: {spec: {chart: o, sourceRef: {kind: GitRepository, name: a}}}, postRenderers: [{kustomize: {patches: [{patch: x}]}}]}}\n", placed, "on its way"},
		"a release of a chart of a repository":       {"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: k, namespace: shop}, spec: {chart: {spec: {chart: o, sourceRef: {kind: HelmRepository, name: a}}}, postRenderers: [{kustomize: {patches: [{patch: x}]}}]}}\n", placed, ""},
		"a release of another chart":                 {"{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: k, namespace: shop}, spec: {chart: {spec: {chart: x}}, postRenderers: [{kustomize: {patches: [{patch: x}]}}]}}\n", placed, ""},
		"a patch of Kustomizations":                  {flux("") + patched("Kustomization", "{spec: {patches: [{patch: x}]}}"), placed, "on its way"},
		"a patch of Kustomizations for others":       {flux("") + patched("Kustomization", "{spec: {timeout: 1m, deletionPolicy: Orphan, patches: [{patch: x, target: {kind: HelmRelease}}]}}"), placed, ""},
		"a patch of Kustomizations in JSON":          {flux("") + patched("Kustomization", "[{op: add, path: /spec/patches/-, value: {patch: x}}]"), placed, "on its way"},
		"a patch of when they are applied":           {flux("") + patched("Kustomization", "[{op: replace, path: /spec/interval, value: 1h}, {op: remove, path: /spec/patches}]"), placed, ""},
		"a patch of any kind":                        {flux("") + patched("Kustom.*", "{spec: {components: [../c]}}"), placed, "on its way"},
		"a patch that cannot be read":                {flux("") + patched("Kustomization", "{{ .a }}: [b"), placed, "on its way"},
		"a patch of Applications":                    {argo("", "shop") + patched("Application", "[{op: add, path: /spec/source/plugin, value: {name: x}}]"), placed, "on its way"},
		"a patch of when they are synced":            {argo("", "shop") + patched("Application", "{spec: {syncPolicy: {automated: {}}, source: {kustomize: {images: ['a=b']}}}}"), placed, ""},
		"a patch of releases":                        {git + patched("HelmRelease", "{spec: {postRenderers: [{kustomize: {patches: [{patch: x}]}}]}}"), placed, "on its way"},
		"a patch of releases for others":             {git + patched("HelmRelease", "{spec: {postRenderers: [{kustomize: {patches: [{patch: x, target: {kind: HTTPRoute}}]}}]}}"), placed, ""},
		"a patch of releases of foreign charts":      {strings.Replace(git, "GitRepository", "HelmRepository", 1) + patched("HelmRelease", "{spec: {postRenderers: [{kustomize: {patches: [{patch: x}]}}]}}"), placed, ""},
		"a patch of how releases come":               {git + patched("HelmRelease", "{spec: {install: {crds: Skip}, upgrade: {remediation: {retries: 3}}}}"), placed, ""},
		"labels of a release":                        {strings.Replace(git, "spec: {chart", "spec: {commonMetadata: {labels: {team: a}}, chart", 1), placed, "on its way"},
		"a definition of such objects":               {"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: k}, spec: {versions: [{schema: {properties: {path: {type: string}, patches: {type: array}}}}]}}\n", placed, ""},
		"a release of a chart by its name":           {release + "{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmChart, metadata: {name: c, namespace: shop}, spec: {chart: ./o, sourceRef: {kind: GitRepository, name: a}}}\n", placed, "on its way"},
		"a release of a foreign chart by its name":   {release + "{apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmChart, metadata: {name: c, namespace: shop}, spec: {chart: o, sourceRef: {kind: HelmRepository, name: a}}}\n", placed, ""},
		"a release of a chart that is not there":     {release, placed, "on its way"},
		"another folder of a set":                    {strings.Replace(set(", kustomize: {commonLabels: {team: a}}}}}"), "'{{path}}'", "'p/{{name}}'", 1), placed, ""},
		"the folder of a set":                        {strings.Replace(set(", kustomize: {commonLabels: {team: a}}}}}"), "'{{path}}'", "'o/{{name}}'", 1), placed, "on its way"},
		"a folder whose name begins so":              {strings.Replace(set(", kustomize: {commonLabels: {team: a}}}}}"), "'{{path}}'", "'o{{name}}'", 1), placed, "on its way"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{"p.yaml": policy, "k.yaml": tt.tool, "o/kustomization.yaml": "resources: []\n", "p/kustomization.yaml": "resources: []\n"}
			recent := map[string]string{"p.yaml": policy, "k.yaml": tt.tool, "o/kustomization.yaml": "resources: []\n", "p/kustomization.yaml": "resources: []\n", "o/a.yaml": tt.pod}
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}

// TestWideningByKustomization has a new pod as the second document of a file, which a kustomization takes that stays as it is.
func TestWideningByKustomization(t *testing.T) {
	t.Parallel()
	const (
		policy = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		pod    = "{apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		told   = "kustomization.yaml may change it on its way"
	)
	first, second := strings.Replace(pod, "NAME", "a", 1), strings.Replace(pod, "NAME", "b", 1)
	for name, tt := range map[string]struct{ says, overlay, want string }{
		"nothing more":                      {"", "", ""},
		"a label that counts":               {"labels: [{pairs: {team: a}}]", "", told},
		"a label of all":                    {"commonLabels: {team: a}", "", told},
		"another label":                     {"labels: [{pairs: {unit: a}}]", "", told},
		"another namespace":                 {"namespace: lab", "", told},
		"its namespace":                     {"namespace: shop", "", ""},
		"patches of pods":                   {"patches: [{patch: x, target: {kind: Pod}}]", "", told},
		"patches of one by its name":        {"patches: [{patch: x, target: {kind: Pod, name: other}}]", "", ""},
		"patches of this one by its name":   {"patches: [{patch: x, target: {kind: Pod, name: b}}]", "", told},
		"patches of its later name":         {"nameSuffix: -v2\npatches: [{patch: x, target: {kind: Pod, name: b-v2}}]", "", told},
		"patches by an expression":          {"patches: [{patch: x, target: {kind: Pod, name: '.*'}}]", "", told},
		"an older patch of one by its name": {"patchesJson6902: [{path: x.yaml, target: {version: v1, kind: Pod, name: other}}]", "", ""},
		"an older patch of this one":        {"patchesJson6902: [{path: x.yaml, target: {version: v1, kind: Pod, name: b}}]", "", told},
		"patches by a label":                {"patches: [{patch: x, target: {labelSelector: app=x}}]", "", told},
		"patches by an annotation":          {"patches: [{patch: x, target: {annotationSelector: a=b}}]", "", told},
		"patches of others":                 {"patches: [{patch: x, target: {kind: HelmRelease}}]", "", ""},
		"another tag":                       {"images: [{name: a, newTag: '2'}]", "", ""},
		"a component":                       {"components: [../c]", "", told},
		"a patch of a Service above":        {"", "patches: [{target: {kind: Service}, patch: \"- op: replace\\n  path: /spec/selector\\n  value: {a: b}\\n\"}]", ""},
		"an older patch of Kustomizations":  {"", "patchesStrategicMerge: [\"apiVersion: kustomize.toolkit.fluxcd.io/v1\\nkind: Kustomization\\nspec:\\n  components: [../c]\\n\"]", told},
		"a patch of Kustomizations above":   {"", "patches: [{target: {kind: Kustomization}, patch: '[{op: add, path: /spec/patches, value: [{patch: x}]}]'}]", told},
		"a label of the overlay above":      {"", "labels: [{pairs: {team: a}}]", told},
		"a replacement of the overlay":      {"", "replacements: [{path: r.yaml}]", told},
		"a key that is not known":           {"later: [a]", "", told},
		"patches of others in the overlay":  {"", "patches: [{patch: x, target: {kind: HelmRelease}}]", ""},
		"patches of pods in the overlay":    {"", "patches: [{patch: x, target: {kind: Pod}}]", told},
		"a prefix of names, by its policy":  {"namePrefix: x-", "", told},
		"generators of settings beside it":  {"configMapGenerator: [{name: c, literals: [a=b]}]", "", ""},
		"a number of pods":                  {"replicas: [{name: a, count: 2}]", "", ""},
		"annotations that nothing asks for": {"commonAnnotations: {note: a}", "", told},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := func(pods string) map[string]string {
				return map[string]string{
					"p.yaml": policy, "o/kustomization.yaml": "resources: [a.yaml]\n" + tt.says + "\n", "o/a.yaml": pods,
					"above/kustomization.yaml": "resources: [../o]\n" + tt.overlay + "\n", "c/kustomization.yaml": "kind: Component\npatches: [{patch: x}]\n",
				}
			}
			checkReasons(t, folderSide(t, files(first), ""), folderSide(t, files(first+"---\n"+second), ""), tt.want)
		})
	}
}

// TestWideningByUnknownKustomization has a new pod beside a kustomization of which not all is known, and which changes what it takes. It takes no file that it cannot name.
func TestWideningByUnknownKustomization(t *testing.T) {
	t.Parallel()
	const (
		policy = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		pod    = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		told   = "on its way"
	)
	for name, tt := range map[string]struct{ takes, pod, want string }{
		"a repository":                   {"resources: ['https://github.com/a/b//c?ref=v1']", "o/a.yaml", ""},
		"a file of a release":            {"resources: ['https://github.com/a/b/releases/download/v1/install.yaml']", "o/a.yaml", ""},
		"the file, by its address":       {"resources: ['https://raw.githubusercontent.com/a/b/main/o/a.yaml']", "o/a.yaml", told},
		"a chart":                        {"helmCharts: [{name: c, repo: 'https://charts.example', version: '1'}]", "o/a.yaml", ""},
		"a chart of its own":             {"helmCharts: [{name: c}]", "k/charts/c/a.yaml", told},
		"a chart of a folder":            {"helmGlobals: {chartHome: ../h}\nhelmCharts: [{name: c}]", "h/c/a.yaml", told},
		"a file that is not there":       {"resources: [b.yaml]", "o/a.yaml", ""},
		"a folder that is not there":     {"resources: [../b]", "o/a.yaml", ""},
		"a folder without kustomization": {"resources: [../o]", "o/a.yaml", told},
		"one that is not read":           {"resources: [../u]", "o/a.yaml", told},
		"a generator":                    {"generators: [g.yaml]", "o/a.yaml", told},
		"a folder beside":                {"resources: [../base]", "o/a.yaml", ""},
		"a folder beside, with the pod":  {"resources: [../base]", "base/a.yaml", told},
		"its repository, by its address": {"resources: ['github.com/a/b/base?ref=main']", "base/a.yaml", told},
		"all of its repository":          {"resources: ['https://github.com/a/b?ref=main']", "a.yaml", told},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := func(pods string) map[string]string {
				out := map[string]string{
					"p.yaml": policy, "k/kustomization.yaml": "namespace: lab\n" + tt.takes + "\n", "base/kustomization.yaml": "resources: [a.yaml]\n", "base/a.yaml": strings.ReplaceAll(pod, "name: a,", "name: b,"),
					"u/Kustomization": "resources: [../o]\n", "kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": strings.ReplaceAll(pod, "name: a,", "name: c,"),
				}
				if tt.takes != "resources: [../u]" {
					delete(out, "u/Kustomization")
				}
				out[tt.pod] += pods
				return out
			}
			checkReasons(t, folderSide(t, files(""), ""), folderSide(t, files("---\n"+pod), ""), tt.want)
		})
	}
}

// TestWideningByFleet has a new pod in a folder with a fleet.yaml, which stays as it is.
func TestWideningByFleet(t *testing.T) {
	t.Parallel()
	const (
		policy = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		pod    = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
	)
	for name, tt := range map[string]struct{ file, says, want string }{
		"where it is":          {"o/fleet.yaml", "defaultNamespace: shop\n", ""},
		"another namespace":    {"o/fleet.yaml", "namespace: lab\n", "on its way"},
		"overlays":             {"o/fleet.yaml", "yaml: {overlays: [a]}\n", "on its way"},
		"a kustomization":      {"fleet.yaml", "kustomize: {dir: o}\n", "on its way"},
		"of one cluster":       {"o/fleet.yml", "targetCustomizations: [{name: a, yaml: {overlays: [a]}}]\n", "on its way"},
		"in the folder beside": {"x/fleet.yaml", "namespace: lab\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{"p.yaml": policy, tt.file: tt.says}
			recent := map[string]string{"p.yaml": policy, tt.file: tt.says, "o/a.yaml": pod}
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
