package selection_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// Nobody knows whether a target selects a workload that does not state a label which a control plane computes, where
// nothing else keeps the policy away.
func TestUnstated(t *testing.T) {
	t.Parallel()
	for labels, tt := range map[string]struct {
		workload policy.Workload
		want     string
	}{
		"app: backend":                                         {policy.Workload{}, ""},
		"kuma.io/zone: east":                                   {policy.Workload{}, "asks for kuma.io/zone,"},
		"kuma.io/zone: west":                                   {policy.Workload{Zone: "east"}, ""},
		"kuma.io/env: kubernetes":                              {policy.Workload{}, "asks for kuma.io/env,"},
		"kuma.io/env: universal":                               {policy.Workload{Labels: map[string]string{"kuma.io/env": "kubernetes"}}, ""},
		"k8s.kuma.io/service-account: a":                       {policy.Workload{}, "asks for k8s.kuma.io/service-account,"},
		"kuma.io/display-name: a, k8s.kuma.io/namespace: shop": {policy.Workload{}, ""},
		"kuma.io/mesh: default":                                {policy.Workload{}, ""},
		"app: other, kuma.io/zone: east":                       {policy.Workload{}, ""},
	} {
		t.Run(labels, func(t *testing.T) {
			t.Parallel()
			ps := fixture.Parse(t, "{type: MeshTrafficPermission, name: p, spec: {targetRef: {kind: Dataplane, labels: {"+labels+"}}}}")
			tt.workload.Name = "backend"
			got := selection.Targets(ps, permission.Options{})[0].Unstated(policy.Inbound{Workload: tt.workload, Port: 80})
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("want %q, got %q", tt.want, got)
			}
		})
	}
}
