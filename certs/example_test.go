package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"

	"github.com/meshproof/meshproof/certs"
)

// A sound SVID passes the verification of go-spiffe. A certificate with two names does not.
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
	twoNames, err := ca.Forge(certs.Template{URIs: []string{
		"spiffe://trust-domain.mesh/ns/default/sa/backend",
		"spiffe://trust-domain.mesh/ns/default/sa/admin",
	}})
	if err != nil {
		log.Fatal(err)
	}

	for _, c := range []*certs.Credential{sound, twoNames} {
		id, _, err := x509svid.ParseAndVerify(c.TLSCertificate().Certificate, x509bundle.NewSet(ca.Bundle()))
		fmt.Println(id, err)
	}
	// Output:
	// spiffe://trust-domain.mesh/ns/default/sa/backend <nil>
	//  x509svid: could not get leaf SPIFFE ID: certificate contains more than one URI SAN
}

// A test CA for a server of your own: the server trusts the CAs of two trust domains and sees the name of its caller.
func ExampleFederation() {
	mesh := spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	partner := spiffeid.RequireTrustDomainFromString("partner.mesh")
	var ca certs.Federation
	trusted, err := ca.BundleSet(mesh, partner)
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	for _, bundle := range trusted.Bundles() {
		for _, root := range bundle.X509Authorities() {
			roots.AddCert(root)
		}
	}
	server, err := ca.Mint(spiffeid.RequireFromPath(mesh, "/ns/shop/sa/backend"))
	if err != nil {
		log.Fatal(err)
	}
	client, err := ca.Mint(spiffeid.RequireFromPath(partner, "/ns/shop/sa/connector"))
	if err != nil {
		log.Fatal(err)
	}

	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello ", r.TLS.PeerCertificates[0].URIs[0])
	}))
	s.TLS = &tls.Config{
		Certificates: []tls.Certificate{server.TLSCertificate()},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    roots,
	}
	s.StartTLS()
	defer s.Close()

	transport := &http.Transport{TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, // a SPIFFE name is no host name; go-spiffe's tlsconfig verifies it
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			certificate := client.TLSCertificate()
			return &certificate, nil
		},
	}}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(s.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))
	// Output: hello spiffe://partner.mesh/ns/shop/sa/connector
}

// A forged certificate is wrong in exactly the way that its template describes.
func ExampleAuthority_Forge() {
	ca, err := certs.NewAuthority(spiffeid.RequireTrustDomainFromString("trust-domain.mesh"))
	if err != nil {
		log.Fatal(err)
	}
	name := []string{"spiffe://trust-domain.mesh/ns/shop/sa/backend"}
	for _, template := range []certs.Template{
		{},
		{URIs: name, CA: true},
		{URIs: []string{"spiffe://trust-domain.mesh/ns/%64efault"}},
		{URIs: []string{"spiffe://partner.mesh/ns/shop/sa/backend"}},
	} {
		c, err := ca.Forge(template)
		if err != nil {
			log.Fatal(err)
		}
		_, _, err = x509svid.ParseAndVerify(c.TLSCertificate().Certificate, x509bundle.NewSet(ca.Bundle()))
		fmt.Println(err)
	}
	// Output:
	// x509svid: could not get leaf SPIFFE ID: certificate contains no URI SAN
	// x509svid: leaf certificate with CA flag set to true
	// x509svid: could not get leaf SPIFFE ID: path segment characters are limited to letters, numbers, dots, dashes, and underscores
	// x509svid: could not get X509 bundle: x509bundle: no X.509 bundle for trust domain "partner.mesh"
}
