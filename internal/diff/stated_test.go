package diff

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/dialecttest"
)

// A mesh config in the folder is told where the options do not state its fields: the default is taken for them.
func TestOptionsStateTheMeshConfig(t *testing.T) {
	t.Parallel()
	const config = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: istio, namespace: istio-system}, data: {mesh: 'rootNamespace: a'}}\n"
	policy := func(account string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/" + account + "]}}]}]}}\n"
	}
	for options, told := range map[string]bool{"istio: {rootNamespace: a}": false, "istio: {normalization: NONE}": true} {
		old, recent := sideOf(t, policy("a")+config), sideOf(t, policy("b")+config)
		old.Options.Document = dialecttest.Documents(t, options)[0]
		recent.Options.Document = old.Options.Document
		d, err := Diff(old, recent, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(texts(d.Unread), "; "), "data.mesh"); got != told {
			t.Errorf("%s: %q", options, texts(d.Unread))
		}
	}
}
