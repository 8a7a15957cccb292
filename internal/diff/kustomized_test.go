package diff

import (
	"maps"
	"strings"
	"testing"
)

// TestOfKustomizations narrows a policy of a folder with a kustomization, or an object of Argo CD, which is as before. What cannot touch a policy is no reason to fail.
func TestOfKustomizations(t *testing.T) {
	t.Parallel()
	const (
		wide       = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {namespaces: [shop, cart]}}]}]}}\n"
		narrow     = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {namespaces: [shop]}}]}]}}\n"
		deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 2}}\n"
		changed    = "may change policies, and some of them have changed"
	)
	type files map[string]string
	kustomization := func(text string) files { return files{"kustomization.yaml": "resources: [p.yaml]\n" + text} }
	patchOf := func(patch string) files {
		return files{"kustomization.yaml": "resources: [p.yaml]\npatches: [{path: a.yaml}]\n", "a.yaml": patch}
	}
	of := func(component string) files {
		return files{"kustomization.yaml": "resources: [p.yaml]\ncomponents: [c]\n", "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n" + component}
	}
	application := func(differences string) files {
		return files{"a.yaml": "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a}, spec: {project: a, source: {repoURL: a, path: ., directory: {recurse: true}}, ignoreDifferences: " + differences + "}}\n"}
	}
	flux := func(fields string) files {
		return files{"f.yaml": "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a, namespace: flux-system}, spec: {interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: a}, " + fields + "}}\n"}
	}
	fluxAnd := func(fields string, more files) files {
		out := flux(fields)
		maps.Copy(out, more)
		return out
	}
	const elsewhere = "spec.targetNamespace"
	for name, tt := range map[string]struct {
		others files
		want   string
	}{
		"a patch of another kind":                      {kustomization("patches: [{target: {kind: Deployment}, patch: '[{op: remove, path: /a}]'}]\n"), ""},
		"a patch of policies":                          {kustomization("patches: [{target: {kind: AuthorizationPolicy}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch of kinds":                             {kustomization("patches: [{target: {kind: .*Policy}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch of names":                             {kustomization("patches: [{target: {name: p}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch in place":                             {kustomization("patches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {replicas: 3}\n"), ""},
		"a patch in place of policies":                 {kustomization("patches:\n- patch: |\n    $patch: delete\n    apiVersion: security.istio.io/v1\n    kind: AuthorizationPolicy\n    metadata: {name: p}\n"), changed},
		"patches in place, one of policies":            {kustomization("patches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    ---\n    $patch: delete\n    apiVersion: security.istio.io/v1\n    kind: AuthorizationPolicy\n    metadata: {name: p}\n"), changed},
		"a patch in a file":                            {patchOf(deployment), ""},
		"a patch without a kind":                       {patchOf("[{op: remove, path: /spec}]"), changed},
		"a patch that is not there":                    {kustomization("patches: [{path: a.txt}]\n"), changed},
		"the namespace of the policies":                {kustomization("namespace: shop\n"), ""},
		"another namespace":                            {kustomization("namespace: cart\n"), changed},
		"a namespace for other folders":                {kustomization("namespace: shop\nbases: [../a]\n"), changed},
		"a namespace for a folder by a detour":         {kustomization("namespace: shop\nbases: [./b/../../a]\n"), changed},
		"a namespace for a component of elsewhere":     {files{"q/kustomization.yaml": "namespace: cart\ncomponents: [../c]\n", "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [../p.yaml]\n"}, "q/kustomization.yaml:1: namespace"},
		"a namespace for what a folder below takes":    {files{"q/kustomization.yaml": "namespace: cart\nresources: [b]\n", "q/b/kustomization.yaml": "resources: [../../c]\n", "c/kustomization.yaml": "resources: [../p.yaml]\n"}, "q/kustomization.yaml:1: namespace"},
		"a namespace for a component without policies": {files{"q/kustomization.yaml": "namespace: cart\ncomponents: [../c]\n", "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [n.yaml]\n", "c/n.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n"}, ""},
		"a namespace for folders below":                {files{"kustomization.yaml": "namespace: shop\nresources: [p.yaml, b]\n", "b/kustomization.yaml": "resources: [c.yaml]\n", "b/c.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n"}, ""},
		"a patch of what delivers":                     {kustomization("patches: [{target: {kind: Kustomization}, patch: '[{op: add, path: /spec/suspend, value: true}]'}]\n"), changed},
		"a patch in place of what delivers":            {kustomization("patches:\n- patch: |\n    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    metadata: {name: p}\n    spec: {suspend: true}\n"), changed},
		"a patch of what delivers, in a file":          {patchOf("{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: a}, spec: {ignore: p.yaml}}\n"), changed},
		"a patch of a mutation":                        {kustomization("patches: [{target: {kind: ClusterPolicy}, patch: '[{op: add, path: /spec/rules/0, value: {}}]'}]\n"), changed},
		"a patch of a kind that is in no file":         {kustomization("patches: [{target: {kind: Unheard}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch of a kind that a file shows":          {files{"kustomization.yaml": "resources: [p.yaml, a.yaml]\npatches: [{target: {kind: Heard}, patch: '[{op: remove, path: /spec}]'}]\n", "a.yaml": "{apiVersion: example.com/v1, kind: Heard, metadata: {name: a}}\n"}, ""},
		"a patch of a chart of others":                 {files{"kustomization.yaml": "resources: [p.yaml, a.yaml]\npatches: [{target: {kind: HelmRelease}, patch: '[{op: remove, path: /spec/timeout}]'}]\n", "a.yaml": "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: a}, spec: {chart: {spec: {sourceRef: {kind: HelmRepository}}}}}\n"}, ""},
		"a patch of definitions":                       {kustomization("patches: [{target: {kind: CustomResourceDefinition}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch of a quota":                           {kustomization("patches: [{target: {kind: ResourceQuota}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch that changes the kind":                {kustomization("patches: [{target: {kind: ConfigMap}, options: {allowKindChange: true}, patch: '[{op: replace, path: /kind, value: AuthorizationPolicy}]'}]\n"), changed},
		"a patch of the configuration of Argo CD":      {kustomization("patches: [{target: {kind: ConfigMap, name: argocd-cm}, patch: '[{op: add, path: /data/resource.exclusions, value: a}]'}]\n"), changed},
		"a patch of another configuration":             {kustomization("patches: [{target: {kind: ConfigMap, name: settings}, patch: '[{op: add, path: /data/a, value: a}]'}]\n"), ""},
		"ignored differences of a pattern":             {application("[{group: security.istio.io, kind: '[A]uthorizationPolicy', jsonPointers: [/spec]}]"), "spec.ignoreDifferences[]"},
		"labels":                                       {kustomization("labels: [{pairs: {team: a}}]\n"), ""},
		"labels that are no list":                      {kustomization("labels: {pairs: {istio.io/rev: a}}\n"), changed},
		"a component that is no list":                  {kustomization("components: c\n"), changed},
		"labels of selectors":                          {kustomization("labels: [{includeSelectors: true, pairs: {team: a}}]\n"), changed},
		"labels that a mesh reads":                     {kustomization("labels: [{pairs: {istio.io/rev: a}}]\n"), changed},
		"a component":                                  {of("images: []\n"), ""},
		"a component with a patch":                     {of("patches: [{target: {name: p}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a component of elsewhere":                     {kustomization("components: [github.com/a/b]\n"), changed},
		"a policy that one of two alike leaves out":    {files{"kustomization.yaml": "resources: [p.yaml]\n", "a/kustomization.yaml": "resources: [p.yaml]\n", "a/d.yaml": strings.NewReplacer("name: p", "name: d").Replace(narrow)}, "a/d.yaml:1 (AuthorizationPolicy shop/d) is not named by the kustomization of its folder"},
		"a suffix":                              {kustomization("nameSuffix: -a\n"), changed},
		"ignored differences of others":         {application("[{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]"), ""},
		"ignored differences of policies":       {application("[{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}, {group: security.istio.io, kind: AuthorizationPolicy, jsonPointers: [/spec]}]"), "spec.ignoreDifferences[]"},
		"ignored differences of all":            {application("[{group: '*', kind: '*', jsonPointers: [/spec]}]"), "spec.ignoreDifferences[]"},
		"the namespace of Flux":                 {flux("path: ./, targetNamespace: shop"), ""},
		"another namespace of Flux":             {flux("path: ./, targetNamespace: cart"), elsewhere},
		"the namespace of Flux for what":        {flux("path: ./apps, targetNamespace: shop"), elsewhere},
		"the namespace of Flux, and a base":     {fluxAnd("path: ./, targetNamespace: shop", files{"a/kustomization.yaml": "resources: [../../b]\n"}), elsewhere},
		"the namespace of Flux, and a detour":   {fluxAnd("path: ./apps, targetNamespace: cart", files{"apps/kustomization.yaml": "resources: [./c/../../p.yaml]\n"}), elsewhere},
		"the namespace of Flux for others":      {fluxAnd("path: ./apps, targetNamespace: cart", files{"apps/a.yaml": deployment}), ""},
		"the namespace of Flux and one without": {fluxAnd("path: ./, targetNamespace: shop", files{"q.yaml": "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: q}, spec: {selector: {matchLabels: {app: x}}, action: DENY, rules: [{}]}}\n"}), elsewhere},
		"a validation by Flux":                  {flux("path: ./, validation: client"), ""},
		"another cluster of Flux":               {flux("path: ./, kubeConfig: {secretRef: {name: a}}"), "spec.kubeConfig"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, recent := files{"p.yaml": wide}, files{"p.yaml": narrow}
			maps.Copy(old, tt.others)
			maps.Copy(recent, tt.others)
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
