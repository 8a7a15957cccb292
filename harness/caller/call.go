package caller

import (
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/policy"
)

// Call is one request of one caller, as data.
type Call struct {
	// Dial is the host:port of the virtual mesh.
	Dial string
	// Source and Destination are the addresses that the call plays.
	Source, Destination netip.AddrPort
	// Protocol is the protocol of the inbound.
	Protocol policy.Protocol
	// Credential is the certificate that the caller shows; nil for none.
	Credential *certs.Credential
	// SNI is the server name of the TLS handshake; empty for none.
	SNI string
	// Plaintext turns TLS off.
	Plaintext bool
	// Server is the identity that the caller demands of the inbound. Bundles verify it.
	Server  spiffeid.ID
	Bundles x509bundle.Source

	// Method, Path, Authority and Headers make up an HTTP request. An empty Method,
	// Path or Authority gets the value that [Call.WithDefaults] documents.
	Method, Path, Authority string
	Headers                 []policy.Header
	// GRPC is "Service/Method" for a gRPC call. Method and Path are then unused.
	GRPC string
	// Body is the body of an HTTP request, or the text that a TCP caller sends.
	Body string
}

// WithDefaults returns the call as it goes out. Method and Path are those of
// [requestline.Of], an empty Authority is the destination, and an empty Body on TCP is
// a short greeting.
func (c Call) WithDefaults() Call {
	c.Method, c.Path = requestline.MethodAndTarget(c.Method, c.Path, c.GRPC)
	if c.Authority == "" {
		c.Authority = c.Destination.String()
	}
	if c.Body == "" && c.Protocol.Layer() == policy.L4 {
		c.Body = "meshproof\n"
	}
	return c
}
