package diff

import (
	"fmt"
	"strings"
	"testing"
)

// TestSampledCallers has more selectors than callers are made for. Where no policy has changed, each caller gets in where it did.
func TestSampledCallers(t *testing.T) {
	t.Parallel()
	var policies strings.Builder
	for i := range 20 {
		fmt.Fprintf(&policies, "---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p%d, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: a%d}}, ingress: [{fromEndpoints: [{matchLabels: {k%d: v}}]}]}}\n", i, i, i)
	}
	deny := "---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: d, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: a7}}, ingressDeny: [{fromEndpoints: [{matchLabels: {x: bad}}]}]}}\n"
	base := policies.String() + deny
	for name, tt := range map[string]struct{ recent, want string }{
		"a deny of a second label goes":    {policies.String(), "widens"},
		"a deny of a second label changes": {strings.Replace(base, "{x: bad}", "{x: worse}", 1), "widens"},
		"a deny is narrower":               {strings.Replace(base, "{x: bad}", "{x: bad, k7: v, k8: v}", 1), "widens"},
		"no policy has changed":            {base, ""},
		"a policy has changed":             {strings.Replace(base, "{app: a6}", "{app: web}", 1), "widens"},
		"a caller comes":                   {strings.Replace(base, "{k7: v}", "{k9: v}", 1), "widens"},
		"a caller is named closer":         {strings.Replace(base, "{k7: v}", "{k7: v, k8: v}", 1), ""},
		"each policy has changed":          {strings.ReplaceAll(base, ": v}", ": w}"), "sampled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, folderSide(t, map[string]string{"p.yaml": base}, ""), folderSide(t, map[string]string{"p.yaml": tt.recent}, ""), tt.want)
		})
	}
}
