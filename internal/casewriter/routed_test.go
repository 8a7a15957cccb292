package casewriter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/casewriter"
)

// TestYAMLReadsSidecars shows what is written for each part of a case with sidecars.
func TestYAMLReadsSidecars(t *testing.T) {
	t.Parallel()
	const want = `case: each part of a case with sidecars
workloads:
  - name: web
  - name: backend
    labels: {app: backend}
    inbounds:
      - {name: main, port: 8080}
      - {name: slow, port: 8081, protocol: grpc, answer: black-hole}
outbounds:
  - type: MeshService
    name: backend
policies:
  - type: MeshTrafficPermission
    name: p
  - type: MeshTimeout
    name: t
requests:
  - {from: web, to: backend/main, want: deny}
  - {from: web, to: "MeshService/backend:80", method: PUT, path: [/x, /y], authority: shop, headers: {a: b}, sends: {headPause: 50ms, bodyPause: 1.5s, keep: 300ms}, answer: {after: 10ms, parts: 3, every: 20ms, end: stop}, want: 504, route: "", backend: [backend/main, backend/slow], by: p, cause: requestTimeout, within: 1s}
  - {from: web, to: "MeshService/backend:81", grpc: a.B/C, sends: {open: true}, answer: never, want: UNAVAILABLE, route: r, backend: backend/slow}
`
	c := casetest.Parse(t, want)
	if diff := cmp.Diff(want, string(casewriter.YAML(c))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkYAML(t, c)
}

// TestYAMLOfRouting has services, routes and timeouts in each order, with policies and without.
func TestYAMLOfRouting(t *testing.T) {
	t.Parallel()
	const (
		head    = "case: x\nworkloads: [{name: w}]\noutbounds: ["
		service = "{type: MeshService, name: s}"
		timeout = "{type: MeshTimeout, name: t}"
		asks    = "requests: [{from: w, to: 'MeshService/s:80', want: 404}]\n"
	)
	for _, text := range []string{
		head + service + "]\n" + asks,
		head + service + ", " + timeout + "]\n" + asks,
		head + timeout + ", " + service + "]\n" + asks,
		head + service + "]\npolicies: []\n" + asks,
		head + service + "]\npolicies: [" + timeout + "]\n" + asks,
		head + timeout + "]\npolicies: [" + service + "]\n" + asks,
	} {
		checkYAML(t, casetest.Parse(t, text))
	}
}
