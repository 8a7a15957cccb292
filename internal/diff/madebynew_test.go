package diff

import (
	"strings"
	"testing"
)

// Beside Dataplanes no flags describe an inbound. The command that explains a change leads to an inbound that it makes
// too, and there is none for an inbound that diff alone makes.
func TestExplainBesideDataplanes(t *testing.T) {
	t.Parallel()
	const dataplane = "{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{name: main, port: 8080, tags: {kuma.io/service: web}}]}}\n---\n"
	permission := func(name, label, of string) string {
		return "{type: MeshTrafficPermission, name: " + name + ", spec: {targetRef: {kind: Dataplane, labels: {" + label + "}}, rules: [{default: {" + of + ": [{spiffeID: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]}}]}}\n---\n"
	}
	deny, allow := permission("d", "tier: a", "deny"), permission("p", "app: db", "allow")
	for name, tt := range map[string]struct {
		old, recent string
		want        map[string]bool
	}{
		"a policy that NEW has": {dataplane, dataplane + allow, map[string]bool{"made-for-p/8080": true}},
		// Without the deny, NEW alone makes no inbound with the labels of both.
		"a deny that NEW has not": {dataplane + deny + allow, dataplane + allow, map[string]bool{"made-for-d/8080": false, "made-for-d-p/8080": false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, tt.old, tt.recent)
			d.Arguments = func(...string) []string { return []string{"new.yaml"} }
			for _, c := range d.Cases {
				for _, found := range c.Comparisons {
					for _, change := range found.Changes {
						line := explain(c, d.argumentsOf(c, found), change, nil)
						want, known := tt.want[found.Inbound.String()]
						if !known || (line != "") != want || want && !strings.Contains(line, "explain new.yaml --to "+found.Inbound.String()) {
							t.Errorf("%s, %s: %q", found.Inbound, change.Kind(), line)
						}
					}
				}
			}
			if len(d.madeByNew) == 0 || len(d.Cases) == 0 {
				t.Errorf("%d inbounds of NEW, %d cases", len(d.madeByNew), len(d.Cases))
			}
		})
	}
}
