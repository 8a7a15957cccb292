package caller

import (
	"net/netip"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/policy"
)

// Call is one request of one caller. It is data; [Do] sends it.
type Call struct {
	// Dial is the host:port of the virtual mesh.
	Dial string
	// Source and Destination are the addresses that the call plays.
	Source, Destination netip.AddrPort
	// Protocol is that of the inbound.
	Protocol policy.Protocol
	// Credential is what the caller shows; nil for none.
	Credential *certs.Credential
	// Plaintext leaves TLS out altogether.
	Plaintext bool
	// Server is the identity that the caller demands of the inbound, verified
	// against Bundles.
	Server  spiffeid.ID
	Bundles x509bundle.Source

	// Method, Path, Authority and Headers make up an HTTP request. The zero values
	// of the first three are GET, "/" and the destination.
	Method, Path, Authority string
	Headers                 []Header
	// GRPC is "Service/Method" for a gRPC call; Method and Path are then unused.
	GRPC string
	// Body is sent with an HTTP request, and is what a TCP caller says. The zero
	// value of the latter is a short greeting.
	Body string
}

// Header is one header line; order and repetition are kept.
type Header struct{ Name, Value string }

// Verb returns the HTTP method as sent.
func (c Call) Verb() string {
	switch {
	case c.GRPC != "":
		return "POST"
	case c.Method == "":
		return "GET"
	default:
		return c.Method
	}
}

// Target returns the request target as sent.
func (c Call) Target() string {
	switch {
	case c.GRPC != "":
		return "/" + c.GRPC
	case c.Path == "":
		return "/"
	default:
		return c.Path
	}
}

// Host returns the authority as sent.
func (c Call) Host() string {
	if c.Authority == "" {
		return c.Destination.String()
	}
	return c.Authority
}

// Payload returns what a TCP caller says.
func (c Call) Payload() string {
	if c.Body == "" {
		return "meshproof\n"
	}
	return c.Body
}
