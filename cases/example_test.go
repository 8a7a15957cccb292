package cases_test

import (
	"fmt"
	"log"

	"github.com/meshproof/meshproof/cases"
)

// The lists of a request are crossed: two callers and two paths are four requests.
func ExampleParse() {
	all, err := cases.Parse("case.yaml", []byte(`
case: observability may scrape /metrics and nothing else
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080, protocol: http}]}]
policies:
  - type: MeshTrafficPermission
    name: by-mesh-operator
    spec: {default: {allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/observability/}, path: {type: Prefix, value: /metrics}}]}}
requests:
  - {from: spiffe://trust-domain.mesh/ns/observability/sa/prometheus, to: backend/http-port, path: [/metrics, /metrics/x], want: allow}
  - {from: anonymous, to: backend/http-port, path: /metrics, want: handshake-failure}
`))
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range all[0].Requests {
		fmt.Println(q.From.Name, q.Path, q.Want)
	}
	// Output:
	// spiffe://trust-domain.mesh/ns/observability/sa/prometheus /metrics allow
	// spiffe://trust-domain.mesh/ns/observability/sa/prometheus /metrics/x allow
	// anonymous /metrics handshake-failure
}

// A refusal names file, line and field.
func ExampleParse_refused() {
	_, err := cases.Parse("case.yaml", []byte("case: a\nworkloads: [{name: w, inbounds: [{port: 80}]}]\nrequests:\n  - {from: w, to: w/81, want: deny}\n"))
	fmt.Println(err)
	// Output: cases: case.yaml:4: requests[0].to: there is no inbound "w/81": the case has ["w/80"]
}
