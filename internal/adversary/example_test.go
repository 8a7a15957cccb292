package adversary_test

import (
	"fmt"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/adversary"
)

// A certificate of the sibling trust domain that also names the victim.
func ExampleIdentities() {
	victim := spiffeid.RequireFromString("spiffe://trust-domain.mesh/ns/default/sa/billing")
	federation := new(certs.Federation)
	for _, id := range adversary.Identities(victim) {
		if id.Name != "sibling-then-victim" {
			continue
		}
		ca, err := federation.Authority(id.SignedBy)
		if err != nil {
			fmt.Println(err)
			return
		}
		credential, err := ca.Forge(id.Template)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(id.Attack)
		fmt.Println(credential.URIs())
	}
	// Output:
	// A name of the sibling trust domain and then the victim's, both signed by the sibling.
	// [spiffe://trust-domain.mesh.evil/attacker spiffe://trust-domain.mesh/ns/default/sa/billing]
}

// Each spelling of a path exists for both protocols.
func ExampleRequests() {
	for _, r := range adversary.Requests("GET", "/admin")[:4] {
		fmt.Println(r.Name, r.Protocol, r.Method, r.Path)
	}
	// Output:
	// trailing-slash http GET /admin/
	// h2-trailing-slash http2 GET /admin/
	// double-slash http GET //admin
	// h2-double-slash http2 GET //admin
}
