package harness_test

import (
	"context"
	"fmt"
	"log"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/suite"
)

const scrape = `
case: observability may scrape
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}]}]
policies:
  - {type: MeshTrafficPermission, name: scrape, spec: {default: {allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/observability/}}]}}}
requests:
  - {from: spiffe://trust-domain.mesh/ns/observability/sa/prometheus, to: backend/http-port, want: allow}
  - {from: spiffe://trust-domain.mesh/ns/default/sa/frontend, to: backend/http-port, want: deny}
`

func Example() {
	ctx := context.Background()
	h, err := harness.Start(ctx, harness.WithRuntime(harness.Process))
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	read, err := cases.Parse("scrape.yaml", []byte(scrape))
	if err != nil {
		log.Fatal(err)
	}
	result := suite.Runner{Harness: h}.Case(ctx, read[0])
	for _, q := range result.Requests {
		fmt.Println(q.From.Name, q.Finding.Form, q.Finding.Verdict)
	}
	fmt.Println("passed:", result.Passed())
	// Output:
	// spiffe://trust-domain.mesh/ns/observability/sa/prometheus served allow by kri_mtp_default___scrape_
	// spiffe://trust-domain.mesh/ns/default/sa/frontend refused deny by default
	// passed: true
}
