package diff

import "testing"

// TestWideningBehindKustomizations has kustomizations that let somebody in by what looks like a change of workloads alone. Each of them passed.
func TestWideningBehindKustomizations(t *testing.T) {
	t.Parallel()
	const (
		policy   = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		deny     = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: d, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingressDeny: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		pod      = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		other    = "{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		meshed   = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}, {name: istio-proxy, image: auto}]}}\n"
		unplaced = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: c}}\n"
		role     = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{apiGroups: [''], resources: [configmaps], verbs: [update]}]}\n"
	)
	type files = map[string]string
	base := files{"p.yaml": policy, "o/a.yaml": pod, "o/kustomization.yaml": "resources: [a.yaml]\n"}
	with := func(all ...files) files { return overlaid(base, all...) }
	without := files{"o/a.yaml": "", "o/kustomization.yaml": ""}
	in := func(text string) files { return files{"o/kustomization.yaml": text} }
	over := func(text string) files { return files{"z/kustomization.yaml": text} }
	more := with(files{"o/b.yaml": other}, in("resources: [a.yaml, b.yaml]\n"))
	root := func(resources string) files {
		return files{"kustomization.yaml": "resources: [" + resources + "]\n"}
	}
	const replacement = "replacements: [{source: {kind: Pod}, targets: [{select: {kind: CiliumNetworkPolicy}}]}]\n"
	for name, tt := range map[string]struct {
		old, recent files
		want        string
	}{
		"a label of a pod":                           {base, with(in("resources: [a.yaml]\nlabels: [{pairs: {team: a}}]\n")), "labels"},
		"a label that goes":                          {with(in("resources: [a.yaml]\nlabels: [{pairs: {app: y}}]\n")), base, "labels"},
		"a label of a new pod":                       {with(over("resources: [../o]\nlabels: [{pairs: {team: a}}]\n")), with(over("resources: [../o]\nlabels: [{pairs: {team: a}}]\n"), more), "resources"},
		"a label of a new folder":                    {with(without), with(in("resources: [a.yaml]\nlabels: [{pairs: {team: a}}]\n")), "is new"},
		"another label":                              {base, with(in("resources: [a.yaml]\nlabels: [{pairs: {unit: a}}]\n")), "labels"},
		"an overlay with a name":                     {with(over("metadata: {name: z}\nresources: [../o]\ncommonLabels: {team: a}\n")), with(over("metadata: {name: z}\nresources: [../o]\ncommonLabels: {team: a}\n"), more), "resources"},
		"an overlay by its URL":                      {with(over("resources: ['https://a.example/b//o?ref=main']\ncommonLabels: {team: a}\n")), with(over("resources: ['https://a.example/b//o?ref=main']\ncommonLabels: {team: a}\n"), more), "resources"},
		"a settings map that is made":                {base, with(files{"n/kustomization.yaml": "configMapGenerator: [{name: cilium-config, namespace: kube-system, literals: [enable-policy=never]}]\n"}), "is new"},
		"a settings map that was made":               {with(files{"n/kustomization.yaml": "configMapGenerator: [{name: cilium-config, namespace: kube-system, literals: [enable-policy=always]}]\n"}), base, "is gone"},
		"a Secret for a tool that is made":           {base, with(files{"n/kustomization.yaml": "namespace: argocd\nsecretGenerator: [{name: a, literals: [b=c], options: {labels: {argocd.argoproj.io/secret-type: cluster}}}]\n"}), "is new"},
		"what gets the namespace of a control plane": {base, with(files{"n/kustomization.yaml": "namespace: kube-system\nresources: [a.yaml]\n", "n/a.yaml": unplaced}), "is new"},
		"a role that gets it":                        {base, with(files{"n/kustomization.yaml": "namespace: cilium\nresources: [a.yaml]\n", "n/a.yaml": role}), "is new"},
		"the image of a sidecar by a pattern":        {with(files{"o/a.yaml": meshed}), with(files{"o/a.yaml": meshed}, in("resources: [a.yaml]\nimages: [{name: '.*', newName: b}]\n")), "images"},
		"an image for a tool":                        {with(over("resources: [../o]\nnamespace: argocd\n")), with(over("resources: [../o]\nnamespace: argocd\n"), in("resources: [a.yaml]\nimages: [{name: a, newTag: '2'}]\n")), "images"},
		"an image in a policy":                       {with(in("resources: [a.yaml]\n"), over(replacement)), with(over(replacement), in("resources: [a.yaml]\nimages: [{name: a, newTag: '2'}]\n")), "images"},
		"a number of pods in a policy":               {with(over(replacement)), with(over(replacement), in("resources: [a.yaml]\nreplicas: [{name: a, count: 2}]\n")), "replicas"},
		"the first one of a file":                    {with(in("resources: [a.yaml]\n---\nresources: [a.yaml]\n")), with(in("resources: [a.yaml]\ncommonLabels: {team: a}\n---\nresources: [a.yaml]\n")), "of which Kustomize reads one"},
		"a base that nobody takes any more":          {with(root("p.yaml, z"), files{"o/d.yaml": deny, "o/kustomization.yaml": "resources: [a.yaml, d.yaml]\n", "z/kustomization.yaml": "resources: [../o]\n"}), with(root("p.yaml"), files{"o/d.yaml": deny, "o/kustomization.yaml": "resources: [a.yaml, d.yaml]\n"}), "is gone"},
		"a repository that nobody takes any more":    {with(files{"n/kustomization.yaml": "resources: [github.com/a/b]\n"}), base, "is gone"},
		"a repository that is not listed":            {with(in("resources: [a.yaml, github.com/a/b]\n")), base, "resources"},
		"a repository beside a folder of its name":   {base, with(in("resources: [a.yaml, github.com/a/b]\n"), files{"o/github.com/a/b/kustomization.yaml": "resources: [c.yaml]\n", "o/github.com/a/b/c.yaml": other}), "resources"},
		"a chart that nobody takes any more":         {with(files{"n/kustomization.yaml": "helmCharts: [{name: a}]\n"}), base, "is gone"},
		"a patch that nobody makes any more":         {with(files{"n/b.yaml": other, "n/kustomization.yaml": "resources: [b.yaml]\npatches: [{patch: '{}', target: {kind: CiliumNetworkPolicy}}]\n"}), base, "is gone"},
		"a new pod":                                  {base, more, "resources"},
		"a new pod below an overlay of metadata":     {with(over("resources: [../o]\nlabels: [{pairs: {unit: a}}]\n")), with(over("resources: [../o]\nlabels: [{pairs: {unit: a}}]\n"), more), "resources"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, folderSide(t, tt.old, ""), folderSide(t, tt.recent, ""), tt.want)
		})
	}
}
