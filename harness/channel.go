package harness

import (
	"crypto/tls"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"

	"github.com/meshproof/meshproof/certs"
)

// The identities of the control channel have a trust domain of their own, which no inbound
// trusts.
var (
	controlDomain  = spiffeid.RequireTrustDomainFromString("control.meshproof")
	controlPlaneID = spiffeid.RequireFromPath(controlDomain, "/control-plane")
	proxyID        = spiffeid.RequireFromPath(controlDomain, "/proxy")
)

// controlChannel has the credentials of the xDS and access log streams. They are minted for
// one harness and are never stored.
type controlChannel struct {
	server, proxy *certs.Credential
	bundles       *certs.BundleSet
}

func newControlChannel() (*controlChannel, error) {
	ca, err := certs.NewAuthority(controlDomain)
	if err != nil {
		return nil, err
	}
	c := &controlChannel{bundles: certs.NewBundleSet(ca)}
	if c.server, err = ca.Mint(controlPlaneID); err != nil {
		return nil, err
	}
	if c.proxy, err = ca.Mint(proxyID); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *controlChannel) serverTLS() *tls.Config {
	return &tls.Config{
		MinVersion:            tls.VersionTLS13,
		Certificates:          []tls.Certificate{c.server.TLSCertificate()},
		ClientAuth:            tls.RequireAnyClientCert,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(c.bundles, tlsconfig.AuthorizeID(proxyID)),
		NextProtos:            []string{"h2"},
	}
}
