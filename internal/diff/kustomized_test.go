package diff

import (
	"maps"
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
		"the namespace of Flux":                 {flux("path: ./, targetNamespace: shop"), ""},
		"another namespace of Flux":             {flux("path: ./, targetNamespace: cart"), elsewhere},
		"the namespace of Flux for what":        {flux("path: ./apps, targetNamespace: shop"), elsewhere},
		"the namespace of Flux, and a base":     {fluxAnd("path: ./, targetNamespace: shop", files{"a/kustomization.yaml": "resources: [../../b]\n"}), elsewhere},
		"the namespace of Flux for others":      {fluxAnd("path: ./apps, targetNamespace: cart", files{"apps/a.yaml": deployment}), ""},
		"the namespace of Flux and one without": {fluxAnd("path: ./, targetNamespace: shop", files{"q.yaml": "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: q}, spec: {selector: {matchLabels: {app: x}}, action: DENY, rules: [{}]}}\n"}), elsewhere},
		"a validation by Flux":                  {flux("path: ./, validation: client"), ""},
		"another cluster of Flux":               {flux("path: ./, kubeConfig: {secretRef: {name: a}}"), "spec.kubeConfig"},
		"a patch of another kind":               {kustomization("patches: [{target: {kind: Deployment}, patch: '[{op: remove, path: /a}]'}]\n"), ""},
		"a patch of policies":                   {kustomization("patches: [{target: {kind: AuthorizationPolicy}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch of kinds":                      {kustomization("patches: [{target: {kind: .*Policy}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch of names":                      {kustomization("patches: [{target: {name: p}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a patch in place":                      {kustomization("patches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    spec: {replicas: 3}\n"), ""},
		"a patch in place of policies":          {kustomization("patches:\n- patch: |\n    $patch: delete\n    apiVersion: security.istio.io/v1\n    kind: AuthorizationPolicy\n    metadata: {name: p}\n"), changed},
		"patches in place, one of policies":     {kustomization("patches:\n- patch: |\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata: {name: web}\n    ---\n    $patch: delete\n    apiVersion: security.istio.io/v1\n    kind: AuthorizationPolicy\n    metadata: {name: p}\n"), changed},
		"a patch in a file":                     {patchOf(deployment), ""},
		"a patch without a kind":                {patchOf("[{op: remove, path: /spec}]"), changed},
		"a patch that is not there":             {kustomization("patches: [{path: a.txt}]\n"), changed},
		"the namespace of the policies":         {kustomization("namespace: shop\n"), ""},
		"another namespace":                     {kustomization("namespace: cart\n"), changed},
		"a namespace for other folders":         {kustomization("namespace: shop\nbases: [../a]\n"), changed},
		"labels":                                {kustomization("labels: [{pairs: {team: a}}]\n"), ""},
		"labels of selectors":                   {kustomization("labels: [{includeSelectors: true, pairs: {team: a}}]\n"), changed},
		"labels that a mesh reads":              {kustomization("labels: [{pairs: {istio.io/rev: a}}]\n"), changed},
		"a component":                           {of("images: []\n"), ""},
		"a component with a patch":              {of("patches: [{target: {name: p}, patch: '[{op: remove, path: /spec}]'}]\n"), changed},
		"a component of elsewhere":              {kustomization("components: [github.com/a/b]\n"), changed},
		"a suffix":                              {kustomization("nameSuffix: -a\n"), changed},
		"ignored differences of others":         {application("[{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]"), ""},
		"ignored differences of policies":       {application("[{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}, {group: security.istio.io, kind: AuthorizationPolicy, jsonPointers: [/spec]}]"), "spec.ignoreDifferences[]"},
		"ignored differences of all":            {application("[{group: '*', kind: '*', jsonPointers: [/spec]}]"), "spec.ignoreDifferences[]"},
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
