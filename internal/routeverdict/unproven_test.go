package routeverdict

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/verdict"
)

// What a run through sidecars does not prove is told, once for all workloads, and nothing else is.
func TestUnproven(t *testing.T) {
	t.Parallel()
	const head = `
case: through sidecars
workloads:
  - {name: web}
  - {name: job}
  - {name: backend, labels: {app: backend}, inbounds: [{name: main, port: 8080}]}
policies:
  - {type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]}}}
requests:
  - {from: [web, job], to: 'MeshService/backend:80', path: /, want: 200}
outbounds:
  - {type: MeshService, name: backend, spec: {selector: {dataplaneTags: {app: backend}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
`
	const to = "to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 1s}}}]"
	for name, tt := range map[string]struct{ text, want string }{
		"nothing": {"  - {type: MeshTimeout, name: t, spec: {" + to + "}}\n", ""},
		"bounds on what a workload gets": {
			"  - {type: MeshTimeout, name: t, spec: {from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}}\n",
			"bounds on the requests that a workload gets are not proven",
		},
		"a header that a sidecar writes": {
			"  - {type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: [{matches: [{headers: [{name: x-request-id, type: Absent}]}], default: {backendRefs: [{kind: MeshService, name: backend}]}}]}]}}\n",
			"which a sidecar writes itself",
		},
		"an order in a circle": {
			"  - {type: MeshTimeout, name: a, spec: {targetRef: {kind: Dataplane, name: web}, " + to + "}}\n" +
				"  - {type: MeshTimeout, name: b, spec: {targetRef: {kind: Dataplane, labels: {}}, " + to + "}}\n" +
				"  - {type: MeshTimeout, name: c, spec: {targetRef: {kind: Dataplane}, " + to + "}}\n",
			"Kuma has no order for one of every Dataplane",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reading, err := verdict.Read(casetest.Parse(t, head+tt.text))
			if err != nil {
				t.Fatal(err)
			}
			all, err := Read(reading)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(all.Unproven); tt.want == "" && n > 0 || tt.want != "" && (n != 1 || !strings.Contains(all.Unproven[0].Message, tt.want)) {
				t.Errorf("want %q, got %v", tt.want, all.Unproven)
			}
		})
	}
}
