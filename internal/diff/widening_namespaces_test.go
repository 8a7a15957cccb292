package diff

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/policy/manifest"
)

// Each row opens one of two namespaces that have the same label, as the options say.
func TestWideningOfNamespacesWithOneLabel(t *testing.T) {
	t.Parallel()
	options, err := manifest.Parse("options", []byte("cilium: {namespaceLabels: {bank: {team: money}, vault: {team: money}, shop: {team: web}}}"))
	if err != nil {
		t.Fatal(err)
	}
	const (
		team  = "io.cilium.k8s.namespace.labels.team: money"
		bank  = "io.kubernetes.pod.namespace: bank"
		vault = "io.kubernetes.pod.namespace: vault"
		all   = "ingress: [{fromEntities: [all]}]"
		none  = "ingressDeny: [{fromEntities: [all]}]"
	)
	of := func(name, labels, rules string) string {
		return fmt.Sprintf("---\n{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: %s}, spec: {endpointSelector: {matchLabels: {%s}}, %s}}\n", name, labels, rules)
	}
	from := func(labels string) string { return "ingressDeny: [{fromEndpoints: [{matchLabels: {" + labels + "}}]}]" }
	for name, tt := range map[string]struct{ same, old, recent string }{
		"a deny of both goes to the first":         {of("p", "", all), of("d", team, none), of("d", bank, none)},
		"a deny of both goes to the second":        {of("p", "", all), of("d", team, none), of("d", vault, none)},
		"a deny of callers of both, to the first":  {of("p", "", all), of("d", "", from(team)), of("d", "", from(bank))},
		"a deny of callers of both, to the second": {of("p", "", all), of("d", "", from(team)), of("d", "", from(vault))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			widenings := func(old, recent string) []string {
				was, is := sideOf(t, tt.same+old), sideOf(t, tt.same+recent)
				was.Options.Document, is.Options.Document = options[0], options[0]
				d, err := Diff(was, is, "")
				if err != nil {
					t.Fatal(err)
				}
				return d.widenings()
			}
			if len(widenings(tt.old, tt.recent)) == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", tt.old, tt.recent, tt.same)
			}
			if got := widenings(tt.old, tt.old); len(got) > 0 {
				t.Errorf("no change widens: %q", got)
			}
		})
	}
}
