package suite

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/routingconfig"
)

// A sidecar that lost the routes of its producers is found out by a small case file. The file fails
// for the faulty sidecar and passes for the right one.
func TestCounterexampleOfRoutes(t *testing.T) {
	t.Parallel()
	const whole = `
case: routes of two services
workloads:
  - {name: web, labels: {app: web, team: a}}
  - {name: job}
  - {name: backend, labels: {app: backend, team: b}, inbounds: [{name: main, port: 8080}]}
  - {name: other, labels: {app: other}, inbounds: [{name: main, port: 8080}]}
outbounds:
  - {type: MeshService, name: backend, spec: {selector: {dataplaneTags: {app: backend}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
  - {type: MeshService, name: other, spec: {selector: {dataplaneTags: {app: other}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}
policies:
  - {type: MeshTrafficPermission, name: readers, spec: {default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]}}}
  - {type: MeshHTTPRoute, name: r, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: [
      {matches: [{path: {type: PathPrefix, value: /orders}, method: GET, headers: [{name: x-team, value: a}]}], default: {backendRefs: [{kind: MeshService, name: other}]}},
      {matches: [{path: {type: Exact, value: /health}}], default: {backendRefs: [{kind: MeshService, name: backend}]}}]}]}}
  - {type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 5s}}}]}}
requests:
  - {from: web, to: 'MeshService/backend:80', path: /orders/open/1, headers: {x-team: a, x-more: b}, want: 200, backend: other/main}
  - {from: [web, job], to: 'MeshService/other:80', path: /orders, want: 200, backend: other/main}
`
	right := Runner{Harness: sharedEnvoy.Get(t)}
	faulty := right
	faulty.Sidecar = func(s routingconfig.Sidecar) routingconfig.Sidecar {
		s.Program.Outbounds = slices.Clone(s.Program.Outbounds)
		for i := range s.Program.Outbounds {
			o := &s.Program.Outbounds[i]
			o.Routes = o.Routes[len(o.Routes)-1:]
		}
		return s
	}
	c := casetest.Parse(t, whole)
	if r := right.Case(t.Context(), c); !r.Passed() {
		t.Fatal(r.Failures())
	}
	failed := faulty.Case(t.Context(), c)
	folder := filepath.Join(t.TempDir(), "counterexamples")
	found, err := counterexample.Finder{
		Folder:  folder,
		Run:     faulty.Reading,
		Filters: func(context.Context, cases.Case) string { return "" },
		Again:   func(file string) string { return "meshproof run " + file },
		Looking: func() {},
	}.Find(t.Context(), []counterexample.Suspect{{Case: failed.Case, RoutedRequests: failed.RoutedRequests}})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d counterexamples, %v: %q", len(found), err, failed.Failures())
	}
	text, err := os.ReadFile(found[0].File)
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"MeshTimeout", "/health", "x-more", "job", "team:"} {
		if strings.Contains(string(text), left) {
			t.Errorf("%s is left in\n%s", left, text)
		}
	}
	if lines := strings.Count(string(text), "\n"); lines > 50 {
		t.Errorf("%d lines:\n%s", lines, text)
	}
	again, err := cases.Load(found[0].File)
	if err != nil || len(again) != 1 {
		t.Fatal(err)
	}
	if r := faulty.Case(t.Context(), again[0]); !r.Failed() || r.Fault {
		t.Errorf("the faulty sidecar passes %s:\n%s", r.Failures(), text)
	}
	if r := right.Case(t.Context(), again[0]); !r.Passed() {
		t.Errorf("the right sidecar: %q\n%s", r.Failures(), text)
	}
	var shown strings.Builder
	found[0].WriteText(&shown, false)
	if !strings.Contains(shown.String(), "the route should be") || !strings.Contains(shown.String(), "again: meshproof run "+found[0].File) {
		t.Error(shown.String())
	}
}
