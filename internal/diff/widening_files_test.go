package diff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

// Tools and cases name files that are no manifests of the folder: what they change is named, or that it
// cannot be seen.
func TestWideningByFiles(t *testing.T) {
	t.Parallel()
	const (
		p        = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {principals: [trust-domain.mesh/ns/shop/sa/fe]}}]}]}}\n"
		deny     = "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {action: DENY, rules: [{}]}}\n"
		filter   = "---\n{apiVersion: networking.istio.io/v1alpha3, kind: EnvoyFilter, metadata: {name: d, namespace: shop}, spec: {}}\n"
		chart    = "apiVersion: v2\nname: w\nversion: 1.0.0\n"
		twice    = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec: {replicas: 1, replicas: 2}\n"
		template = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}}\n"
		argo     = "{apiVersion: argoproj.io/v1alpha1, kind: ApplicationSet, metadata: {name: s, namespace: argocd}, spec: {generators: [{git: {repoURL: 'https://git.example/a', files: [{path: apps/*/config.json}]}}], template: {spec: {project: default}}}}\n"
		mtp      = "{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: {kind: Mesh}, default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]}}}\n"
		dp       = "{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, protocol: http}]}}\n"
		probed   = "{type: Dataplane, mesh: default, name: web, probes: {port: 9000}, networking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, protocol: http}]}}\n"
		ask      = "requests: [{from: plaintext, to: web/in, want: 403}]\n"
		ofCase   = "case: c\nworkloads: [{name: web, namespace: shop, labels: {app: web}, inbounds: [{name: in, port: 8080, protocol: http}]}]\npolicies: {files: [x/p.yaml]}\n" + ask
		ofDP     = "case: c\nworkloads: {files: [x/d.yaml]}\npolicies: {files: [x/p.yaml]}\n" + ask
		calls    = "case: c\nworkloads: [{name: web, namespace: shop, labels: {app: web}, inbounds: [{name: in, port: 8080, protocol: http}]}, {name: db, namespace: shop, identity: spiffe://trust-domain.mesh/ns/shop/sa/"
		rest     = "}]\npolicies: [" + "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{from: [{source: {principals: [trust-domain.mesh/ns/shop/sa/fe]}}]}]}}" + "]\n" + ask
	)
	type files map[string]string
	for name, tt := range map[string]struct {
		old, recent files
		path        string
		quiet       bool
		// always is true where the pair fails although nothing has changed.
		always bool
	}{
		"nothing":                            {old: files{"p.yaml": p}, recent: files{"p.yaml": p}, quiet: true},
		"another name of the file":           {old: files{"p.yaml": p}, recent: files{"q.yml": p}, quiet: true},
		"a deny in another folder":           {old: files{"p.yaml": p, "d.yaml": deny}, recent: files{"p.yaml": p, "archive/d.yaml": deny}},
		"a deny in a file of Fleet":          {old: files{"p.yaml": p, "d.yaml": deny}, recent: files{"p.yaml": p, "fleet.yaml": deny}},
		"a deny that makes a chart":          {old: files{"p.yaml": p, "d.yaml": deny}, recent: files{"p.yaml": p, "Chart.yaml": deny}},
		"a deny in a hidden file":            {old: files{"p.yaml": p, "d.yaml": deny}, recent: files{"p.yaml": p, ".d.yaml": deny}},
		"a new deny in a file of Fleet":      {old: files{"p.yaml": p}, recent: files{"p.yaml": p, "fleet.yaml": deny}},
		"manifests that Argo CD makes":       {old: files{"p.yaml": p}, recent: files{"p.yaml": p, "d.jsonnet": "{}"}},
		"a filter in one folder less":        {old: files{"p.yaml": p, "prod/d.yaml": filter, "dev/d.yaml": filter}, recent: files{"p.yaml": p, "dev/d.yaml": filter}},
		"a filter in another folder":         {old: files{"p.yaml": p, "prod/d.yaml": filter}, recent: files{"p.yaml": p, "dev/d.yaml": filter}},
		"kustomizations that swap":           {old: files{"a/p.yaml": p, "a/kustomization.yaml": "resources: [p.yaml]\n", "b/kustomization.yaml": "resources: []\n"}, recent: files{"a/p.yaml": p, "b/kustomization.yaml": "resources: [p.yaml]\n", "a/kustomization.yaml": "resources: []\n"}},
		"another folder for all":             {old: files{"a/p.yaml": p}, recent: files{"b/p.yaml": p}},
		"a kustomization without ending":     {old: files{"p.yaml": p, "Kustomization": "resources: [p.yaml]\n"}, recent: files{"p.yaml": p, "Kustomization": "resources: []\n"}},
		"files that Flux leaves out":         {old: files{"p.yaml": p}, recent: files{"p.yaml": p, ".sourceignore": "p.yaml\n"}},
		"files that Fleet leaves out":        {old: files{"p.yaml": p, "d/.fleetignore": "a\n"}, recent: files{"p.yaml": p, "d/.fleetignore": "*\n"}},
		"the functions of kpt":               {old: files{"p.yaml": p, "Kptfile": "a: b\n"}, recent: files{"p.yaml": p}},
		"a patch with another ending":        {old: files{"p.yaml": p, "kustomization.yaml": "patches: [{path: d/patch.txt}]\n", "d/patch.txt": "a"}, recent: files{"p.yaml": p, "kustomization.yaml": "patches: [{path: d/patch.txt}]\n", "d/patch.txt": "b"}},
		"a file of a generator":              {old: files{"p.yaml": p, "kustomization.yaml": "configMapGenerator: [{name: a, files: [b=a.conf]}]\n", "a.conf": "a"}, recent: files{"p.yaml": p, "kustomization.yaml": "configMapGenerator: [{name: a, files: [b=a.conf]}]\n", "a.conf": "b"}},
		"a base outside of the folder":       {old: files{"p.yaml": p, "kustomization.yaml": "resources: [p.yaml, ../base]\n"}, recent: files{"p.yaml": p, "kustomization.yaml": "resources: [p.yaml, ../base]\n"}, always: true},
		"a base in the folder":               {old: files{"p.yaml": p, "d/kustomization.yaml": "resources: [../p.yaml]\n"}, recent: files{"p.yaml": p, "d/kustomization.yaml": "resources: [../p.yaml]\n"}, quiet: true},
		"a file in capitals":                 {old: files{"p.yaml": p, "kustomization.yaml": "resources: [d.YAML]\n", "d.YAML": "a"}, recent: files{"p.yaml": p, "kustomization.yaml": "resources: [d.YAML]\n", "d.YAML": "b"}, always: true},
		"a deny that Kustomize leaves out":   {old: files{"p.yaml": p, "kustomization.yaml": "resources: [p.yaml]\n"}, recent: files{"p.yaml": strings.Replace(p, "/fe", "/fe2", 1), "kustomization.yaml": "resources: [p.yaml]\n", "deny.yaml": deny}},
		"a name that Kustomize changes":      {old: files{"p.yaml": p, "kustomization.yaml": "resources: [p.yaml]\nnamespace: a\n"}, recent: files{"p.yaml": p + deny, "kustomization.yaml": "resources: [p.yaml]\nnamespace: a\n"}},
		"a deny that Kustomize takes":        {old: files{"p.yaml": p, "kustomization.yaml": "resources: [p.yaml]\nimages: []\n"}, recent: files{"p.yaml": p + deny, "kustomization.yaml": "resources: [p.yaml]\nimages: []\n"}, quiet: true},
		"a file that nothing names":          {old: files{"p.yaml": p, "README.txt": "a"}, recent: files{"p.yaml": p, "README.txt": "b"}, quiet: true},
		"values that change":                 {old: files{"p.yaml": p, "a/b.yaml": "policy: {enabled: true}\n"}, recent: files{"p.yaml": p, "a/b.yaml": "policy: {enabled: false}\n"}},
		"values that swap":                   {old: files{"p.yaml": p, "a.yaml": "policy: true\n", "b.yaml": "policy: false\n"}, recent: files{"p.yaml": p, "b.yaml": "policy: true\n", "a.yaml": "policy: false\n"}},
		"values with another name":           {old: files{"p.yaml": p, "prod.yaml": "policy: true\n"}, recent: files{"p.yaml": p, "dev.yaml": "policy: true\n"}},
		"values with a kind":                 {old: files{"p.yaml": p, "a.yaml": "{kind: ConfigMap, policy: true}\n"}, recent: files{"p.yaml": p, "a.yaml": "{kind: ConfigMap, policy: false}\n"}},
		"a workflow that changes":            {old: files{"p.yaml": p, ".github/w.yaml": "on: [push]\n"}, recent: files{"p.yaml": p, ".github/w.yaml": "on: []\n"}},
		"a workflow that is new":             {old: files{"p.yaml": p}, recent: files{"p.yaml": p, ".github/w.yaml": "on: [push]\n"}},
		"a workflow":                         {old: files{"p.yaml": p, ".github/w.yaml": "on: [push]\n"}, recent: files{"p.yaml": p, ".github/w.yaml": "on: [push]\n"}, quiet: true},
		"a template of a chart that changes": {old: files{"p.yaml": p, "w/Chart.yaml": chart, "w/templates/d.yaml": template}, recent: files{"p.yaml": p, "w/Chart.yaml": chart, "w/templates/d.yaml": template + "spec: {}\n"}},
		"a template of a chart that is gone": {old: files{"p.yaml": p, "w/Chart.yaml": chart, "w/templates/d.yaml": template}, recent: files{"p.yaml": p, "w/Chart.yaml": chart}},
		"a workload with a key twice":        {old: files{"p.yaml": p, "d.yaml": twice}, recent: files{"p.yaml": p, "d.yaml": twice}, quiet: true},
		"such a workload that changes":       {old: files{"p.yaml": p, "d.yaml": twice}, recent: files{"p.yaml": p, "d.yaml": twice + "status: {}\n"}},
		"values with a comment of templates": {old: files{"p.yaml": p, "v.yaml": "# {{ .a }}\na: 1\n"}, recent: files{"p.yaml": p, "v.yaml": "# {{ .a }}\na: 1\n"}, quiet: true},
		"such values that change":            {old: files{"p.yaml": p, "v.yaml": "# {{ .a }}\na: 1\n"}, recent: files{"p.yaml": p, "v.yaml": "# {{ .a }}\na: 2\n"}},
		"a chart that changes":               {old: files{"p.yaml": p, "w/Chart.yaml": chart}, recent: files{"p.yaml": p, "w/Chart.yaml": chart + "dependencies: []\n"}},
		"a chart":                            {old: files{"p.yaml": p, "w/Chart.yaml": chart, "w/templates/d.yaml": template}, recent: files{"p.yaml": p, "w/Chart.yaml": chart, "w/templates/d.yaml": template}, quiet: true},
		"parameters of Argo CD in JSON":      {old: files{"p.yaml": p, "set.yaml": argo, "apps/a/config.json": `{"policy": true}`}, recent: files{"p.yaml": p, "set.yaml": argo, "apps/a/config.json": `{"policy": false}`}},
		"a dashboard in JSON":                {old: files{"p.yaml": p, "a.json": `{"panels": []}`}, recent: files{"p.yaml": p, "a.json": `{"panels": [{}]}`}, quiet: true},
		"beside the policies of a case":      {old: files{"c.yaml": ofCase, "x/p.yaml": p}, recent: files{"c.yaml": ofCase, "x/p.yaml": p + filter}, path: "c.yaml"},
		"the Dataplane of a case":            {old: files{"c.yaml": ofDP, "x/p.yaml": mtp, "x/d.yaml": dp}, recent: files{"c.yaml": ofDP, "x/p.yaml": mtp, "x/d.yaml": probed}, path: "c.yaml"},
		"the identity of a case's caller":    {old: files{"c.yaml": calls + "x" + rest}, recent: files{"c.yaml": calls + "fe" + rest}},
		"a hook in a case":                   {old: files{"c.yaml": calls + "x" + rest}, recent: files{"c.yaml": calls + "x}]\npolicies: [" + "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop, annotations: {helm.sh/hook: test}}, spec: {rules: [{from: [{source: {principals: [trust-domain.mesh/ns/shop/sa/fe]}}]}]}}]\n" + ask}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			side := func(content files) Side { return folderSide(t, content, tt.path) }
			d, err := Diff(side(tt.old), side(tt.recent), "")
			if err != nil {
				t.Fatal(err)
			}
			if reasons := d.widenings(); (len(reasons) == 0) != tt.quiet {
				t.Errorf("%q", reasons)
			}
			if d, err = Diff(side(tt.recent), side(tt.recent), ""); err != nil || (len(d.widenings()) == 0) == tt.always {
				t.Errorf("nothing has changed: %v, %v", d.widenings(), err)
			}
		})
	}
}

// folderSide returns a folder with some files, or one of its files.
func folderSide(t *testing.T, content map[string]string, path string) Side {
	t.Helper()
	dir := t.TempDir()
	for file, text := range content {
		at := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			if err := os.Symlink(target, at); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := Open(lab.Choice{}, filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return Side{opened, lab.Surroundings{Inbound: policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}}}}
}
