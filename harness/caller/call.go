package caller

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
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
	// Plaintext turns TLS off.
	Plaintext bool
	// Server is the identity that the caller demands of the inbound. Bundles verify it.
	Server  spiffeid.ID
	Bundles x509bundle.Source

	// Method, Path, Authority and Headers make up an HTTP request. An empty Method,
	// Path or Authority gets the value that [Call.WithDefaults] documents.
	Method, Path, Authority string
	Headers                 []Header
	// GRPC is "Service/Method" for a gRPC call. Method and Path are then unused.
	GRPC string
	// Body is the body of an HTTP request, or the text that a TCP caller sends.
	Body string
}

// Header is one header line. Order and repetition are kept.
type Header struct{ Name, Value string }

// WithDefaults returns the call as it goes out. Method and Path are those of
// [policy.RequestLine], an empty Authority is the destination, and an empty Body on TCP is
// a short greeting.
func (c Call) WithDefaults() Call {
	c.Method, c.Path = policy.RequestLine(c.Method, c.Path, c.GRPC)
	if c.Authority == "" {
		c.Authority = c.Destination.String()
	}
	if c.Body == "" && c.Protocol.Layer() == policy.L4 {
		c.Body = "meshproof\n"
	}
	return c
}

// NeedsOwnConnection tells whether the call must not share a connection. A TCP call
// must not, because there the connection is the request. An HTTP call must not when the
// two sides may disagree about its end: bytes of this request could then become a part
// of the next one.
func (c Call) NeedsOwnConnection() bool {
	c = c.WithDefaults()
	if c.Protocol.Layer() == policy.L4 || len(c.Body) > sharedBodyMax || c.Method == "CONNECT" {
		return true
	}
	return !isToken(c.Method) || !isVisible(c.Path) || !isVisible(c.Authority) || slices.ContainsFunc(c.Headers, Header.needsOwnConnection)
}

func (c Call) isHTTP2() bool { return c.Protocol == policy.HTTP2 || c.Protocol == policy.GRPC }

// sharedBodyMax is the longest body of a call that shares a connection, in bytes. A
// request of that length and its echo fit into the buffers of any socket.
const sharedBodyMax = 2 << 10

// needsOwnConnection tells whether the header changes the end of a request or the
// connection (RFC 9112, sections 6, 7 and 9; RFC 9110, sections 7.6.1, 7.8 and 10.1.1),
// or whether a reader may take it for more than one line.
func (h Header) needsOwnConnection() bool {
	if !isToken(h.Name) || strings.ContainsAny(h.Value, "\r\n\x00") {
		return true
	}
	return slices.ContainsFunc(connectionHeaders, func(name string) bool { return strings.EqualFold(name, h.Name) })
}

var connectionHeaders = []string{
	"connection", "content-length", "expect", "http2-settings", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
}

// isToken follows RFC 9110, section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// isVisible tells whether s cannot end a field of the request line.
func isVisible(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '\x7f' })
}
