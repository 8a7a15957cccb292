package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"testing"
	"time"

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
	for _, pem := range bundles.All() {
		pool.AppendCertsFromPEM(pem)
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
		bundles        *certs.BundleSet
	}{
		"federation":    {f.Mint, f.Mint, federated},
		"intermediates": {meshCA.Mint, partnerCA.Mint, certs.NewBundleSet(meshCA, partnerCA)},
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
