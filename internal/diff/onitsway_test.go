package diff

import "testing"

// TestWideningOnTheWay has a new pod that a tool changes before it is applied, by what the folder had before.
func TestWideningOnTheWay(t *testing.T) {
	t.Parallel()
	const (
		policy = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		placed = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		bare   = "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
	)
	flux := func(spec string) string {
		return "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: k, namespace: flux-system}, spec: {path: ./o, sourceRef: {kind: GitRepository, name: a}" + spec + "}}\n"
	}
	argo := func(source, namespace string) string {
		return "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: k, namespace: argocd}, spec: {destination: {namespace: " + namespace + "}, source: {repoURL: x, path: o" + source + "}}}\n"
	}
	for name, tt := range map[string]struct{ tool, pod, want string }{
		"no change":                        {flux(""), placed, ""},
		"patches of pods":                  {flux(", patches: [{patch: x, target: {kind: Pod}}]"), placed, "on its way"},
		"patches of any kind":              {flux(", patches: [{patch: x}]"), placed, "on its way"},
		"patches of others":                {flux(", patches: [{patch: x, target: {kind: HelmRelease}}]"), placed, ""},
		"a label that counts":              {flux(", commonMetadata: {labels: {team: a}}"), placed, "on its way"},
		"another label":                    {flux(", commonMetadata: {labels: {unit: a}}"), placed, ""},
		"another namespace":                {flux(", targetNamespace: lab"), placed, "on its way"},
		"its namespace":                    {flux(", targetNamespace: shop"), placed, ""},
		"the namespace of a control plane": {flux(", targetNamespace: kube-system"), bare, "on its way"},
		"components":                       {flux(", components: [../c]"), placed, "on its way"},
		"variables":                        {flux(", postBuild: {substitute: {a: b}}"), placed, ""},
		"an Application":                   {argo("", "shop"), placed, ""},
		"labels of an Application":         {argo(", kustomize: {commonLabels: {team: a}}", "shop"), placed, "on its way"},
		"images of an Application":         {argo(", kustomize: {images: ['a=b']}", "shop"), placed, ""},
		"a plugin of an Application":       {argo(", plugin: {name: a}", "shop"), placed, "on its way"},
		"an Application for Argo CD":       {argo("", "argocd"), bare, "on its way"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{"p.yaml": policy, "k.yaml": tt.tool, "o/kustomization.yaml": "resources: []\n"}
			recent := map[string]string{"p.yaml": policy, "k.yaml": tt.tool, "o/kustomization.yaml": "resources: []\n", "o/a.yaml": tt.pod}
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
