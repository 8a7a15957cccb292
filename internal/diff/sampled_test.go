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
	for name, tt := range map[string]struct{ recent, want string }{
		"no policy has changed": {policies.String(), ""},
		"a policy has changed":  {strings.Replace(policies.String(), "{app: a7}", "{app: a8}", 1), "sampled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, folderSide(t, map[string]string{"p.yaml": policies.String()}, ""), folderSide(t, map[string]string{"p.yaml": tt.recent}, ""), tt.want)
		})
	}
}
