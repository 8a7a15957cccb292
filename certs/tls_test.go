package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"

	"github.com/meshproof/meshproof/certs"
)

func TestKindsOverTLS(t *testing.T) {
	t.Parallel()
	table, bundles := kinds(t)
	server := mint(t, newAuthority(t, mesh), backend)
	svid, err := x509svid.Parse(server.ChainPEM(), server.KeyPEM())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	for _, bundle := range bundles.Bundles() {
		for _, root := range bundle.X509Authorities() {
			pool.AddCert(root)
		}
	}
	perDomain := tlsconfig.MTLSServerConfig(svid, bundles, tlsconfig.AuthorizeAny())
	pooled := &tls.Config{
		Certificates: []tls.Certificate{server.TLSCertificate()},
		ClientAuth:   tls.RequireAndVerifyClientCert,
		ClientCAs:    pool,
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, k := range table {
			t.Run(tls.VersionName(version)+"/"+k.name, func(t *testing.T) {
				t.Parallel()
				client := k.cred.TLSCertificate()
				checkRefusal(t, serve(t, perDomain, &client, version), k.spiffe)
				checkRefusal(t, serve(t, pooled, &client, version), k.pooled)
			})
		}
	}
	t.Run("no certificate", func(t *testing.T) {
		t.Parallel()
		checkRefusal(t, serve(t, perDomain, &tls.Certificate{}, tls.VersionTLS13), "client didn't provide a certificate")
	})
}

// serve runs a handshake between a client with the given certificate and a server, and returns the server's error. It
// fails the test when client and server disagree about the result.
func serve(t *testing.T, config *tls.Config, client *tls.Certificate, version uint16) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	clientEnd, serverEnd := connect(t)
	defer clientEnd.Close()

	verdict := make(chan error, 1)
	go func() {
		defer serverEnd.Close()
		conn := tls.Server(serverEnd, config)
		err := conn.HandshakeContext(ctx)
		if err == nil {
			_, err = conn.Write([]byte("welcome"))
		}
		verdict <- err
	}()

	conn := tls.Client(clientEnd, &tls.Config{
		MinVersion:           version,
		MaxVersion:           version,
		InsecureSkipVerify:   true, // this test does not check the server's identity
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return client, nil },
	})
	clientErr := conn.HandshakeContext(ctx)
	var answer []byte
	if clientErr == nil {
		answer, clientErr = io.ReadAll(conn) // in TLS 1.3 the client learns of a refusal on its first read
		if clientErr == io.ErrUnexpectedEOF {
			clientErr = nil // the server closes without close_notify
		}
	}
	clientEnd.Close()
	serverErr := <-verdict
	if welcome := clientErr == nil && string(answer) == "welcome"; welcome != (serverErr == nil) {
		t.Errorf("the client read %q and error %v, the server's error is %v", answer, clientErr, serverErr)
	}
	return serverErr
}

// connect returns the two ends of a loopback connection. A net.Pipe has no buffer: a server that sends its alert while
// the client still writes its certificate would wait for ever.
func connect(t *testing.T) (client, server net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	// The kernel completes the connection from the backlog, so the dial does not wait for Accept.
	client, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = listener.Accept()
	if err != nil {
		client.Close()
		t.Fatal(err)
	}
	return client, server
}

func TestHandshakeAcrossTrustDomains(t *testing.T) {
	t.Parallel()
	var f certs.Federation
	federated, err := f.BundleSet(mesh, partner)
	if err != nil {
		t.Fatal(err)
	}
	meshCA, partnerCA := newAuthorityWithIntermediate(t, mesh), newAuthorityWithIntermediate(t, partner)
	for name, tc := range map[string]struct {
		server, client func(spiffeid.ID) (*certs.Credential, error)
		bundles        *x509bundle.Set
	}{
		"federation":    {f.Mint, f.Mint, federated},
		"intermediates": {meshCA.Mint, partnerCA.Mint, x509bundle.NewSet(meshCA.Bundle(), partnerCA.Bundle())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svid := func(mint func(spiffeid.ID) (*certs.Credential, error), id spiffeid.ID) *x509svid.SVID {
				c, err := mint(id)
				if err != nil {
					t.Fatal(err)
				}
				svid, err := x509svid.Parse(c.ChainPEM(), c.KeyPEM())
				if err != nil {
					t.Fatal(err)
				}
				return svid
			}
			clientEnd, serverEnd := connect(t)
			defer clientEnd.Close()
			defer serverEnd.Close()
			server := tls.Server(serverEnd, tlsconfig.MTLSServerConfig(svid(tc.server, backend), tc.bundles, tlsconfig.AuthorizeID(connector)))
			client := tls.Client(clientEnd, tlsconfig.MTLSClientConfig(svid(tc.client, connector), tc.bundles, tlsconfig.AuthorizeID(backend)))
			verdict := make(chan error, 1)
			go func() {
				err := server.HandshakeContext(t.Context())
				serverEnd.Close()
				verdict <- err
			}()
			clientErr := client.HandshakeContext(t.Context())
			_, _ = io.Copy(io.Discard, client)
			if serverErr := <-verdict; clientErr != nil || serverErr != nil {
				t.Errorf("client: %v, server: %v", clientErr, serverErr)
			}
		})
	}
}

func TestKindsAgainstGoSPIFFE(t *testing.T) {
	t.Parallel()
	table, bundles := kinds(t)
	for _, k := range table {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			id, _, err := x509svid.ParseAndVerify(k.cred.TLSCertificate().Certificate, bundles)
			checkRefusal(t, err, k.spiffe)
			if err == nil && k.name != "upper case scheme" && id.String() != k.cred.URIs()[0] {
				t.Errorf("verified as %q, want %q", id, k.cred.URIs()[0])
			}
		})
	}
}

// checkRefusal wants no error when want is empty, and otherwise an error that contains want.
func checkRefusal(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted, want a refusal with %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("refused with %q, want %q", err, want)
	}
}

func TestMintedSVIDThroughPEM(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		new   func(testing.TB, spiffeid.TrustDomain) *certs.Authority
		chain int
	}{
		"root":         {newAuthority, 1},
		"intermediate": {newAuthorityWithIntermediate, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := tc.new(t, mesh)
			c := mint(t, a, backend)
			// Parse makes checks that Verify does not make: key usages, CA flags of the chain, matching key.
			svid, err := x509svid.Parse(c.ChainPEM(), c.KeyPEM())
			if err != nil {
				t.Fatal(err)
			}
			if svid.ID != backend {
				t.Errorf("ID %q, want %q", svid.ID, backend)
			}
			if len(svid.Certificates) != tc.chain {
				t.Errorf("%d certificates in the chain, want %d", len(svid.Certificates), tc.chain)
			}
			if _, chains, err := x509svid.Verify(svid.Certificates, a.Bundle()); err != nil || len(chains) != 1 {
				t.Errorf("Verify: %d chains, error %v; want one chain", len(chains), err)
			}
			if roots := a.Bundle().X509Authorities(); len(roots) != 1 || roots[0].CheckSignatureFrom(roots[0]) != nil {
				t.Errorf("the bundle holds %d certificates, want one self-signed root", len(roots))
			}
			if !svid.Certificates[0].Equal(c.TLSCertificate().Leaf) {
				t.Error("the chain and TLSCertificate have different leaves")
			}
		})
	}
}

// TestShapeOfCertificates compares the fields of root, intermediate and leaf with X509-SVID, section 4, and appendix A.
func TestShapeOfCertificates(t *testing.T) {
	t.Parallel()
	type shape struct {
		Subject  bool
		URI      string
		Critical bool
		CA       bool
		PathLen  int
		KeyUsage x509.KeyUsage
		ExtUsage []x509.ExtKeyUsage
	}
	shapeOf := func(cert *x509.Certificate) shape {
		s := shape{
			Subject: len(cert.Subject.Names) > 0, CA: cert.IsCA, PathLen: cert.MaxPathLen,
			KeyUsage: cert.KeyUsage, ExtUsage: cert.ExtKeyUsage,
		}
		if len(cert.URIs) == 1 {
			s.URI = cert.URIs[0].String()
		}
		for _, e := range cert.Extensions {
			if e.Id.String() == "2.5.29.17" {
				s.Critical = e.Critical
			}
		}
		return s
	}
	a := newAuthorityWithIntermediate(t, mesh)
	c := mint(t, a, backend)
	intermediate, err := x509.ParseCertificate(c.TLSCertificate().Certificate[1])
	if err != nil {
		t.Fatal(err)
	}
	const caUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	got := []shape{shapeOf(a.Bundle().X509Authorities()[0]), shapeOf(intermediate), shapeOf(c.TLSCertificate().Leaf)}
	want := []shape{
		{Subject: true, URI: "spiffe://trust-domain.mesh", CA: true, PathLen: 1, KeyUsage: caUsage},
		{Subject: true, URI: "spiffe://trust-domain.mesh", CA: true, PathLen: 0, KeyUsage: caUsage},
		{
			URI: backend.String(), Critical: true, PathLen: -1,
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageKeyAgreement,
			ExtUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("root, intermediate, leaf (-want +got):\n%s", diff)
	}
	for _, validity := range []certs.Validity{certs.Sound, certs.Expired, certs.NotYetValid} {
		leaf := forge(t, a, certs.Template{Validity: validity}).TLSCertificate().Leaf
		if leaf.NotBefore.Before(intermediate.NotBefore) || leaf.NotAfter.After(intermediate.NotAfter) {
			t.Errorf("validity %d: the leaf's period is not inside its CA's", validity)
		}
	}
}
