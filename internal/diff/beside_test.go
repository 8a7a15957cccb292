package diff

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

// folderOf writes files into a new folder, and opens it as a side.
func folderOf(t *testing.T, files map[string]string) Side {
	t.Helper()
	dir := t.TempDir()
	for file, text := range files {
		at := filepath.Join(dir, file)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if goal, isLink := strings.CutPrefix(text, "→ "); isLink {
			if err := os.Symlink(goal, at); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	opened, err := OpenSide(lab.Choice{}, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	opened.TakeRouting()
	return Side{opened, lab.Surroundings{Inbound: policy.Inbound{Port: 8080, Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}}}}
}

// Where other changes are denied, each difference but one of a policy fails.
func TestDenyOtherChanges(t *testing.T) {
	t.Parallel()
	const (
		rules   = "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {selector: {matchLabels: {app: web}}, rules: [{to: [{operation: {paths: [/a]}}]}]}\n"
		dp      = "type: Dataplane\nmesh: default\nname: web\nlabels: {app: web}\nnetworking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, protocol: http}]}\n"
		config  = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'n'}\ndata: {a: b}\n"
		service = "type: MeshService\nmesh: default\nname: db\nspec: {selector: {dataplaneTags: {app: db}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}\n"
		route   = "type: MeshTimeout\nmesh: default\nname: t\nspec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 1s}}]}\n"
		ofCase  = "case: c\nworkloads: [{name: web, namespace: shop, labels: {app: web}, inbounds: [{name: in, port: 8080, protocol: http}]}]\npolicies: {files: [x/p.yaml]}\nrequests: [{from: plaintext, to: web/in, want: 403}]\n"
	)
	inCase := "workloads: [{name: web, namespace: shop, labels: {app: web}, inbounds: [{name: in, port: 8080, protocol: http}]}]\npolicies: [{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{}]}}]\nrequests: [{from: plaintext, to: web/in, want: allow}]\n"
	twoCases := "case: a\n" + inCase + "---\ncase: b\n" + inCase
	type files map[string]string
	for name, tt := range map[string]struct {
		old, recent files
		want        string
		only        string
	}{
		"nothing":                            {old: files{}, recent: files{}},
		"a rule":                             {old: files{}, recent: files{"p.yaml": strings.Replace(rules, "/a", "/b", 1)}},
		"a new policy":                       {old: files{}, recent: files{"q.yaml": strings.Replace(rules, "name: p", "name: q", 1)}},
		"another name of a file":             {old: files{}, recent: files{"p.yaml": "", "q.yml": rules}},
		"a config in another folder":         {old: files{"c.yaml": config}, recent: files{"d/c.yaml": config}, want: "ConfigMap default/n is in another folder"},
		"a comment, and the order of keys":   {old: files{"c.yaml": config}, recent: files{"c.yaml": "# a\n" + strings.Replace(config, "{name: 'n'}", "{namespace: default, name: 'n'}", 1)}, want: "ConfigMap default/n metadata.namespace"},
		"a list for its objects":             {old: files{"c.yaml": config}, recent: files{"c.yaml": "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: ConfigMap, metadata: {name: 'n'}, data: {a: b}}]\n"}},
		"a label of a policy":                {old: files{}, recent: files{"p.yaml": strings.Replace(rules, "namespace: shop}", "namespace: shop, labels: {a: b}}", 1)}, want: "AuthorizationPolicy shop/p metadata.labels.a"},
		"a config":                           {old: files{"c.yaml": config}, recent: files{"c.yaml": strings.Replace(config, "a: b", "a: c", 1)}, want: "ConfigMap default/n data.a"},
		"a new config":                       {old: files{}, recent: files{"c.yaml": config}, want: "ConfigMap default/n is new"},
		"a config that is gone":              {old: files{"c.yaml": config}, recent: files{}, want: "ConfigMap default/n is gone"},
		"what may matter":                    {old: files{}, recent: files{"c.yaml": "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: 'n'}\n"}, want: "(EnvoyFilter default/n) is new"},
		"a file that nothing reads":          {old: files{"README.md": "a"}, recent: files{"README.md": "b"}, want: "file README.md has changed"},
		"the same file":                      {old: files{"README.md": "a"}, recent: files{"README.md": "a"}},
		"a file in a folder":                 {old: files{"d/values.toml": "a"}, recent: files{}, want: "file d/values.toml is gone"},
		"files of Git":                       {old: files{".git/HEAD": "a", "d/.git": "a"}, recent: files{".git/HEAD": "b"}},
		"other files that begin with a dot":  {old: files{".sops": "a"}, recent: files{".sops": "b"}, want: "file .sops has changed"},
		"an ending in capitals":              {old: files{"d.YAML": "a"}, recent: files{"d.YAML": "b"}, want: "file d.YAML has changed"},
		"a file of a tool":                   {old: files{".sourceignore": "a"}, recent: files{".sourceignore": "b"}, want: ".sourceignore (a file of a tool"},
		"a link to a folder beside it":       {old: files{"d/a.txt": "a", "l": "→ d"}, recent: files{"d/a.txt": "a", "l": "→ d"}},
		"a link to another folder":           {old: files{"d/a.txt": "a", "e/a.txt": "a", "l": "→ d"}, recent: files{"d/a.txt": "a", "e/a.txt": "a", "l": "→ e"}, want: "file l has changed"},
		"a link out of the folder":           {old: files{"l": "→ /tmp"}, recent: files{"l": "→ /tmp"}, want: "file l leads out of the folder"},
		"a link to nowhere":                  {old: files{"l": "→ nowhere"}, recent: files{"l": "→ nowhere"}, want: "file l leads out of the folder"},
		"a label of a Dataplane":             {old: files{"d.yaml": dp}, recent: files{"d.yaml": strings.Replace(dp, "app: web", "app: web, a: b", 1)}, want: "Dataplane default/web labels.a"},
		"a request of a case":                {old: files{"p.yaml": "", "c.yaml": ofCase, "x/p.yaml": rules}, recent: files{"p.yaml": "", "c.yaml": strings.Replace(ofCase, "403", "deny", 1), "x/p.yaml": rules}, want: "case case/c requests[0].want"},
		"a label of a policy of one case":    {old: files{"p.yaml": "", "c.yaml": twoCases}, recent: files{"p.yaml": "", "c.yaml": strings.Replace(twoCases, "shop}, spec", "shop, labels: {a: b}}, spec", 1)}, want: "AuthorizationPolicy shop/p metadata.labels.a"},
		"a policy of a case":                 {old: files{"p.yaml": "", "c.yaml": ofCase, "x/p.yaml": rules}, recent: files{"p.yaml": "", "c.yaml": ofCase, "x/p.yaml": strings.Replace(rules, "/a", "/b", 1)}},
		"a service":                          {old: files{"p.yaml": "", "d.yaml": dp, "s.yaml": service}, recent: files{"p.yaml": "", "d.yaml": dp, "s.yaml": strings.Replace(service, "port: 80,", "port: 81,", 1)}, want: "MeshService default/db spec.ports[0].port"},
		"a timeout":                          {old: files{"p.yaml": "", "d.yaml": dp, "t.yaml": route}, recent: files{"p.yaml": "", "d.yaml": dp, "t.yaml": strings.Replace(route, "1s", "2s", 1)}},
		"a timeout, and an inbound is asked": {old: files{"p.yaml": "", "d.yaml": dp, "t.yaml": route}, recent: files{"p.yaml": "", "d.yaml": dp, "t.yaml": strings.Replace(route, "1s", "2s", 1)}, only: "web/in", want: "MeshTimeout default/t spec.to[0].default.connectionTimeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := func(own files) files {
				all := files{"p.yaml": rules}
				maps.Copy(all, own)
				return all
			}
			d, err := Diff(folderOf(t, with(tt.old)), folderOf(t, with(tt.recent)), tt.only)
			if err != nil {
				t.Fatal(err)
			}
			if d.Failures() != nil {
				t.Fatalf("without the flag: %q", d.Failures())
			}
			if err := d.DenyOtherChanges(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(d.Failures(), "; "); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// What passes is counted, and the first differences are named.
func TestPassedNote(t *testing.T) {
	t.Parallel()
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'n'}\ndata: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1}\n"
	const p = "---\n{type: MeshTrafficPermission, mesh: default, name: p, spec: {}}\n"
	for recent, want := range map[string]string{
		text:                                     "",
		strings.Replace(text, "a: 1", "a: 2", 1): "note: beside the policies, 1 difference in 1 object passes: ConfigMap default/n data.a",
		strings.Replace(text, "a: 1, b: 1", "a: 2, b: 2", 1): "note: beside the policies, 2 differences in 1 object pass: ConfigMap default/n data.a, ConfigMap default/n data.b",
		strings.ReplaceAll(text, ": 1", ": 2"):               "note: beside the policies, 7 differences in 1 object pass: ConfigMap default/n data.a, ConfigMap default/n data.b, ConfigMap default/n data.c, ConfigMap default/n data.d, ConfigMap default/n data.e, and 2 more",
		"":                                                   "note: beside the policies, 1 difference in 1 object passes: ConfigMap default/n is gone",
	} {
		for _, compare := range []func(old, recent Side, to string) (*Difference, error){Diff, DiffBeside} {
			d, err := compare(folderOf(t, map[string]string{"a.yaml": text + p}), folderOf(t, map[string]string{"a.yaml": recent + p}), "")
			if err != nil {
				t.Fatal(err)
			}
			symmetric := strings.Replace(want, "is gone", "is on one side alone", 1)
			if got := strings.Join(d.besideTexts(), "\n"); got != want && got != symmetric {
				t.Errorf("%q, want %q", got, want)
			}
			if text := d.Markdown(); strings.Contains(text, "note: beside the policies, ") != (want != "") {
				t.Errorf("%s", text)
			}
		}
	}
}

// Nothing is known of what a template tool applies: neither where a policy changes, nor where none does.
func TestWideningByTemplates(t *testing.T) {
	t.Parallel()
	const (
		closed = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{to: [{operation: {notPaths: [/admin]}}]}]}}\n"
		open   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{}]}}\n"
		deny   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, action: DENY, rules: [{to: [{operation: {paths: [/admin]}}]}]}}\n"
		caller = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{from: [{source: {principals: ['cluster.local/ns/shop/sa/${caller}']}}]}]}}\n"
		config = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: cluster-vars}, data: {caller: '*'}}\n"
		web    = "---\n{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: 'n'}, spec: {podSelector: {}}}\n"
	)
	helm := func(text string) string { return "# {{- if .Values.a }}\n" + text + "# {{- end }}\n" }
	for name, tt := range map[string]struct {
		old, recent string
		quiet       bool
	}{
		"a deny that Helm may leave out":        {old: closed, recent: open + "---\n" + helm(deny)},
		"a deny that ytt leaves out":            {old: closed, recent: open + "#@ if False:\n---\n" + deny + "#@ end\n"},
		"a deny without a template":             {old: closed, recent: open + "---\n" + deny, quiet: true},
		"an allow that Helm left out":           {old: helm(open), recent: open},
		"a template of nothing else":            {old: helm(closed), recent: helm(closed)},
		"a caller by a variable":                {old: caller, recent: caller},
		"another value of the variable":         {old: caller, recent: caller + config},
		"a caller without the variable":         {old: caller, recent: strings.Replace(caller, "${caller}", "fe", 1)},
		"a NetworkPolicy that Helm may leave":   {old: closed + web, recent: closed + "---\n" + helm(strings.TrimPrefix(web, "---\n"))},
		"a comment of a person":                 {old: closed, recent: "# for the team\n" + closed, quiet: true},
		"a variable in the image of a workload": {old: closed, recent: closed + "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop}, spec: {template: {spec: {containers: [{name: a, image: 'a:${tag}'}]}}}}\n", quiet: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Diff(folderOf(t, map[string]string{"a.yaml": tt.old}), folderOf(t, map[string]string{"a.yaml": tt.recent}), "")
			if err != nil {
				t.Fatal(err)
			}
			if reasons := d.widenings(); (len(reasons) == 0) != tt.quiet {
				t.Errorf("%q", reasons)
			}
		})
	}
}
