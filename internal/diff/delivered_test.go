package diff

import (
	"maps"
	"strings"
	"testing"
)

// TestOfFoldersThatFluxTakes widens a policy that another one hides. The kustomization above the folder of that one does not name it, and passes where an object of Flux takes the folder for the same cluster.
func TestOfFoldersThatFluxTakes(t *testing.T) {
	t.Parallel()
	const (
		wide   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {namespaces: [cart, evil]}}]}]}}\n"
		narrow = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {namespaces: [cart]}}]}]}}\n"
		deny   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, action: DENY, rules: [{from: [{source: {namespaces: [evil]}}]}]}}\n"
		left   = "is not named by the kustomization of its folder"
	)
	type files map[string]string
	takes := func(path string) string {
		return "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: '" + path + "', namespace: flux-system}, spec: {path: " + path + ", sourceRef: {kind: GitRepository, name: a}}}\n"
	}
	const ofOther = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: d, namespace: flux-system}, spec: {path: ./apps/deny, sourceRef: {kind: GitRepository, name: other}}}\n"
	for name, tt := range map[string]struct {
		others files
		want   string
	}{
		"none":                             {files{}, left},
		"one of the folder":                {files{"flux/a.yaml": takes("./apps"), "flux/d.yaml": takes("./apps/deny")}, ""},
		"one of two clusters":              {files{"clusters/dev/a.yaml": takes("./apps"), "clusters/dev/d.yaml": takes("./apps/deny"), "clusters/prod/a.yaml": takes("./apps")}, left},
		"one of another cluster":           {files{"clusters/dev/d.yaml": takes("./apps/deny"), "clusters/prod/a.yaml": takes("./apps")}, left},
		"one of each cluster":              {files{"clusters/dev/a.yaml": takes("./apps"), "clusters/dev/d.yaml": takes("./apps/deny"), "clusters/prod/a.yaml": takes("./apps"), "clusters/prod/d.yaml": takes("./apps/deny")}, ""},
		"one of a cluster of another name": {files{"flux/alpha/a.yaml": takes("./apps"), "flux/beta/a.yaml": takes("./apps"), "flux/beta/d.yaml": takes("./apps/deny")}, left},
		"one in a folder that is taken":    {files{"flux/a.yaml": takes("./apps"), "apps/kustomization.yaml": "resources: [p.yaml, ks.yaml]\n", "apps/ks.yaml": takes("./apps/deny")}, ""},
		"one that no kustomization names":  {files{"flux/kustomization.yaml": "resources: [a.yaml]\n", "flux/a.yaml": takes("./apps"), "flux/d.yaml": takes("./apps/deny")}, left},
		"one in an archive":                {files{"flux/a.yaml": takes("./apps"), "archive/d.yaml": takes("./apps/deny")}, left},
		"one of another repository":        {files{"flux/a.yaml": takes("./apps"), "flux/d.yaml": ofOther}, left},
		"one beside another repository":    {files{"flux/a.yaml": takes("./apps"), "flux/d.yaml": takes("./apps/deny"), "flux/x.yaml": strings.Replace(ofOther, "./apps/deny", "./deploy", 1)}, ""},
		"one that ends like it":            {files{"flux/a.yaml": takes("./apps"), "flux/d.yaml": takes("./more/apps/deny")}, left},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := files{"apps/kustomization.yaml": "resources: [p.yaml]\n", "apps/p.yaml": narrow, "apps/deny/d.yaml": deny}
			maps.Copy(old, tt.others)
			recent := maps.Clone(old)
			recent["apps/p.yaml"] = wide
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
