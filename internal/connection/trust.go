package connection

import (
	"crypto/x509"
	"strings"
	"sync"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"

	"github.com/meshproof/meshproof/harness/caller"
)

// Trust is bundles that remember which certificates they have verified, and for which server. Each connection
// to an inbound shows the same certificate. So a signature is checked once and not for each connection: that is
// a quarter of the handshake. Bundles and certificates must hold for as long as the Trust lives. It is safe for
// concurrent use.
type Trust struct {
	x509bundle.Source
	verified sync.Map
}

// verifier returns the function that verifies the certificates of the server of a call.
func verifier(c caller.Call) func(raw [][]byte, _ [][]*x509.Certificate) error {
	verify := tlsconfig.VerifyPeerCertificate(c.Bundles, tlsconfig.AuthorizeID(c.Server))
	trust, ok := c.Bundles.(*Trust)
	if !ok {
		return verify
	}
	return func(raw [][]byte, chains [][]*x509.Certificate) error {
		// A certificate says how long it is, so that two lists never make one text.
		var key strings.Builder
		for _, certificate := range raw {
			key.Write(certificate)
		}
		key.WriteString(c.Server.String())
		if _, known := trust.verified.Load(key.String()); known {
			return nil
		}
		err := verify(raw, chains)
		if err == nil {
			trust.verified.Store(key.String(), nil)
		}
		return err
	}
}
