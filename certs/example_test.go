package certs_test

import (
	"fmt"
	"log"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"

	"github.com/meshproof/meshproof/certs"
)

func Example() {
	td := spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	ca, err := certs.NewAuthority(td)
	if err != nil {
		log.Fatal(err)
	}

	sound, err := ca.Mint(spiffeid.RequireFromPath(td, "/ns/default/sa/backend"))
	if err != nil {
		log.Fatal(err)
	}
	twofold, err := ca.Forge(certs.Template{URIs: []string{
		"spiffe://trust-domain.mesh/ns/default/sa/backend",
		"spiffe://trust-domain.mesh/ns/default/sa/admin",
	}})
	if err != nil {
		log.Fatal(err)
	}

	for _, c := range []*certs.Credential{sound, twofold} {
		id, _, err := x509svid.ParseAndVerify(c.TLSCertificate().Certificate, certs.NewBundleSet(ca))
		fmt.Println(id, err)
	}
	// Output:
	// spiffe://trust-domain.mesh/ns/default/sa/backend <nil>
	//  x509svid: could not get leaf SPIFFE ID: certificate contains more than one URI SAN
}
