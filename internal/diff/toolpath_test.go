package diff

import (
	"cmp"
	"maps"
	"strings"
	"testing"
)

// TestWideningByPath has a new pod in a folder that a Kustomization of Flux takes, beside a second one that would give it a label, by another path.
func TestWideningByPath(t *testing.T) {
	t.Parallel()
	const (
		policy = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {team: a}}]}]}}\n"
		pod    = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		other  = "{apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: shop, labels: {app: x}}, spec: {containers: [{name: a, image: a}]}}\n"
		flux   = "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {name: NAME, namespace: flux-system}, spec: {path: 'PATH', sourceRef: {kind: GitRepository, name: a}SPEC}}\n"
		told   = "on its way"
	)
	named := func(text, name string) string { return strings.Replace(text, "NAME", name, 1) }
	for name, tt := range map[string]struct{ path, want, source string }{
		"its folder":               {"./o", told, ""},
		"another folder":           {"./p", "", ""},
		"a folder elsewhere":       {"./q", "", ""},
		"the root":                 {"/", told, ""},
		"a variable of Flux":       {"./${cluster}/q", told, ""},
		"one below none":           {"./q/${cluster}", "", ""},
		"one below another":        {"./p/${cluster}", "", ""},
		"an input of the Operator": {"./<< inputs.tenant >>/q", told, ""},
		"a token":                  {"./__TENANT__", told, ""},
		"a link to its folder":     {"./live", told, ""},
		"a link above it":          {"./apps/live", told, ""},
		"below a link":             {"./top/o", told, ""},
		"a link to another one":    {"./idle", "", ""},
		"a link that leads out":    {"./out", told, ""},
		"a folder with a program":  {"./programs", told, ""},
		"a file":                   {"./programs/run.sh", "", ""},
		"a folder elsewhere, that a source includes":   {"./q", told, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: a, namespace: flux-system}, spec: {url: 'https://x/a', include: [{repository: {name: b}, fromPath: o, toPath: q}]}}\n"},
		"a folder elsewhere, that a source is made of": {"./q", told, "{apiVersion: source.extensions.fluxcd.io/v1beta1, kind: ArtifactGenerator, metadata: {name: a, namespace: flux-system}, spec: {sources: [{alias: r, kind: GitRepository, name: a}], artifacts: [{name: a, copy: [{from: '@r/o/**', to: '@artifact/q/'}]}]}}\n"},
		"the root by its path in a repository":         {"./clusters/prod", told, "ROOT"},
		"a folder above the root":                      {"./clusters", told, "ROOT"},
		"a folder beside the root":                     {"./clusters/dev", "", "ROOT"},
		"a folder of the root by its path":             {"./clusters/prod/o", told, "ROOT"},
		"another folder of the root by its path":       {"./clusters/prod/p", "", "ROOT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{
				"k.yaml": named(strings.NewReplacer("PATH", "./o", "SPEC", "").Replace(flux), "k") + "---\n" + named(strings.NewReplacer("PATH", tt.path, "SPEC", ", patches: [{patch: x}]").Replace(flux), "q"),
				"p.yaml": policy, "s.yaml": cmp.Or(tt.source, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: a, namespace: flux-system}, spec: {url: 'https://x/a'}}\n"), "o/b.yaml": named(other, "b"), "p/c.yaml": named(other, "c"), "live": "-> o", "idle": "-> p", "top": "-> .", "out": "-> ..", "programs/run.sh": "echo\n",
			}
			if tt.source == "ROOT" { // the folder is one of a repository
				old["s.yaml"], old["k.yaml"] = "", strings.Replace(old["k.yaml"], "./o", "./clusters/prod/o", 1)
			}
			recent := maps.Clone(old)
			recent["o/a.yaml"] = pod
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
