package rendering_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A text that a template tool replaces is told from one that only looks like it.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"cluster.local/ns/shop/sa/${caller}": "${caller}",
		"${caller:=fe}":                      "${caller:=fe}",
		"${ var.caller }":                    "${ var.caller }",
		"$${caller}":                         "${caller}",
		"${a:-\n\n  b}":                      "${a:-\nb}",
		"${":                                 "${",
		"/a/$(caller)":                       "$(caller)",
		"$CALLER/a":                          "$CALLER",
		"{{ .Values.caller }}":               "{{ .Values.caller }}",
		"a{{- .Values.caller -}}b":           "{{- .Values.caller -}}",
		"{{1}}":                              "{{1}}",
		"{{2} {{ a }}":                       "{{ a }}",
		"{% if a %}b{% endif %}":             "{% if a %}",
		"<%= caller %>":                      "<%= caller %>",
		"%{ if a }b%{ endif }":               "%{ if a }",
		"#{caller}":                          "#{caller}",
		"sa/<caller>":                        "<caller>",
		"<path:secret/data/a#caller>":        "<path:secret/data/a#caller>",
		"<+env.name>":                        "<+env.name>",
		"[[ .caller ]]":                      "[[ .caller ]]",
		"(( grab meta.caller ))":             "(( grab meta.caller ))",
		"sa/__CALLER__":                      "__CALLER__",
		"@caller.name@":                      "@caller.name@",
		"%(caller)s":                         "%(caller)s",
		"ref+vault://a/b":                    "ref+vault://",
		"sa/((caller))":                      "((caller))",
		"cluster.local/ns/shop/sa/$caller":   "$caller",
		// These are none.
		"*/$metadata":                    "",
		"from <a> to <b>":                "",
		"^/Patient/.*/$export":           "",
		"(a|b)$c":                        "",
		"US$":                            "",
		`^/(?P<name>[a-z]+)/(?<id>\d+)$`: "",
		"((a|b)c)":                       "",
		"^[[:alpha:]]+[[a]$":             "",
		"a < b && c > d":                 "",
		"me@example.com":                 "",
		"/__health__":                    "",
		"/@scope/a":                      "",
		"/a%20(b)":                       "",
		"^/a$":                           "",
		"^/a$|^/b$":                      "",
		"(a|b)$":                         "",
		"^(/a$)|(/b$)":                   "",
		"/odata/$metadata":               "",
		"/a/$1":                          "",
		`^/\{{2}$`:                       "",
		`[a-z]{2,3}`:                     "",
		"/a/{*}/b/{**}":                  "",
		"{a}":                            "",
		"%REQ(:path)%":                   "",
		"a%2Fb%{2}":                      "",
		"*.example.com":                  "",
		"price in $":                     "",
		"#a":                             "",
		`{"a":{"b":{}}}`:                 "",
	} {
		docs, err := manifest.Parse("p.yaml", []byte("apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: p}\nspec: {rules: [{to: [{operation: {paths: [a, '"+text+"']}}]}]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		warnings := rendering.Unrendered(docs)
		if want == "" {
			if len(warnings) > 0 {
				t.Errorf("%s: %v", text, warnings)
			}
			continue
		}
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0].String(), `p.yaml:4: spec.rules[0].to[0].operation.paths[1]: a template tool may replace `+strconv.Quote(want)+`, `) {
			t.Errorf("%s: %v, want %q", text, warnings, want)
		}
	}
}

// What is proven and shown here has no template.
func TestNoTemplateIsProven(t *testing.T) {
	t.Parallel()
	n := 0
	for _, root := range []string{"../../cases", "../../examples", "../../plugins"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".yaml" {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			docs, err := manifest.Parse(path, data)
			if err != nil {
				return nil
			}
			for _, doc := range docs {
				policies := []manifest.Document{doc}
				if at, isCase := doc.Lookup("policies"); isCase && at.Decode(&policies) != nil {
					continue
				}
				n++
				for _, w := range rendering.Unrendered(policies) {
					t.Errorf("%v", w)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 500 {
		t.Errorf("%d documents", n)
	}
}

// A policy that a tool may not apply is warned of. Other annotations say nothing of that.
func TestIdle(t *testing.T) {
	t.Parallel()
	for metadata, want := range map[string]bool{
		"annotations: {helm.sh/hook: pre-install}":                         true,
		"annotations: {argocd.argoproj.io/hook: Sync}":                     true,
		"annotations: {config.kubernetes.io/local-config: 'true'}":         true,
		"annotations: {config.kubernetes.io/local-config: 'false'}":        false,
		"annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}":   true,
		"labels: {kustomize.toolkit.fluxcd.io/reconcile: disabled}":        true,
		"annotations: {kustomize.toolkit.fluxcd.io/reconcile: enabled}":    false,
		"annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}":            false,
		"annotations: {kustomize.toolkit.fluxcd.io/ssa: IfNotPresent}":     true,
		"annotations: {kapp.k14s.io/noop: ''}":                             true,
		"annotations: {client.lifecycle.config.k8s.io/mutation: ignore}":   true,
		"annotations: {argocd.argoproj.io/sync-wave: '1', owner: me}":      false,
		"labels: {helm.sh/chart: a-1, app.kubernetes.io/managed-by: Helm}": false,
		"labels: {addonmanager.kubernetes.io/mode: EnsureExists}":          true,
		"labels: {team: 'a b'}":                                            true,
		"managedFields: [{operation: Nope}]":                               true,
		"resourceVersion: '7'":                                             false,
	} {
		docs, err := manifest.Parse("p.yaml", []byte("{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, "+metadata+"}, spec: {}}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := rendering.Idle(docs); (len(got) == 1) != want {
			t.Errorf("%s: %v", metadata, got)
		}
	}
	for name, want := range map[string]bool{"p.yaml": false, ".p.yaml": true, "_p.yaml": true, "values.yaml": true, "my-values.yaml": false, "Chart.yaml": true} {
		docs, err := manifest.Parse("folder/"+name, []byte("{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {}}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := rendering.Idle(docs); (len(got) == 1) != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
