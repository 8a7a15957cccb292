package caller

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Alone tells whether the call needs a connection to itself. It does on tcp, where
// the connection is the request, and wherever the other side may take another view of
// where the request ends: what it took for a part of this request would be missing
// from the next one, or the other way round.
func (c Call) Alone() bool {
	if c.Protocol.Layer() == policy.L4 || len(c.Body) > aloneBody || c.Verb() == "CONNECT" {
		return true
	}
	return !isToken(c.Verb()) || !isVisible(c.Target()) || !isVisible(c.Host()) || slices.ContainsFunc(c.Headers, Header.alone)
}

// aloneBody is the longest body of a call that shares a connection, in bytes. A
// request and its echo of that length fit into any socket's buffers.
const aloneBody = 2 << 10

// alone tells of a header that says where a request ends or what becomes of the
// connection (RFC 9112, sections 6, 7 and 9; RFC 9110, sections 7.6.1, 7.8 and
// 10.1.1), or that a reader may take for more than one line.
func (h Header) alone() bool {
	if !isToken(h.Name) || strings.ContainsAny(h.Value, "\r\n\x00") {
		return true
	}
	return slices.ContainsFunc(aloneHeaders, func(name string) bool { return strings.EqualFold(name, h.Name) })
}

var aloneHeaders = []string{
	"connection", "content-length", "expect", "http2-settings", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
}

// isToken follows RFC 9110, section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// isVisible tells of what cannot end a field of the request line.
func isVisible(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '\x7f' })
}
