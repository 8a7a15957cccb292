package diff

import (
	"maps"
	"testing"
)

// TestWideningByKustomizations has kustomizations that change. Another tag of an image passes, and nothing else.
func TestWideningByKustomizations(t *testing.T) {
	t.Parallel()
	const (
		policy  = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/fe]}}]}]}}\n"
		open    = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: q, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{}]}}\n"
		istiod  = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: istiod, namespace: istio-system}, spec: {replicas: 2}}\n"
		numbers = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: q, namespace: shop}, spec: {selector: {matchLabels: {apps.kubernetes.io/pod-index: '1'}}, rules: [{}]}}\n"
	)
	workload := func(name, namespace string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + namespace + "}, spec: {selector: {matchLabels: {app: " + name + "}}, template: {metadata: {labels: {app: " + name + "}}, spec: {containers: [{name: a, image: a}]}}}}\n"
	}
	const placed = ", namespace: shop"
	type files = map[string]string
	base := files{"p.yaml": policy, "a/web.yaml": workload("web", placed), "a/kustomization.yaml": "namespace: shop\nresources: [web.yaml]\nimages: [{name: web, newTag: '1'}]\n"}
	with := func(all ...files) files { return overlaid(base, all...) }
	const head = "namespace: shop\nresources: [web.yaml]\n"
	a := func(text string) files { return files{"a/kustomization.yaml": text} }
	tag := a(head + "images: [{name: web, newTag: '2'}]\n")
	more := files{"a/job.yaml": workload("job", placed)}
	listed := a("namespace: shop\nresources: [web.yaml, job.yaml]\nimages: [{name: web, newTag: '1'}]\n")
	labelled := func(text string) files {
		return a("namespace: shop\nresources: [web.yaml]\n" + text + "images: [{name: web, newTag: '1'}]\n")
	}
	for name, tt := range map[string]struct {
		old, recent files
		want        string
	}{
		"another image": {with(), with(tag), ""},
		"an overlay of its own folder that is gone":    {with(files{"b/kustomization.yaml": "resources: [./c]\n"}), with(), "b/kustomization.yaml"},
		"an overlay of elsewhere that is gone":         {with(files{"b/kustomization.yaml": "resources: [../a]\n"}), with(), "b/kustomization.yaml"},
		"an overlay by a detour that is gone":          {with(files{"b/kustomization.yaml": "resources: [./c/../../a]\n"}), with(), "b/kustomization.yaml"},
		"a component of elsewhere that is gone":        {with(files{"b/kustomization.yaml": "components: [../a]\n"}), with(), "b/kustomization.yaml"},
		"a chart of Kustomize that is gone":            {with(files{"b/kustomization.yaml": "helmCharts: [{name: a}]\n"}), with(), "b/kustomization.yaml"},
		"no image":                                     {with(), with(a(head)), "images"},
		"another name of an image":                     {with(), with(a(head + "images: [{name: web, newName: b, digest: 'sha256:1'}]\n")), "images"},
		"the image of a sidecar":                       {with(), with(a(head + "images: [{name: web, newTag: '1'}, {name: docker.io/istio/proxyv2, newTag: '2'}]\n")), "images"},
		"an image that becomes that of a sidecar":      {with(), with(a(head + "images: [{name: web, newName: istio/proxyv2}]\n")), "images"},
		"the image of a control plane":                 {with(), with(a(head + "images: [{name: istio/pilot, newTag: '2'}]\n")), "images"},
		"an unknown field of an image":                 {with(), with(a(head + "images: [{name: web, newTag: '2', future: a}]\n")), "images"},
		"an image beside one of a control plane":       {with(files{"a/d.yaml": istiod}, listedAs("web.yaml, d.yaml", "1")), with(files{"a/d.yaml": istiod}, listedAs("web.yaml, d.yaml", "2")), "images"},
		"an image beside what is not there":            {with(listedAs("web.yaml, 'https://a.example/b'", "1")), with(listedAs("web.yaml, 'https://a.example/b'", "2")), "images"},
		"a number of pods":                             {with(), with(a(head + "replicas: [{name: web, count: 3}]\nimages: [{name: web, newTag: '1'}]\n")), "replicas"},
		"a number of pods by which a policy selects":   {with(files{"q.yaml": numbers}), with(files{"q.yaml": numbers}, a(head+"replicas: [{name: web, count: 3}]\nimages: [{name: web, newTag: '1'}]\n")), "replicas"},
		"a new workload":                               {with(), with(more, listed), "resources"},
		"a new workload of another namespace":          {with(), with(files{"a/job.yaml": workload("job", ", namespace: lab")}, listed), "resources"},
		"a new workload without a namespace":           {with(), with(files{"a/job.yaml": workload("job", "")}, listed), "resources"},
		"a new caller without a namespace":             {with(files{"q.yaml": "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: q, namespace: lab}, spec: {rules: [{from: [{source: {namespaces: [shop]}}]}]}}\n"}), with(files{"q.yaml": "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: q, namespace: lab}, spec: {rules: [{from: [{source: {namespaces: [shop]}}]}]}}\n", "a/job.yaml": workload("job", "")}, listed), "calls as somebody"},
		"a workload that was there":                    {with(more), with(more, listed), "resources"},
		"a policy that was there":                      {with(files{"a/q.yaml": open}), with(files{"a/q.yaml": open}, listedAs("web.yaml, q.yaml", "1")), "resources"},
		"a policy that stays, and is not listed":       {with(files{"a/q.yaml": policyNamed("q")}, listedAs("web.yaml, q.yaml", "1")), with(files{"a/q.yaml": policyNamed("q")}), "resources"},
		"a workload that goes":                         {with(more, listed), with(), "resources"},
		"another order":                                {with(more, listed), with(more, listedAs("job.yaml, web.yaml", "1")), "resources"},
		"a file with another name":                     {with(files{"a/q.yaml": policyNamed("q")}, listedAs("web.yaml, q.yaml", "1")), with(files{"a/r.yaml": policyNamed("q")}, listedAs("web.yaml, r.yaml", "1")), "resources"},
		"a file with another name that is not listed":  {with(files{"a/q.yaml": policyNamed("q")}, listedAs("web.yaml, q.yaml", "1")), with(files{"a/r.yaml": policyNamed("q")}, listedAs("web.yaml", "1")), "resources"},
		"a file that is listed by another name":        {with(files{"a/q.yaml": open}, listedAs("web.yaml", "1")), with(files{"a/r.yaml": open}, listedAs("web.yaml, r.yaml", "1")), "resources"},
		"a folder that was elsewhere":                  {with(files{"c/job.yaml": workload("job", placed)}), with(files{"b/job.yaml": workload("job", placed), "b/kustomization.yaml": "resources: [job.yaml]\n"}), "is new"},
		"a URL":                                        {with(), with(listedAs("web.yaml, 'https://a.example/b'", "1")), "resources"},
		"a folder above":                               {with(files{"b/x.yaml": workload("x", placed)}), with(files{"b/x.yaml": workload("x", placed)}, listedAs("web.yaml, ../b", "1")), "resources"},
		"a new workload that gets labels":              {with(labelled("commonLabels: {app: web}\n")), with(more, a("namespace: shop\nresources: [web.yaml, job.yaml]\ncommonLabels: {app: web}\nimages: [{name: web, newTag: '1'}]\n")), "resources"},
		"a new workload that gets labels from above":   {with(files{"kustomization.yaml": "resources: [p.yaml, a]\ncommonLabels: {x: y}\n"}), with(more, listed, files{"kustomization.yaml": "resources: [p.yaml, a]\ncommonLabels: {x: y}\n"}), "resources"},
		"a new workload whose namespace changes above": {with(files{"kustomization.yaml": "resources: [p.yaml, a]\nnamespace: cart\n"}), with(more, listed, files{"kustomization.yaml": "resources: [p.yaml, a]\nnamespace: cart\n"}), "resources"},
		"a new folder":                                 {with(), with(files{"b/job.yaml": workload("job", placed), "b/kustomization.yaml": "resources: [job.yaml]\n"}), "is new"},
		"a new folder with a patch":                    {with(), with(files{"b/job.yaml": workload("job", placed), "b/kustomization.yaml": "resources: [job.yaml]\npatches: [{path: x.yaml}]\n"}), "is new"},
		"a new folder for a base":                      {with(), with(files{"b/kustomization.yaml": "resources: [../a]\n"}), "is new"},
		"a kustomization where files are":              {with(files{"b/job.yaml": workload("job", placed)}), with(files{"b/job.yaml": workload("job", placed), "b/kustomization.yaml": "resources: [job.yaml]\n"}), "is new"},
		"a folder that goes":                           {with(files{"b/job.yaml": workload("job", placed), "b/kustomization.yaml": "resources: [job.yaml]\n"}), with(), "is gone"},
		"a kustomization that goes":                    {with(), with(files{"a/kustomization.yaml": ""}), "is gone"},
		"labels of metadata":                           {with(), with(labelled("labels: [{pairs: {team: a}}]\n")), "labels"},
		"a new workload beside labels of metadata":     {with(labelled("labels: [{pairs: {team: a}}]\n")), with(more, a("namespace: shop\nresources: [web.yaml, job.yaml]\nlabels: [{pairs: {team: a}}]\nimages: [{name: web, newTag: '1'}]\n")), "resources"},
		"labels of pods":                               {with(), with(labelled("labels: [{pairs: {team: a}, includeTemplates: true}]\n")), "labels"},
		"another namespace":                            {with(), with(a("namespace: cart\nresources: [web.yaml]\nimages: [{name: web, newTag: '1'}]\n")), "namespace"},
		"a patch":                                      {with(), with(labelled("patches: [{path: x.yaml}]\n")), "patches"},
		"a new image under a new head":                 {with(), with(a("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Component\n" + head)), "kind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, folderSide(t, tt.old, ""), folderSide(t, tt.recent, ""), tt.want)
		})
	}
}

func listedAs(resources, tag string) map[string]string {
	return map[string]string{"a/kustomization.yaml": "namespace: shop\nresources: [" + resources + "]\nimages: [{name: web, newTag: '" + tag + "'}]\n"}
}

func policyNamed(name string) string {
	return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: " + name + ", namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/fe]}}]}]}}\n"
}

// overlaid returns files with others in their place or beside them. An empty text takes a file away.
func overlaid(base map[string]string, all ...map[string]string) map[string]string {
	out := maps.Clone(base)
	for _, one := range all {
		maps.Copy(out, one)
	}
	maps.DeleteFunc(out, func(_, text string) bool { return text == "" })
	return out
}
