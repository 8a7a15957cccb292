package adversary

import (
	"slices"

	"github.com/meshproof/meshproof/harness/caller"
)

// The rules that the fields of an HTTP/2 request break or use.
const (
	controlData  = "RFC 9113, section 8.3.1: exactly one :method, :scheme and :path"
	pseudoFirst  = "RFC 9113, section 8.3: pseudo-headers come first, each once, and none that is not defined"
	fieldChars   = "RFC 9113, section 8.2.1: names in lower case, no NUL, CR or LF"
	noConnection = "RFC 9113, section 8.2.2: no connection-specific fields"
	hostDiffers  = "RFC 9113, section 8.3.1: :authority and Host must not differ"
)

// removeFields returns the fields without the fields of one name.
func removeFields(fields []caller.Header, name string) []caller.Header {
	return slices.DeleteFunc(slices.Clone(fields), func(f caller.Header) bool { return f.Name == name })
}

// malformedFields are requests over HTTP/2 with an unusual or malformed header block.
func (m mutation) malformedFields() []Request {
	base := pseudoHeaders(m.method, "https", Authority, m.path)
	with := func(more ...caller.Header) []caller.Header { return slices.Concat(base, more) }
	withFirst := func(more ...caller.Header) []caller.Header { return slices.Concat(more, base) }
	path := func(path string) []caller.Header { return pseudoHeaders(m.method, "https", Authority, path) }
	field := func(name, value string) caller.Header { return caller.Header{Name: name, Value: value} }
	list := []Request{
		{Name: "no-path", About: "No :path.", Source: controlData, Fields: removeFields(base, ":path")},
		{Name: "empty-path", About: "An empty :path.", Source: controlData, Fields: path("")},
		{Name: "asterisk-path", About: "The asterisk form with a method that does not have this form.", Source: controlData, Fields: path("*")},
		{Name: "two-paths-protected-first", About: "Two :path, the protected one first.", Source: controlData, Fields: with(field(":path", openPath))},
		{Name: "two-paths-protected-last", About: "Two :path, the protected one last.", Source: controlData, Fields: withFirst(field(":path", openPath))},
		{Name: "space-in-path", About: "An unprotected :path, followed by the rest of a request line of HTTP/1.1.", Source: fieldChars, Fields: path(openPath + " HTTP/1.1")},
		{Name: "crlf-in-path", About: "An unprotected :path, a line end and the protected request, for an upstream over HTTP/1.1.", Source: fieldChars, Fields: path(openPath + " HTTP/1.1\r\nhost: x\r\n\r\n" + m.method + " " + m.path)},
		{Name: "nul-in-path", About: "A NUL after the protected :path.", Source: fieldChars, Fields: path(m.path + "\x00")},
		{Name: "no-method", About: "No :method.", Source: controlData, Fields: removeFields(base, ":method")},
		{Name: "empty-method", About: "An empty :method.", Source: controlData, Fields: pseudoHeaders("", "https", Authority, m.path)},
		{Name: "two-methods-protected-first", About: "Two :method, the protected one first.", Source: controlData, Fields: with(field(":method", openMethod))},
		{Name: "two-methods-protected-last", About: "Two :method, the protected one last.", Source: controlData, Fields: withFirst(field(":method", openMethod))},
		{Name: "line-in-method", About: "A :method that is a whole request line for an upstream over HTTP/1.1.", Source: fieldChars, Fields: pseudoHeaders(m.method+" "+m.path+" HTTP/1.1", "https", Authority, openPath)},
		{Name: "space-behind-method", About: "A :method with a space at the end.", Source: fieldChars, Fields: pseudoHeaders(m.method+" ", "https", Authority, m.path)},
		{Name: "no-scheme", About: "No :scheme.", Source: controlData, Fields: removeFields(base, ":scheme")},
		{Name: "other-scheme-field", About: "A :scheme that does not fit the connection.", Source: "RFC 9113, section 8.3.1: :scheme is not restricted to http and https", Fields: pseudoHeaders(m.method, "ftp", Authority, m.path)},
		{Name: "scheme-with-path", About: "A :scheme, followed by a host and an unprotected path.", Source: "RFC 3986, section 3.1: the characters of a scheme", Fields: pseudoHeaders(m.method, "https://other.mesh"+openPath+"?", Authority, m.path)},
		{Name: "no-authority", About: "No :authority, and no Host.", Source: hostDiffers, Fields: removeFields(base, ":authority")},
		{Name: "host-for-authority", About: "A Host instead of :authority.", Source: hostDiffers, Fields: append(removeFields(base, ":authority"), field("host", Authority))},
		{Name: "host-differs", About: "A Host that differs from :authority.", Source: hostDiffers, Fields: with(field("host", "other.mesh"))},
		{Name: "two-authorities", About: "Two :authority that differ.", Source: pseudoFirst, Fields: with(field(":authority", "other.mesh"))},
		{Name: "authority-user", About: "An :authority with a user.", Source: "RFC 9113, section 8.3.1: no user in :authority", Fields: pseudoHeaders(m.method, "https", "user@"+Authority, m.path)},
		{Name: "authority-path", About: "An :authority with the unprotected path in it.", Source: hostDiffers, Fields: pseudoHeaders(m.method, "https", Authority+openPath, m.path)},
		{Name: "path-behind-fields", About: "The :path after an ordinary field.", Source: pseudoFirst, Fields: append(removeFields(base, ":path"), field("x-first", "1"), field(":path", m.path))},
		{Name: "unknown-pseudo", About: "A pseudo-header that is not defined.", Source: pseudoFirst, Fields: with(field(":protected", "1"))},
		{Name: "response-pseudo", About: "The pseudo-header of a response.", Source: pseudoFirst, Fields: with(field(":status", "200"))},
		{Name: "pseudo-upper-case", About: "A second path as :Path.", Source: fieldChars, Fields: with(field(":Path", openPath))},
		{Name: "upper-case-name", About: "A name in upper case.", Source: fieldChars, Fields: with(field("X-Upper", "1"))},
		{Name: "empty-name", About: "A field without a name.", Source: fieldChars, Fields: with(field("", "1"))},
		{Name: "crlf-in-value", About: "A value with a line end and another header line, for an upstream over HTTP/1.1.", Source: fieldChars, Fields: with(field("x-split", "a\r\nx-smuggled: b"))},
		{Name: "nul-in-value", About: "A NUL in a value.", Source: fieldChars, Fields: with(field("x-nul", "a\x00b"))},
		{Name: "connection-field", About: "A Connection field, which HTTP/2 forbids.", Source: noConnection, Fields: with(field("connection", "x-forwarded-client-cert"))},
		{Name: "transfer-encoding", About: "A Transfer-Encoding field, which HTTP/2 forbids.", Source: noConnection, Fields: with(field("transfer-encoding", "chunked"))},
		{Name: "te-other", About: "A TE that is not trailers.", Source: noConnection, Fields: with(field("te", "gzip"))},
		{Name: "connect", About: "CONNECT with :authority alone.", Source: "RFC 9113, section 8.5: CONNECT", Fields: []caller.Header{field(":method", "CONNECT"), field(":authority", Authority+":443")}},
		{Name: "connect-with-path", About: "CONNECT to the protected path without a :protocol.", Source: "RFC 9113, section 8.5: no :scheme and :path in CONNECT", Fields: pseudoHeaders("CONNECT", "https", Authority, m.path)},
		{Name: "extended-connect", About: "CONNECT to the protected path for a WebSocket.", Source: "RFC 8441, section 4: :protocol", Fields: append(pseudoHeaders("CONNECT", "https", Authority, m.path), field(":protocol", "websocket"))},
	}
	for i := range list {
		list[i] = overHTTP2(list[i])
	}
	return list
}
