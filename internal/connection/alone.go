package connection

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/policy"
)

// MustBeAlone tells whether a call must not share a connection. A TCP call
// must not, because there the connection is the request. An HTTP call must not when the
// two sides may disagree about its end: bytes of this request could then become a part
// of the next one.
func MustBeAlone(c caller.Call) bool {
	c = c.WithDefaults()
	if c.Protocol.Layer() == policy.L4 || len(c.Body) > sharedBodyMax || c.Method == "CONNECT" {
		return true
	}
	return !isToken(c.Method) || !isVisible(c.Path) || !isVisible(c.Authority) || slices.ContainsFunc(c.Headers, endsConnection)
}

func isHTTP2(c caller.Call) bool { return c.Protocol == policy.HTTP2 || c.Protocol == policy.GRPC }

// sharedBodyMax is the longest body of a call that shares a connection, in bytes. A
// request of that length and its echo fit into the buffers of any socket.
const sharedBodyMax = 2 << 10

// endsConnection tells whether the header changes the end of a request or the
// connection (RFC 9112, sections 6, 7 and 9; RFC 9110, sections 7.6.1, 7.8 and 10.1.1),
// or whether a reader may take it for more than one line.
func endsConnection(h caller.Header) bool {
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
