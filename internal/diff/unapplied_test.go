package diff

import (
	"fmt"
	"strings"
	"testing"
)

// TestWideningBehindTwoDenies has a policy that lets more in, and two that hide it: the old form of one that lets go, and a new one.
// Each of them is in a folder of its own, beside many folders that narrow.
func TestWideningBehindTwoDenies(t *testing.T) {
	t.Parallel()
	policy := func(name, app, action, paths string) string {
		return fmt.Sprintf("{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: shop}, spec: {selector: {matchLabels: {app: %s}}, action: %s, rules: [{to: [{operation: {paths: [%s]}}]}]}}\n", name, app, action, paths)
	}
	old := map[string]string{"allow/p.yaml": policy("allow", "api", "ALLOW", "/a"), "lets/p.yaml": policy("lets", "api", "DENY", "/admin, /x"), "new/p.yaml": policy("stays", "db", "ALLOW", "/a")}
	recent := map[string]string{"allow/p.yaml": policy("allow", "api", "ALLOW", "/a, /admin"), "lets/p.yaml": policy("lets", "api", "DENY", "/x"), "new/p.yaml": policy("stays", "db", "ALLOW", "/a") + "---\n" + policy("hides", "api", "DENY", "/admin")}
	for n := range 8 {
		name := fmt.Sprintf("more%d", n)
		old[name+"/p.yaml"], recent[name+"/p.yaml"] = policy(name, name, "ALLOW", "/a, /b"), policy(name, name, "ALLOW", "/a")
	}
	d, err := Diff(folderSide(t, old, ""), folderSide(t, recent, ""), "")
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(d.widenings(), "; ")
	if want := "AuthorizationPolicy shop/hides may not be applied: the folder new may be applied later"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A policy that may not be applied hides nothing. So NEW widens where it lets in a caller that only this policy keeps out. There
// is nothing to tell where no caller gets in without the policy, or where it is applied as the others are.
func TestWideningBehindUnappliedPolicies(t *testing.T) {
	t.Parallel()
	type files map[string]string
	policy := func(name, namespace, metadata, action, source string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: %s%s}, spec: {selector: {matchLabels: {app: web}}, action: %s, rules: [{from: [{source: {%s}}]}]}}\n", name, namespace, metadata, action, source)
	}
	denyWith := func(metadata string) string {
		return policy("d", "shop", metadata, "DENY", "notPrincipals: [cluster.local/ns/shop/sa/fe]")
	}
	permission := func(name, labels, list, value string) string {
		return fmt.Sprintf("---\n{type: MeshTrafficPermission, mesh: default, name: %s, labels: {%s}, spec: {targetRef: {kind: Mesh}, default: {%s: [{spiffeId: {type: Exact, value: spiffe://default/%s}}]}}}\n", name, labels, list, value)
	}
	unread := func(group, kind, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: %s/v1, kind: %s, metadata: {name: x}, spec: {%s}}\n", group, kind, spec)
	}
	renamed := func(text string) string {
		return strings.NewReplacer("{name: ", "{name: db-").Replace(text)
	}
	labelled := func(text string) string {
		return strings.Replace(text, "namespace: shop}", "namespace: shop, labels: {tier: mesh}}", 1)
	}
	var (
		narrow = policy("p", "shop", "", "ALLOW", "principals: [cluster.local/ns/shop/sa/fe]")
		wide   = policy("p", "shop", "", "ALLOW", "namespaces: [shop]")
		deny   = denyWith("")
		// two denies keep the same callers out.
		second   = policy("e", "shop", "", "DENY", "notPrincipals: [cluster.local/ns/shop/sa/fe]")
		meshwide = policy("d", "mesh-root", "", "DENY", "notPrincipals: [cluster.local/ns/shop/sa/fe]")
	)
	other := strings.ReplaceAll(renamed(narrow), "web", "db")
	// Six policies narrow, and an unknown object stands beside them.
	var wides, narrows string
	for i := range 6 {
		of := func(text string) string {
			return strings.ReplaceAll(strings.Replace(text, "name: p", fmt.Sprintf("name: p%d", i), 1), "web", fmt.Sprintf("web%d", i))
		}
		wides, narrows = wides+of(wide), narrows+of(narrow)
	}
	role := func(kind, verbs string) string {
		return "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + ", metadata: {name: tool, namespace: shop}, rules: [{apiGroups: [security.istio.io], resources: [authorizationpolicies], verbs: [" + verbs + "]}]}\n"
	}
	widget := unread("example.com", "Widget", "kinds: ['*']")
	rego := func(text string) string {
		return fmt.Sprintf("---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: rules}, data: {main: %q}}\n", text)
	}
	settings := "---\n{apiVersion: example.com/v1, kind: Widget, metadata: {name: s}, checks: {AuthorizationPolicy: danger}}\n"
	webhook := func(group string) string {
		return "---\n{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: w}, webhooks: [{name: a.example, rules: [{apiGroups: [" + group + "], resources: ['*']}]}]}\n"
	}
	for name, tt := range map[string]struct {
		old, recent files
		// want is a part of the reason, "" for none.
		want string
	}{
		"an allow that kubectl leaves there":  {files{"p.yaml": wide + second}, files{"p.yaml": renamed(narrow) + strings.Replace(second, "/fe", "/other", 1)}, "the end of AuthorizationPolicy shop/p may not be applied: it stays where a tool deletes nothing"},
		"an allow with another name":          {files{"p.yaml": narrow + second}, files{"p.yaml": strings.Replace(narrow, "name: p", "name: q", 1) + second}, ""},
		"policies that end":                   {files{"p.yaml": narrow + renamed(wide) + second}, files{"p.yaml": second}, ""},
		"a deny beside it":                    {files{"p.yaml": narrow}, files{"p.yaml": wide + deny}, ""},
		"a deny in a file beside it":          {files{"p.yaml": narrow}, files{"p.yaml": wide, "d.yaml": deny}, ""},
		"a deny in a new folder":              {files{"p.yaml": narrow}, files{"p.yaml": wide, "sub/d.yaml": deny}, "OLD has nothing in the folder sub"},
		"a deny in a folder with others":      {files{"p.yaml": narrow, "sub/s.yaml": other}, files{"p.yaml": wide, "sub/s.yaml": other, "sub/d.yaml": deny}, "the folder sub may be applied later"},
		"both in a new folder":                {files{"a/p.yaml": narrow}, files{"a/p.yaml": narrow, "b/p.yaml": renamed(wide + deny)}, ""},
		"another workload in a new folder":    {files{"p.yaml": narrow}, files{"p.yaml": narrow, "sub/d.yaml": renamed(narrow + deny)}, ""},
		"a new folder that hides nothing":     {files{"p.yaml": wide}, files{"p.yaml": narrow, "sub/d.yaml": deny}, ""},
		"two folders, of which one is enough": {files{"p.yaml": narrow}, files{"p.yaml": wide, "a/d.yaml": deny, "b/e.yaml": second}, "the folder a, and a tool may not take it, and AuthorizationPolicy shop/e"},
		"a deny that changes its folder":      {files{"p.yaml": wide, "a/d.yaml": deny, "b/n.yaml": other}, files{"p.yaml": wide, "b/n.yaml": other, "b/d.yaml": second}, "the folder b may be applied later"},
		"an allow and its deny end":           {files{"a/p.yaml": wide, "b/d.yaml": deny, "n.yaml": other}, files{"n.yaml": other}, "the end of AuthorizationPolicy shop/p may not be applied: the folder a may be applied later"},
		"a deny ends in another folder":       {files{"a/p.yaml": wide, "b/d.yaml": deny}, files{"a/p.yaml": narrow}, "the folder a may be applied later"},
		"one folder ends":                     {files{"p.yaml": wide + deny, "a/d.yaml": second}, files{"p.yaml": wide + deny}, ""},
		"a deny behind a link":                {files{"p.yaml": narrow}, files{"p.yaml": wide, "d.txt": deny, "d.yaml": "-> d.txt"}, "its file is a link"},
		"a deny with a version":               {files{"p.yaml": narrow}, files{"p.yaml": wide + denyWith(", resourceVersion: '7'")}, "it states resourceVersion"},
		"a deny with another version":         {files{"p.yaml": narrow + strings.Replace(denyWith(", resourceVersion: '6'"), "/fe", "/other", 1)}, files{"p.yaml": wide + denyWith(", resourceVersion: '7'")}, "it states resourceVersion"},
		"an export":                           {files{"p.yaml": strings.Replace(narrow, "shop}", "shop, resourceVersion: '1'}", 1)}, files{"p.yaml": strings.Replace(wide, "shop}", "shop, resourceVersion: '2'}", 1) + denyWith(", resourceVersion: '3'")}, ""},
		"a deny with a UID":                   {files{"p.yaml": narrow}, files{"p.yaml": wide + denyWith(", uid: a")}, "it states uid"},
		"a deny with managed fields":          {files{"p.yaml": narrow}, files{"p.yaml": wide + denyWith(", managedFields: [{manager: a}]")}, "it states managedFields"},
		"a policy of an engine":               {files{"p.yaml": narrow + rego("kind == \"AuthorizationPolicy\"")}, files{"p.yaml": wide + deny + rego("kind == \"AuthorizationPolicy\"")}, "what ConfigMap default/rules does"},
		"settings of an app":                  {files{"p.yaml": narrow + rego("server_name *.example")}, files{"p.yaml": wide + deny + rego("server_name *.example")}, ""},
		"an object that names the kind":       {files{"p.yaml": narrow + settings}, files{"p.yaml": wide + deny + settings}, "what Widget default/s does"},
		"a large deny":                        {files{"p.yaml": narrow}, files{"p.yaml": wide + strings.Replace(deny, "rules: [", "rules: [{to: [{operation: {hosts: ["+strings.Repeat("b", 260<<10)+"]}}]}, ", 1)}, "it is larger than the annotation"},
		"a deny that goes":                    {files{"p.yaml": narrow + denyWith(", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [a.b/c]")}, files{"p.yaml": wide + denyWith(", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [a.b/c]")}, "it has a deletionTimestamp"},
		"a constraint of Gatekeeper":          {files{"p.yaml": narrow, "g.yaml": unread("constraints.gatekeeper.sh", "K8sNo", "a: b")}, files{"p.yaml": wide + deny, "g.yaml": unread("constraints.gatekeeper.sh", "K8sNo", "a: b")}, "what K8sNo default/x does"},
		"a role that creates nothing":         {files{"p.yaml": narrow + role("Role", "patch")}, files{"p.yaml": wide + deny + role("Role", "patch")}, "Role shop/tool gives no right to create it"},
		"a role that comes to create nothing": {files{"p.yaml": narrow + role("ClusterRole", "'*'")}, files{"p.yaml": wide + deny + role("ClusterRole", "update, delete")}, "ClusterRole tool gives no right to create it"},
		"a role that changes nothing":         {files{"p.yaml": wide + role("Role", "create") + deny}, files{"p.yaml": wide + role("Role", "create") + second}, ""},
		"a role that changes no deny":         {files{"p.yaml": narrow + role("Role", "create") + strings.Replace(deny, "/fe", "/other", 1)}, files{"p.yaml": narrow + role("Role", "create") + strings.Replace(wide, "name: p", "name: q", 1) + deny}, "Role shop/tool gives no right to change it"},
		"a role that creates":                 {files{"p.yaml": narrow + role("Role", "create, patch")}, files{"p.yaml": wide + deny + role("Role", "create, patch")}, ""},
		"a role that reads":                   {files{"p.yaml": narrow + role("Role", "get, list, watch")}, files{"p.yaml": wide + deny + role("Role", "get, list, watch")}, ""},
		"a role of another namespace":         {files{"p.yaml": narrow + strings.Replace(role("Role", "patch"), "shop", "other", 1)}, files{"p.yaml": wide + deny + strings.Replace(role("Role", "patch"), "shop", "other", 1)}, ""},
		"a role with a name":                  {files{"p.yaml": narrow + strings.Replace(role("Role", "create, patch"), "rules: [{", "rules: [{resourceNames: [p], ", 1)}, files{"p.yaml": wide + deny + strings.Replace(role("Role", "create, patch"), "rules: [{", "rules: [{resourceNames: [p], ", 1)}, "Role shop/tool gives no right to create it"},
		"a definition of the kind":            {files{"p.yaml": narrow, "g.yaml": unread("apiextensions.k8s.io", "CustomResourceDefinition", "group: security.istio.io")}, files{"p.yaml": wide + deny, "g.yaml": unread("apiextensions.k8s.io", "CustomResourceDefinition", "group: security.istio.io")}, "what CustomResourceDefinition x does"},
		"many policies that narrow":           {files{"p.yaml": wides + widget}, files{"p.yaml": narrows + widget}, ""},
		"many policies, and one hides":        {files{"p.yaml": wides + narrow + widget}, files{"p.yaml": narrows + wide + deny + widget}, "AuthorizationPolicy shop/d may not be applied: what Widget"},
		"many policies, and two hide":         {files{"p.yaml": wides + narrow + widget}, files{"p.yaml": narrows + wide + deny + second + widget}, "more such policies: then access widens"},
		"an object about a deny that ends":    {files{"p.yaml": wide + deny + widget}, files{"p.yaml": wide + second + widget}, "a tool may delete first what NEW has no more"},
		"an object of a mesh":                 {files{"p.yaml": narrow, "g.yaml": unread("networking.istio.io", "Gateway", "a: [b]")}, files{"p.yaml": wide + deny, "g.yaml": unread("networking.istio.io", "Gateway", "a: [b]")}, ""},
		"an unknown object":                   {files{"p.yaml": narrow, "g.yaml": unread("example.com", "Widget", "a: b")}, files{"p.yaml": wide + deny, "g.yaml": unread("example.com", "Widget", "a: b")}, ""},
		"an object about the kind":            {files{"p.yaml": narrow, "g.yaml": unread("example.com", "FederatedAuthorizationPolicy", "a: b")}, files{"p.yaml": wide + deny, "g.yaml": unread("example.com", "FederatedAuthorizationPolicy", "a: b")}, "what FederatedAuthorizationPolicy default/x does"},
		"an object about all kinds":           {files{"p.yaml": narrow + widget}, files{"p.yaml": wide + deny + widget}, "what Widget default/x does"},
		"a new version":                       {files{"p.yaml": narrow}, files{"p.yaml": wide + strings.Replace(deny, "istio.io/v1,", "istio.io/v1beta1,", 1)}, "is of the version security.istio.io/v1beta1"},
		"all in a new version":                {files{"p.yaml": narrow}, files{"p.yaml": strings.Replace(narrow, "istio.io/v1,", "istio.io/v1beta1,", 1)}, ""},
		"a deny in JSON":                      {files{"p.yaml": narrow}, files{"p.yaml": wide, "d.json": deny[4:]}, "it stands in a file in JSON"},
		"a deny that goes to JSON":            {files{"p.yaml": wide, "d.yaml": deny}, files{"p.yaml": wide, "d.json": deny[4:]}, "it stands in a file in JSON"},
		"a deny behind JSON":                  {files{"p.yaml": narrow}, files{"p.yaml": wide, "d.yaml": "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}}\n" + deny}, "it stands in a file that begins with a brace and is no JSON"},
		"JSON beside JSON":                    {files{"p.json": narrow[4:]}, files{"p.json": wide[4:], "d.json": deny[4:]}, ""},
		"a file that becomes a link":          {files{"p.yaml": wide, "d.yaml": deny}, files{"p.yaml": wide, "d.yaml": "-> d.txt", "d.txt": deny}, "its file is a link"},
		"a link as before":                    {files{"p.yaml": wide, "d.yaml": "-> d.txt", "d.txt": deny}, files{"p.yaml": narrow, "d.yaml": "-> d.txt", "d.txt": deny}, ""},
		"a label of all others":               {files{"p.yaml": labelled(narrow) + labelled(second)}, files{"p.yaml": labelled(wide) + deny}, "it has not the label tier of all policies of OLD"},
		"a label that goes":                   {files{"p.yaml": labelled(wide) + labelled(deny)}, files{"p.yaml": labelled(wide) + deny}, "it has not the label tier of all policies of OLD"},
		"labels for all":                      {files{"p.yaml": narrow + deny}, files{"p.yaml": labelled(narrow) + labelled(deny)}, ""},
		"labels of a chart":                   {files{"p.yaml": narrow}, files{"p.yaml": narrow + strings.Replace(deny, "namespace: shop}", "namespace: shop, labels: {app: web, app.kubernetes.io/name: web}}", 1)}, ""},
		"what stops a tool":                   {files{"p.yaml": narrow}, files{"a.yaml": wide, "m.yaml": strings.Replace(narrow, "{name: p, namespace: shop", "{name: m, resourceVersion: '7', namespace: shop", 1), "z.yaml": deny}, "AuthorizationPolicy shop/m may be refused, and a tool may stop there"},
		"a marker of Argo CD":                 {files{"p.yaml": wide, "d.yaml": deny}, files{"p.yaml": wide, "d.yaml": "# +argocd:skip-file-rendering\n" + deny}, "which a template tool reads"},
		"a marker of Argo CD in a value":      {files{"p.yaml": wide, "d.yaml": deny}, files{"p.yaml": wide, "d.yaml": strings.Replace(deny, "namespace: shop}", "namespace: shop, annotations: {a: +argocd:skip-file-rendering}}", 1)}, "which a template tool may replace"},
		"a file that Kustomize does not name": {files{"p.yaml": wide + deny, "kustomization.yaml": "resources: [p.yaml]\n"}, files{"p.yaml": wide, "d.yaml": deny, "kustomization.yaml": "resources: [p.yaml]\n"}, "is not named by the kustomization of its folder"},
		"a folder that Flux takes":            {files{"web/app/p.yaml": wide, "web/kustomization.yaml": "resources: [ks.yaml]\n", "web/ks.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./apps/web/app")}, files{"web/app/p.yaml": narrow, "web/kustomization.yaml": "resources: [ks.yaml]\n", "web/ks.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./apps/web/app")}, ""},
		"another folder that Flux takes":      {files{"web/app/p.yaml": wide, "web/kustomization.yaml": "resources: [ks.yaml]\n", "web/ks.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./apps/db/app")}, files{"web/app/p.yaml": narrow, "web/kustomization.yaml": "resources: [ks.yaml]\n", "web/ks.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./apps/db/app")}, "is not named by the kustomization of its folder"},
		"one that ends like it":               {files{"db/web/app/c.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n", "web/app/p.yaml": wide, "web/kustomization.yaml": "resources: [ks.yaml]\n", "web/ks.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./db/web/app")}, files{"db/web/app/c.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n", "web/app/p.yaml": narrow, "web/kustomization.yaml": "resources: [ks.yaml]\n", "web/ks.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./db/web/app")}, "is not named by the kustomization of its folder"},
		"a kustomization of what Flux takes":  {files{"app/p.yaml": wide, "app/kustomization.yaml": "resources: [a.yaml]\n", "ks.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./app")}, files{"app/p.yaml": narrow, "app/kustomization.yaml": "resources: [a.yaml]\n", "ks.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./app")}, "is not named by the kustomization of its folder"},
		"a project that permits all":          {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "AppProject", "description: a, sourceRepos: [a/*], destinations: [{namespace: '*', server: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]")}, files{"p.yaml": narrow, "d/p.yaml": strings.Replace(deny, "---\n", "", 1), "a.yaml": unread("argoproj.io", "AppProject", "description: a, sourceRepos: [a/*], destinations: [{namespace: '*', server: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]")}, ""},
		"a project of one namespace":          {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "AppProject", "sourceRepos: ['*'], destinations: [{namespace: shop, server: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]")}, files{"p.yaml": narrow, "d/p.yaml": strings.Replace(deny, "---\n", "", 1), "a.yaml": unread("argoproj.io", "AppProject", "sourceRepos: ['*'], destinations: [{namespace: shop, server: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]")}, "may leave policies out"},
		"a project without a namespace":       {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "AppProject", "sourceRepos: ['*'], destinations: [{namespace: '!infra', server: '*'}, {namespace: '*', server: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]")}, files{"p.yaml": narrow, "d/p.yaml": strings.Replace(deny, "---\n", "", 1), "a.yaml": unread("argoproj.io", "AppProject", "sourceRepos: ['*'], destinations: [{namespace: '!infra', server: '*'}, {namespace: '*', server: '*'}], clusterResourceWhitelist: [{group: '*', kind: '*'}]")}, "may leave policies out"},
		"a file that Flux leaves out":         {files{"p.yaml": wide, "d.yaml": deny, ".sourceignore": "*.test.yaml\n"}, files{"p.yaml": wide, "d.test.yaml": deny, ".sourceignore": "*.test.yaml\n"}, "may leave policies out"},
		"a folder that becomes a module":      {files{"p.yaml": wide, "sec/d.yaml": deny}, files{"p.yaml": wide, "sec/d.yaml": deny, ".gitmodules": "path = sec\n"}, ".gitmodules"},
		"a webhook for other objects":         {files{"p.yaml": wide, "h.yaml": webhook("cert-manager.io")}, files{"p.yaml": narrow, "h.yaml": webhook("cert-manager.io")}, ""},
		"a webhook for policies":              {files{"p.yaml": wide, "h.yaml": webhook("security.istio.io")}, files{"p.yaml": narrow, "h.yaml": webhook("security.istio.io")}, "may leave policies out"},
		"a webhook for everything":            {files{"p.yaml": wide, "h.yaml": webhook("'*'")}, files{"p.yaml": narrow, "h.yaml": webhook("'*'")}, "may leave policies out"},
		"a webhook that does not say":         {files{"p.yaml": wide, "h.yaml": webhook("")}, files{"p.yaml": narrow, "h.yaml": webhook("")}, "may leave policies out"},
		"a chart of others":                   {files{"p.yaml": wide, "h.yaml": unread("helm.toolkit.fluxcd.io", "HelmRelease", "chart: {spec: {sourceRef: {kind: HelmRepository}}}")}, files{"p.yaml": narrow, "h.yaml": unread("helm.toolkit.fluxcd.io", "HelmRelease", "chart: {spec: {sourceRef: {kind: HelmRepository}}}")}, ""},
		"a chart of the repository":           {files{"p.yaml": wide, "h.yaml": unread("helm.toolkit.fluxcd.io", "HelmRelease", "chart: {spec: {sourceRef: {kind: GitRepository}}}")}, files{"p.yaml": narrow, "h.yaml": unread("helm.toolkit.fluxcd.io", "HelmRelease", "chart: {spec: {sourceRef: {kind: GitRepository}}}")}, "may leave policies out"},
		"options of Argo CD":                  {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "Application", "syncPolicy: {syncOptions: [CreateNamespace=true]}")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "Application", "syncPolicy: {syncOptions: [CreateNamespace=true]}")}, ""},
		"charts of others":                    {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "Application", "sources: [{chart: a, helm: {values: b}}, {ref: v}]")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "Application", "sources: [{chart: a, helm: {values: b}}, {ref: v}]")}, ""},
		"a chart of Argo CD":                  {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "Application", "source: {chart: a, helm: {values: b}}")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "Application", "source: {chart: a, helm: {values: b}}")}, ""},
		"a chart beside a hydrator":           {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "Application", "source: {chart: a}, sourceHydrator: {drySource: {path: ., kustomize: {}}}")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "Application", "source: {chart: a}, sourceHydrator: {drySource: {path: ., kustomize: {}}}")}, "may leave policies out"},
		"no chart":                            {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "Application", "source: {chart: '', helm: {values: b}}")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "Application", "source: {chart: '', helm: {values: b}}")}, "may leave policies out"},
		"a chart beside a folder":             {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "Application", "sources: [{chart: a, helm: {values: b}}, {ref: v, path: .}]")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "Application", "sources: [{chart: a, helm: {values: b}}, {ref: v, path: .}]")}, "may leave policies out"},
		"a project of Argo CD":                {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "AppProject", "description: a, destinations: []")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "AppProject", "description: a, destinations: []")}, ""},
		"a project of other policies":         {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "AppProject", "description: a")}, files{"p.yaml": narrow, "d/p.yaml": strings.Replace(deny, "---\n", "", 1), "a.yaml": unread("argoproj.io", "AppProject", "description: a")}, "spec.description may leave policies out"},
		"a project that changes":              {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "AppProject", "destinations: []")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "AppProject", "destinations: [{}]")}, "spec.destinations"},
		"an option that leaves out":           {files{"p.yaml": wide, "a.yaml": unread("argoproj.io", "Application", "syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}")}, files{"p.yaml": narrow, "a.yaml": unread("argoproj.io", "Application", "syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}")}, "may leave policies out"},
		"an unknown object, and a new name":   {files{"p.yaml": narrow, "g.yaml": unread("example.com", "Widget", "a: b")}, files{"p.yaml": renamed(narrow), "g.yaml": unread("example.com", "Widget", "a: b")}, ""},
		"an account of a tool":                {files{"p.yaml": narrow, "g.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./a, serviceAccountName: b")}, files{"p.yaml": wide + deny, "g.yaml": unread("kustomize.toolkit.fluxcd.io", "Kustomization", "path: ./a, serviceAccountName: b")}, "what Kustomization default/x does"},
		"a deny of an owner":                  {files{"p.yaml": narrow + denyWith(", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: b}]")}, files{"p.yaml": wide + denyWith(", ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: b}]")}, "it has an owner"},
		"a namespace that ends":               {files{"p.yaml": narrow + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, deletionTimestamp: '2026-01-01T00:00:00Z'}}\n"}, files{"p.yaml": wide + deny + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, deletionTimestamp: '2026-01-01T00:00:00Z'}}\n"}, "the namespace shop ends"},
		"namespaces that Istio watches": {
			files{"p.yaml": narrow, "m.yaml": "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: istio, namespace: istio-system}, data: {mesh: 'discoverySelectors: []'}}"},
			files{"p.yaml": wide + strings.Replace(strings.Replace(meshwide, "mesh-root", "istio-system", 1), "selector: {matchLabels: {app: web}}, ", "", 1), "m.yaml": "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: istio, namespace: istio-system}, data: {mesh: 'discoverySelectors: []'}}"},
			"Istio may not watch the namespace istio-system",
		},
		"Kuma: a label":   {files{"p.yaml": permission("p", "", "allow", "a")}, files{"p.yaml": permission("p", "", "allow", "b"), "q.yaml": permission("d", "team: 'a b'", "deny", "b") + permission("e", "", "allow", "a")}, "an API server refuses it"},
		"Kuma: no label":  {files{"p.yaml": permission("p", "", "allow", "a")}, files{"p.yaml": permission("p", "", "allow", "b"), "q.yaml": permission("d", "team: a", "deny", "b") + permission("e", "", "allow", "a")}, ""},
		"Kuma: an origin": {files{"p.yaml": permission("p", "", "allow", "a") + permission("d", "", "deny", "c")}, files{"p.yaml": permission("p", "", "allow", "b") + permission("d", "kuma.io/origin: zone", "deny", "b")}, "Kuma may refuse it because of its label kuma.io/origin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, folderSide(t, tt.old, ""), folderSide(t, tt.recent, ""), tt.want)
		})
	}
}

// checkReasons holds the reasons why access may widen from one side to the other: they have a part, or there are none where it is "".
func checkReasons(t *testing.T, old, recent Side, want string) {
	t.Helper()
	d, err := Diff(old, recent, "")
	if err != nil {
		t.Fatal(err)
	}
	if reasons := strings.Join(d.widenings(), "; "); !strings.Contains(reasons, want) || (reasons == "") != (want == "") {
		t.Errorf("%q, want %q", reasons, want)
	}
}
