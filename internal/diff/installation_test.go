package diff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
)

// TestWideningOfOneCluster has folders of several clusters: what one of them denies, or lets in already, hides no opening of another one.
func TestWideningOfOneCluster(t *testing.T) {
	t.Parallel()
	type files map[string]string
	policy := func(name, action, source string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, action: %s, rules: [{from: [{source: {%s}}]}]}}\n", name, action, source)
	}
	var (
		narrow = policy("p", "ALLOW", "principals: [cluster.local/ns/shop/sa/fe]")
		wide   = policy("p", "ALLOW", "namespaces: [shop]")
		other  = policy("q", "ALLOW", "namespaces: [shop]")
		deny   = policy("d", "DENY", "notPrincipals: [cluster.local/ns/shop/sa/fe]")
		again  = policy("e", "DENY", "notPrincipals: [cluster.local/ns/shop/sa/fe]")
	)
	pods := "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}}}}\n"
	flux := "---\n{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: a, namespace: flux-system}, spec: {path: ./apps}}\n"
	argo := "---\n{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a, namespace: argocd}, spec: {source: {path: apps}}}\n"
	const recurse = "without spec.source.directory.recurse"
	both := argo + strings.ReplaceAll(strings.ReplaceAll(argo, "apps", "more"), "name: a", "name: b")
	const prod = "clusters/prod may be of another cluster"
	for name, tt := range map[string]struct {
		old, recent files
		// want is a part of the reason, "" for none.
		want string
	}{
		"a deny of another one":                            {files{"clusters/prod/p.yaml": narrow, "clusters/dev/d.yaml": deny}, files{"clusters/prod/p.yaml": wide, "clusters/dev/d.yaml": deny}, prod},
		"an allow of another one":                          {files{"clusters/prod/a/p.yaml": narrow, "clusters/dev/q.yaml": other}, files{"clusters/prod/a/p.yaml": wide, "clusters/dev/q.yaml": other}, prod},
		"a deny of all":                                    {files{"clusters/prod/p.yaml": narrow, "base/d.yaml": deny, "clusters/dev/q.yaml": other}, files{"clusters/prod/p.yaml": wide, "base/d.yaml": deny, "clusters/dev/q.yaml": other}, ""},
		"one that narrows":                                 {files{"clusters/prod/p.yaml": wide, "clusters/dev/d.yaml": deny}, files{"clusters/prod/p.yaml": narrow, "clusters/dev/d.yaml": deny}, ""},
		"one file for each":                                {files{"prod.yaml": narrow, "dev.yaml": deny}, files{"prod.yaml": wide, "dev.yaml": deny}, "prod.yaml may be"},
		"names with a region":                              {files{"prod-eu/p.yaml": narrow, "prod-us/d.yaml": deny}, files{"prod-eu/p.yaml": wide, "prod-us/d.yaml": deny}, "prod-eu may be"},
		"regions":                                          {files{"eu-west-1/p.yaml": narrow, "us-east-1/d.yaml": deny}, files{"eu-west-1/p.yaml": wide, "us-east-1/d.yaml": deny}, "eu-west-1 may be"},
		"zones":                                            {files{"zones/a/p.yaml": narrow, "zones/b/d.yaml": deny}, files{"zones/a/p.yaml": wide, "zones/b/d.yaml": deny}, "zones/a may be"},
		"numbers":                                          {files{"cluster1/p.yaml": narrow, "cluster2/d.yaml": deny}, files{"cluster1/p.yaml": wide, "cluster2/d.yaml": deny}, "cluster1 may be"},
		"one cluster, and what is for all":                 {files{"clusters/prod/p.yaml": narrow, "d.yaml": deny}, files{"clusters/prod/p.yaml": wide, "d.yaml": deny}, ""},
		"tenants":                                          {files{"tenants/a/p.yaml": narrow, "tenants/b/d.yaml": deny}, files{"tenants/a/p.yaml": wide, "tenants/b/d.yaml": deny}, "tenants/a may be"},
		"one workload in two folders":                      {files{"a/mesh/p.yaml": narrow, "a/web.yaml": pods, "b/d.yaml": deny, "b/w/web.yaml": pods}, files{"a/mesh/p.yaml": wide, "a/web.yaml": pods, "b/d.yaml": deny, "b/w/web.yaml": pods}, "a may be"},
		"a workload and its patch":                         {files{"base/web.yaml": pods, "base/d.yaml": deny, "p/web.yaml": pods, "p/p.yaml": narrow}, files{"base/web.yaml": pods, "base/d.yaml": deny, "p/web.yaml": pods, "p/p.yaml": wide}, ""},
		"an archive":                                       {files{"p.yaml": narrow, "a/_archive-2024/d.yaml": deny}, files{"p.yaml": wide, "a/_archive-2024/d.yaml": deny}, "a/_archive-2024 may not be applied: so its name says"},
		"a hidden folder":                                  {files{"p.yaml": narrow, ".github/x/d.yaml": deny}, files{"p.yaml": wide, ".github/x/d.yaml": deny}, ".github may not be applied"},
		"an archive that hides nothing":                    {files{"p.yaml": wide, "old/d.yaml": deny}, files{"p.yaml": narrow, "old/d.yaml": deny}, ""},
		"a folder that Flux does not take":                 {files{"f.yaml": flux, "apps/p.yaml": narrow, "more/d.yaml": deny}, files{"f.yaml": flux, "apps/p.yaml": wide, "more/d.yaml": deny}, "more/d.yaml may not be applied: no Kustomization of Flux"},
		"a folder that Argo CD does not take":              {files{"f.yaml": argo, "apps/p.yaml": narrow, "more/d.yaml": deny}, files{"f.yaml": argo, "apps/p.yaml": wide, "more/d.yaml": deny}, "more/d.yaml may not be applied: no Kustomization of Flux"},
		"a kustomization that Flux does not take":          {files{"f.yaml": flux, "apps/p.yaml": narrow, "more/kustomization.yaml": "resources: [d.yaml]\n", "more/d.yaml": deny}, files{"f.yaml": flux, "apps/p.yaml": wide, "more/kustomization.yaml": "resources: [d.yaml]\n", "more/d.yaml": deny}, "more/d.yaml may not be applied: no Kustomization of Flux"},
		"a folder of a kustomization that Flux takes":      {files{"f.yaml": flux, "apps/p.yaml": narrow, "apps/kustomization.yaml": "resources: [../more, p.yaml]\n", "more/d.yaml": deny}, files{"f.yaml": flux, "apps/p.yaml": wide, "apps/kustomization.yaml": "resources: [../more, p.yaml]\n", "more/d.yaml": deny}, ""},
		"clusters in a folder with the name of an archive": {files{"sample-org/clusters/prod/p.yaml": narrow, "sample-org/clusters/dev/d.yaml": deny}, files{"sample-org/clusters/prod/p.yaml": wide, "sample-org/clusters/dev/d.yaml": deny}, "sample-org/clusters/prod may be of another cluster"},
		"a deny of another one and of an archive":          {files{"clusters/prod/p.yaml": narrow, "clusters/dev/d.yaml": deny, "old/e.yaml": again}, files{"clusters/prod/p.yaml": wide, "clusters/dev/d.yaml": deny, "old/e.yaml": again}, prod},
		"denies of each other one of two levels":           {files{"dev/eu-west-1/p.yaml": narrow, "dev/us-east-1/d.yaml": deny, "prod/eu-west-1/e.yaml": again}, files{"dev/eu-west-1/p.yaml": wide, "dev/us-east-1/d.yaml": deny, "prod/eu-west-1/e.yaml": again}, "dev/eu-west-1 may be"},
		"folders of which Argo CD takes each":              {files{"f/f.yaml": both, "apps/p.yaml": wide, "more/d.yaml": deny}, files{"f/f.yaml": both, "apps/p.yaml": narrow, "more/d.yaml": deny}, ""},
		"a folder below one of Argo CD":                    {files{"f/f.yaml": both, "apps/p.yaml": wide, "more/d/d.yaml": deny, "more/q.yaml": other}, files{"f/f.yaml": both, "apps/p.yaml": narrow, "more/d/d.yaml": deny, "more/q.yaml": other}, recurse},
		"all folders, without those below":                 {files{"f/f.yaml": strings.Replace(argo, "path: apps", "path: .", 1), "p.yaml": wide, "less/d.yaml": deny}, files{"f/f.yaml": strings.Replace(argo, "path: apps", "path: .", 1), "p.yaml": narrow, "less/d.yaml": deny}, recurse},
		"a folder that is not here":                        {files{"f/f.yaml": both, "apps/p.yaml": wide, "less/d.yaml": deny}, files{"f/f.yaml": both, "apps/p.yaml": narrow, "less/d.yaml": deny}, recurse},
		"folders that Flux takes":                          {files{"f.yaml": flux, "apps/x/p.yaml": narrow, "apps/d.yaml": deny}, files{"f.yaml": flux, "apps/x/p.yaml": wide, "apps/d.yaml": deny}, ""},
		"Flux takes other folders":                         {files{"f.yaml": flux, "p.yaml": narrow, "more/d.yaml": deny}, files{"f.yaml": flux, "p.yaml": wide, "more/d.yaml": deny}, ""},
		"folders of teams":                                 {files{"shop/p.yaml": narrow, "mesh/d.yaml": deny}, files{"shop/p.yaml": wide, "mesh/d.yaml": deny}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, folderSide(t, tt.old, ""), folderSide(t, tt.recent, ""), tt.want)
		})
	}
}

// TestWideningByUnreadSources has files that are not read and of which a tool may make manifests: one of them may hold the deny.
func TestWideningByUnreadSources(t *testing.T) {
	t.Parallel()
	type files map[string]string
	const (
		allow = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{}]}}\n"
		deny  = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {action: DENY, rules: [{}]}}\n"
	)
	special := map[string]string{
		"kuma.sh":     "kumactl apply -f - <<END\ntype: MeshTrafficPermission\nname: d\nmesh: default\nspec: {from: [{targetRef: {kind: Mesh}, default: {action: DENY}}]}\nEND\n",
		"deploy.sh":   "kubectl apply -f p.yaml -f DENY.yaml\n",
		"run.py":      "run(['kubectl', 'apply', '-f', 'DENY.yaml'])\n",
		"index.ts":    "new istio.security.v1.AuthorizationPolicy('d', {spec: {action: 'DENY'}})\n",
		"prod.tfvars": "action = \"DENY\"\n",
		"notes.txt":   "DENY, by kubectl/kustomize.\n",
	}
	for name, want := range map[string]string{
		"d.yaml.tpl": "d.yaml.tpl", "sub/d.yml.j2": "sub/d.yml.j2", "main.tf": "main.tf", "d.yaml.enc": "d.yaml.enc", "apply.sh": "apply.sh", "kuma.sh": "kuma.sh", "d.ts": "d.ts", "deploy.sh": "deploy.sh", "run.py": "run.py", "index.ts": "index.ts", "prod.tfvars": "prod.tfvars",
		"README.md": "", "d.yaml.bak": "", "notes.txt": "", ".git/hooks/d.sh": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			deny := deny
			if text, special := special[name]; special {
				deny = text
			}
			for _, recent := range []files{{"p.yaml": allow}, {"p.yaml": allow, name: strings.Replace(deny, "DENY", "AUDIT", 1)}, {"p.yaml": allow, name: deny}} {
				wanted := want
				if recent[name] == deny {
					wanted = ""
				}
				checkReasons(t, folderSide(t, files{"p.yaml": allow, name: deny}, ""), folderSide(t, recent, ""), wanted)
			}
		})
	}
}

// TestWideningByModules has a folder without files, which may be a module of Git that is not checked out.
func TestWideningByModules(t *testing.T) {
	t.Parallel()
	files := map[string]string{"p.yaml": "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{}]}}\n"}
	was, is := folderSide(t, files, ""), folderSide(t, files, "")
	checkReasons(t, was, is, "")
	path := t.TempDir()
	for _, name := range []string{"sec", ".git/refs"} {
		if err := os.MkdirAll(filepath.Join(path, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(path, "p.yaml"), []byte(files["p.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	is.Files = opened
	checkReasons(t, was, is, "sec (a folder without files) may be a module of Git")
}
