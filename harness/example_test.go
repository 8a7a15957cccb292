package harness_test

import (
	"context"
	"fmt"
	"log"
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// One Envoy, one inbound, two callers: Envoy lets one of them in, by the rule "scrape".
func Example() {
	ctx := context.Background()
	h, err := harness.Start(ctx, harness.WithRuntime(harness.Process))
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()

	td := spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	prometheus := spiffeid.RequireFromPath(td, "/ns/observability/sa/prometheus")
	frontend := spiffeid.RequireFromPath(td, "/ns/default/sa/frontend")
	filters, err := xds.Compile(policy.Program{Gates: []policy.Gate{{
		Layer: policy.L7,
		Rules: []policy.Rule{{
			Verdict: policy.Verdict{Effect: policy.Allow, Origin: "scrape"},
			When:    attribute.Identity.Exact(prometheus.String()),
		}},
		Default: policy.Verdict{Effect: policy.Deny, Origin: "default"},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	mesh, err := h.NewMesh(ctx, harness.MeshSpec{
		TrustDomains: []spiffeid.TrustDomain{td},
		Inbounds: []harness.Inbound{{
			Name: "backend/http-port", Identity: spiffeid.RequireFromPath(td, "/ns/default/sa/backend"),
			Address: netip.MustParseAddrPort("10.0.0.7:8080"), Protocol: policy.HTTP, Filters: filters,
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer mesh.Close(ctx)

	ca, err := mesh.Authority(td)
	if err != nil {
		log.Fatal(err)
	}
	for _, id := range []spiffeid.ID{prometheus, frontend} {
		svid, err := ca.Mint(id)
		if err != nil {
			log.Fatal(err)
		}
		batch, err := mesh.Send(ctx, harness.Request{To: "backend/http-port", Credential: svid, Path: "/metrics"})
		if err != nil {
			log.Fatal(err)
		}
		found, err := batch.Evidence[0].Find()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id.Path(), found.Form, found.Verdict, batch.Counters["backend/http-port"])
	}
	// Output:
	// /ns/observability/sa/prometheus served allow by scrape allowed 1, denied 0, shadow_allowed 0, shadow_denied 0
	// /ns/default/sa/frontend refused deny by default allowed 0, denied 1, shadow_allowed 0, shadow_denied 0
}
