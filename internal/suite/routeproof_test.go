package suite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
)

// callsAndShares has a service of gRPC and one of HTTP, each with a route of which one backend does not exist.
const callsAndShares = `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{name: main, port: 8080, tags: {app: web, kuma.io/protocol: http}}]}}
---
{type: Dataplane, name: calls-1, networking: {address: 10.0.0.2, inbound: [{name: main, port: 8080, tags: {app: calls, kuma.io/protocol: grpc}}]}}
---
{type: Dataplane, name: plain-1, networking: {address: 10.0.0.3, inbound: [{name: main, port: 8080, tags: {app: plain, kuma.io/protocol: http}}]}}
---
{type: MeshService, name: calls, spec: {selector: {dataplaneTags: {app: calls}}, ports: [{port: 80, targetPort: 8080, appProtocol: grpc}]}}
---
{type: MeshService, name: plain, spec: {selector: {dataplaneTags: {app: plain}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
---
{type: MeshHTTPRoute, name: half, spec: {to: [
  {targetRef: {kind: MeshService, name: calls}, rules: [{matches: [{path: {type: Exact, value: /shop.Orders/List}}], default: {backendRefs: [{kind: MeshService, name: calls}, {kind: MeshService, name: gone}]}}]},
  {targetRef: {kind: MeshService, name: plain}, rules: [{matches: [{path: {type: PathPrefix, value: /half}}], default: {backendRefs: [{kind: MeshService, name: plain}, {kind: MeshService, name: gone}]}}]}]}}
---
{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshService, name: calls}, default: {http: {requestTimeout: 200ms}}}]}}
---
{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {deny: [{path: {type: Prefix, value: /shop.Admin}}], allow: [{spiffeID: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]}}]}}
`

// A proof sends calls to a service of gRPC, and requests that are no calls. Of a route with a backend that does
// not exist, a request may take either share.
func TestProofOfCallsAndShares(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, []byte(callsAndShares), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(lab.Choice{}, file)
	if err != nil {
		t.Fatal(err)
	}
	files.TakeRouting()
	s := lab.Surroundings{Inbound: policy.Inbound{Workload: policy.Workload{Name: "web", Mesh: "default"}, Port: 8080}}
	proofs, senders, err := routeproof.Plan(files, s, "")
	if err != nil || len(proofs) != 1 {
		t.Fatalf("%d proofs, %v", len(proofs), err)
	}
	calls, plain := 0, 0
	for _, r := range proofs[0].RoutedRequests {
		switch {
		case r.To != "kri_msvc_default___calls_80":
		case r.GRPC != "":
			calls++
		default:
			plain++
		}
	}
	if calls == 0 || plain == 0 || proofs[0].Waited == 0 {
		t.Errorf("%d calls and %d other requests, %d limits waited for", calls, plain, proofs[0].Waited)
	}
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	report := routeproof.NewReport(h.Version(), false, proofs, senders, (suite.Runner{Harness: h}).Run(t.Context(), routeproof.Cases(proofs)...))
	if !report.Holds() {
		t.Error(report.Sentence())
	}
	for _, v := range report.Verdicts {
		for _, q := range v.Wrong() {
			t.Errorf("%s %s%s: %v", q.Method, q.Path, q.GRPC, q.Problems)
		}
	}
}
