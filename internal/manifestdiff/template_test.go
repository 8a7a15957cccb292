package manifestdiff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/policy/manifest"
)

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
		"# {# a comment of Jinja":                true,
		"#{if deny}":                             true,
		"# <#if deny>":                           true,
		"# #if deny":                             true,
		"# +argocd:skip-file-rendering":          true,
		"# see #4":                               false,
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
			warnings := rendering.Unrendered(docs)
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

// A file of ytt with overlays changes what stands in others, although nothing in it is an object. Such a file with values alone says nothing.
func TestOverlays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"#@ load(\"@ytt:overlay\", \"overlay\")\n#@overlay/match by=overlay.all, expects=1\n---\nspec: {action: AUDIT}\n": true,
		"#@overlay/match by=overlay.all\n---\nspec: {action: AUDIT}\n":                                                    true,
		"#@data/values\n---\nspec: {action: AUDIT}\n":                                                                     false,
		"# {{ .a }} is an overlay\n---\nspec: {action: AUDIT}\n":                                                          false,
	} {
		docs, err := manifest.Parse("o.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		side := manifestdiff.Side{Others: docs}
		if changes := manifestdiff.Changes(side, side); want != (len(changes) > 0) {
			t.Errorf("%s: %v", text, changes)
		}
	}
}

// Another value of a variable counts where it stands for what may matter, and not where it is that of an image.
func TestVariables(t *testing.T) {
	t.Parallel()
	config := func(kind, field, key, value string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: vars, namespace: flux-system}\n" + field + ": {" + key + ": " + value + "}\n"
	}
	external := func(spec string) string {
		return "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: vars, namespace: flux-system}\nspec: {" + spec + "}\n"
	}
	space := "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: '${inject:=enabled}'}}\n"
	image := strings.Replace(deployment, "image: shop/web:1", "image: 'shop/web:${tag}'", 1)
	for name, tt := range map[string]struct {
		change
		quiet bool
	}{
		"the injection of a namespace":              {change: change{"", together(policy, space), config("ConfigMap", "data", "inject", "enabled"), config("ConfigMap", "data", "inject", "disabled")}},
		"the same, in a Secret":                     {change: change{"", together(policy, space), config("Secret", "stringData", "inject", "enabled"), config("Secret", "stringData", "inject", "disabled")}},
		"a new ConfigMap":                           {change: change{"", together(policy, space), "", config("ConfigMap", "data", "inject", "disabled")}},
		"another variable":                          {change: change{"", together(policy, space), config("ConfigMap", "data", "other", "a"), config("ConfigMap", "data", "other", "b")}, quiet: true},
		"an image":                                  {change: change{"", together(policy, image), config("ConfigMap", "data", "tag", "a"), config("ConfigMap", "data", "tag", "b")}, quiet: true},
		"the network of the host":                   {change: change{"", together(policy, strings.Replace(image, "nodeSelector", "hostNetwork: $(host)\n      nodeSelector", 1)), config("ConfigMap", "data", "host", "a"), config("ConfigMap", "data", "host", "b")}},
		"the account of a workload":                 {change: change{"", together(policy, strings.Replace(image, "serviceAccountName: web", "serviceAccountName: '${ account }'", 1)), config("ConfigMap", "data", "account", "a"), config("ConfigMap", "data", "account", "b")}},
		"a value of a Helm chart":                   {change: change{"", together(policy, strings.Replace(image, "serviceAccountName: web", "serviceAccountName: '{{ .Values.account }}'", 1)), config("ConfigMap", "data", "account", "a"), config("ConfigMap", "data", "account", "b")}, quiet: true},
		"a text of a sealed Secret":                 {change: change{"", together(policy, space), "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: s, namespace: flux-system}\nspec: {template: {data: {inject: a}}}\n", "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: s, namespace: flux-system}\nspec: {template: {data: {inject: b}}}\n"}},
		"a Secret from elsewhere":                   {change: change{"", together(policy, space), external("data: [{secretKey: other}]"), external("data: [{secretKey: other}, {secretKey: third}]")}, quiet: true},
		"a text of a Secret from elsewhere":         {change: change{"", together(policy, space), external("data: [{secretKey: a}], target: {template: {data: {b: c}}}"), external("data: [{secretKey: a}], target: {template: {data: {b: d}}}")}, quiet: true},
		"a Secret from elsewhere with the variable": {change: change{"", together(policy, space), external("data: [{secretKey: inject, remoteRef: {key: a}}]"), external("data: [{secretKey: inject, remoteRef: {key: b}}]")}},
		"the variable in a text":                    {change: change{"", together(policy, space), external("data: [{secretKey: a}], target: {template: {data: {inject: c}}}"), external("data: [{secretKey: a}], target: {template: {data: {inject: d}}}")}},
		"all of a Secret from elsewhere":            {change: change{"", together(policy, space), external("dataFrom: [{extract: {key: a}}]"), external("dataFrom: [{extract: {key: b}}]")}},
		"a Secret from elsewhere with more":         {change: change{"", together(policy, space), external("data: [{secretKey: a}]"), external("data: [{secretKey: a}], dataFrom: [{extract: {key: b}}]")}},
		"texts from elsewhere":                      {change: change{"", together(policy, space), external("data: [{secretKey: a}], target: {template: {templateFrom: [{configMap: {name: a}}]}}"), external("data: [{secretKey: a}], target: {template: {templateFrom: [{configMap: {name: b}}]}}")}},
		"a variable of an unknown kind": {change: change{"", together(policy, "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: 'n'}\nspec: {podSelector: {matchLabels: {a: '${app}'}}}"),
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
