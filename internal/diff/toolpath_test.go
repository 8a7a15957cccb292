package diff

import (
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
	for name, tt := range map[string]struct{ path, want string }{
		"its folder":               {"./o", told},
		"another folder":           {"./p", ""},
		"a folder elsewhere":       {"./q", ""},
		"the root":                 {"/", told},
		"a variable of Flux":       {"./${cluster}/q", told},
		"one below none":           {"./q/${cluster}", ""},
		"one below another":        {"./p/${cluster}", ""},
		"an input of the Operator": {"./<< inputs.tenant >>/q", told},
		"a token":                  {"./__TENANT__", told},
		"a link to its folder":     {"./live", told},
		"a link above it":          {"./apps/live", told},
		"below a link":             {"./top/o", told},
		"a link to another one":    {"./idle", ""},
		"a link that leads out":    {"./out", told},
		"a folder with a program":  {"./programs", told},
		"a file":                   {"./programs/run.sh", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := map[string]string{
				"k.yaml": named(strings.NewReplacer("PATH", "./o", "SPEC", "").Replace(flux), "k") + "---\n" + named(strings.NewReplacer("PATH", tt.path, "SPEC", ", patches: [{patch: x}]").Replace(flux), "q"),
				"p.yaml": policy, "o/b.yaml": named(other, "b"), "p/c.yaml": named(other, "c"), "live": "-> o", "idle": "-> p", "top": "-> .", "out": "-> ..", "programs/run.sh": "echo\n",
			}
			recent := maps.Clone(old)
			recent["o/a.yaml"] = pod
			checkReasons(t, folderSide(t, old, ""), folderSide(t, recent, ""), tt.want)
		})
	}
}
