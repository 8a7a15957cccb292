package manifestdiff_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
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
		warnings := manifestdiff.Unrendered(docs)
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

// A comment may leave out what stands below it, whatever the tool. Each file is told once.
func TestInstructions(t *testing.T) {
	t.Parallel()
	for comment, is := range map[string]bool{
		"# {{- if .Values.denyAdmin }}":          true,
		"#{{ if .a }}":                           true,
		"#@ if False:":                           true,
		"#@overlay/match by=overlay.all":         true,
		"# {% if a %}":                           true,
		"# <% if a %>":                           true,
		"# %{ if a }":                            true,
		"# #{if a}":                              true,
		"# kpt-set: ${a}":                        true,
		`# {"$openapi": "a"}`:                    true,
		"#if ($deny)\n#end":                      true,
		"#ifdef DENY\n#endif":                    true,
		"# for a in b\n# endfor":                 true,
		"# [[ if .deny ]]":                       true,
		"#if you read this, go on":               false,
		"# the end":                              false,
		"# end of the rules":                     false,
		"# a comment of a person":                false,
		"# mail me@example.com, $5, {a}, <b>, %": false,
		"#! ytt leaves this out":                 false,
		"# ${TEAM} owns this":                    false,
	} {
		text := strings.TrimPrefix(policy, "\n")
		for i, file := range []string{comment + "\n" + text, text + comment + "\n", comment + "\n---\n" + text + "\n---\n" + strings.Replace(text, "name: p,", "name: q,", 1)} {
			docs, err := manifest.Parse("p.yaml", []byte(file))
			if err != nil {
				t.Fatal(err)
			}
			warnings := manifestdiff.Unrendered(docs)
			if is != (len(warnings) == 1) || len(warnings) > 1 || is && warnings[0].Place != []string{"p.yaml:1", "p.yaml:5", "p.yaml:1"}[i] && !strings.Contains(comment, "\n") {
				t.Errorf("%s: %v", comment, warnings)
			}
			side := manifestdiff.Side{Policies: docs}
			if changes := manifestdiff.Changes(side, side); is != (len(changes) > 0) {
				t.Errorf("%s: %v", comment, changes)
			}
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
				for _, w := range manifestdiff.Unrendered(policies) {
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

// Another value of a variable counts where it stands for what may matter, and not where it is that of an image.
func TestVariables(t *testing.T) {
	t.Parallel()
	config := func(kind, field, key, value string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: vars, namespace: flux-system}\n" + field + ": {" + key + ": " + value + "}\n"
	}
	space := "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: '${inject:=enabled}'}}\n"
	image := strings.Replace(deployment, "image: shop/web:1", "image: 'shop/web:${tag}'", 1)
	for name, tt := range map[string]struct {
		change
		quiet bool
	}{
		"the injection of a namespace": {change: change{"", together(policy, space), config("ConfigMap", "data", "inject", "enabled"), config("ConfigMap", "data", "inject", "disabled")}},
		"the same, in a Secret":        {change: change{"", together(policy, space), config("Secret", "stringData", "inject", "enabled"), config("Secret", "stringData", "inject", "disabled")}},
		"a new ConfigMap":              {change: change{"", together(policy, space), "", config("ConfigMap", "data", "inject", "disabled")}},
		"another variable":             {change: change{"", together(policy, space), config("ConfigMap", "data", "other", "a"), config("ConfigMap", "data", "other", "b")}, quiet: true},
		"an image":                     {change: change{"", together(policy, image), config("ConfigMap", "data", "tag", "a"), config("ConfigMap", "data", "tag", "b")}, quiet: true},
		"the network of the host":      {change: change{"", together(policy, strings.Replace(image, "nodeSelector", "hostNetwork: $(host)\n      nodeSelector", 1)), config("ConfigMap", "data", "host", "a"), config("ConfigMap", "data", "host", "b")}},
		"the account of a workload":    {change: change{"", together(policy, strings.Replace(image, "serviceAccountName: web", "serviceAccountName: '${ account }'", 1)), config("ConfigMap", "data", "account", "a"), config("ConfigMap", "data", "account", "b")}},
		"a value of a Helm chart":      {change: change{"", together(policy, strings.Replace(image, "serviceAccountName: web", "serviceAccountName: '{{ .Values.account }}'", 1)), config("ConfigMap", "data", "account", "a"), config("ConfigMap", "data", "account", "b")}, quiet: true},
		"a variable of an unknown kind": {change: change{"", together(policy, "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: n}\nspec: {podSelector: {matchLabels: {a: '${app}'}}}"),
			config("ConfigMap", "data", "app", "a"), config("ConfigMap", "data", "app", "b")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, recent := tt.sides(t)
			if changes := manifestdiff.Changes(old, recent); (len(changes) == 0) != tt.quiet {
				t.Errorf("%s", textOf(changes))
			}
		})
	}
}
