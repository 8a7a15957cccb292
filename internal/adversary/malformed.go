package adversary

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// The rules that the lines of a request break or use.
const (
	requestLine = "RFC 9112, section 3: method, target and version, with one space between them"
	oneHost     = "RFC 9112, section 3.2: exactly one Host"
	lineEnds    = "RFC 9112, section 2.2: a line ends in CR LF; a reader may accept LF alone"
	fieldLines  = "RFC 9112, section 5: no space before the colon, no folded lines"
	framing     = "RFC 9112, section 6.3: Content-Length beside Transfer-Encoding may be an attempt at smuggling"
)

// malformedLines are requests over HTTP/1.1 with unusual or malformed lines.
func (m mutation) malformedLines() []Request {
	host := "host: " + Authority + "\r\n"
	line := fmt.Sprintf("%s %s HTTP/1.1\r\n", m.method, m.path)
	smuggled := line + host + "\r\n"
	post := fmt.Sprintf("POST %s HTTP/1.1\r\n", openPath) + host
	list := []Request{
		{Name: "no-host", Attack: "No Host at all.", Source: oneHost, Head: line + "\r\n"},
		{Name: "empty-host", Attack: "An empty Host.", Source: oneHost, Head: line + "host:\r\n\r\n"},
		{Name: "version-1.0", Attack: "An older version of the protocol.", Source: "RFC 1945", Head: fmt.Sprintf("%s %s HTTP/1.0\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "version-2.0", Attack: "A version that does not use lines.", Source: requestLine, Head: fmt.Sprintf("%s %s HTTP/2.0\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "no-version", Attack: "A request line of HTTP/0.9.", Source: requestLine, Head: m.method + " " + m.path + "\r\n\r\n"},
		{Name: "two-spaces", Attack: "Two spaces before the target.", Source: requestLine, Head: fmt.Sprintf("%s  %s HTTP/1.1\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "tab-for-space", Attack: "A tab before the target.", Source: requestLine, Head: fmt.Sprintf("%s\t%s HTTP/1.1\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "space-in-target", Attack: "An unprotected target, and the protected one after it.", Source: requestLine, Head: fmt.Sprintf("%s %s %s HTTP/1.1\r\n", m.method, openPath, m.path) + host + "\r\n"},
		{Name: "space-first", Attack: "A space before the method.", Source: requestLine, Head: " " + line + host + "\r\n"},
		{Name: "empty-line-first", Attack: "An empty line before the request.", Source: lineEnds, Head: "\r\n" + line + host + "\r\n"},
		{Name: "lf-alone", Attack: "Lines that end in LF alone.", Source: lineEnds, Head: fmt.Sprintf("%s %s HTTP/1.1\nhost: %s\n\n", m.method, m.path, Authority)},
		{Name: "cr-in-target", Attack: "A CR and the protected path after an unprotected one.", Source: lineEnds, Head: fmt.Sprintf("%s %s\r%s HTTP/1.1\r\n", m.method, openPath, m.path) + host + "\r\n"},
		{Name: "nul-in-target", Attack: "A NUL after the protected path.", Source: targetChars, Head: fmt.Sprintf("%s %s\x00 HTTP/1.1\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "folded-line", Attack: "A header that continues on the next line.", Source: fieldLines, Head: line + host + "x-folded: a\r\n b\r\n\r\n"},
		{Name: "space-before-colon", Attack: "A space between the name of a header and its colon.", Source: fieldLines, Head: line + host + "x-spaced : a\r\n\r\n"},
		{Name: "nul-in-header", Attack: "A NUL in a header.", Source: "RFC 9110, section 5.5: no NUL, CR or LF in a value", Head: line + host + "x-nul: a\x00b\r\n\r\n"},
		{Name: "smuggled-by-chunks", Attack: "The protected request inside the body of an unprotected request with a length and with chunks.", Source: framing, Head: fmt.Sprintf("%scontent-length: %d\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n%s", post, len("0\r\n\r\n")+len(smuggled), smuggled)},
		{Name: "smuggled-by-odd-coding", Attack: "The protected request inside the body of an unprotected request with a misspelt coding.", Source: framing, Head: fmt.Sprintf("%scontent-length: %d\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n%s", post, len("0\r\n\r\n")+len(smuggled), smuggled)},
		{Name: "smuggled-by-two-lengths", Attack: "The protected request inside the body of an unprotected request with two lengths.", Source: framing, Head: post + "content-length: 0\r\ncontent-length: " + fmt.Sprint(len(smuggled)) + "\r\n\r\n" + smuggled},
	}
	for i := range list {
		list[i] = overHTTP1(list[i])
	}
	for _, r := range []Request{
		{Name: "two-hosts", Attack: "Two Hosts that differ.", Source: oneHost, Headers: []policy.Header{{Name: "host", Value: "other.mesh"}}},
		{Name: "host-user", Attack: "A Host with a user.", Source: oneHost, Authority: "user@" + Authority},
		{Name: "host-path", Attack: "A Host with the unprotected path in it.", Source: oneHost, Authority: Authority + openPath},
		{Name: "hop-by-hop", Attack: "Connection names the header with the identity of the caller, which Envoy adds.", Source: "RFC 9110, section 7.6.1: Connection names what is removed", Headers: []policy.Header{{Name: "connection", Value: "x-forwarded-client-cert"}}},
		{Name: "xfcc-by-caller", Attack: "The caller sends the header with the identity of the caller, which Envoy adds.", Source: xfcc, Headers: []policy.Header{{Name: "x-forwarded-client-cert", Value: "URI=spiffe://trust-domain.mesh/forged"}}},
	} {
		r.Method, r.Path = m.method, m.path
		list = append(list, overHTTP1(r))
	}
	return list
}

// The rules that the fields of an HTTP/2 request break or use.
const (
	controlData  = "RFC 9113, section 8.3.1: exactly one :method, :scheme and :path"
	pseudoFirst  = "RFC 9113, section 8.3: pseudo-headers come first, each once, and none that is not defined"
	fieldChars   = "RFC 9113, section 8.2.1: names in lower case, no NUL, CR or LF"
	noConnection = "RFC 9113, section 8.2.2: no connection-specific fields"
	hostDiffers  = "RFC 9113, section 8.3.1: :authority and Host must not differ"
)

// removeFields returns the fields without the fields of one name.
func removeFields(fields []policy.Header, name string) []policy.Header {
	return slices.DeleteFunc(slices.Clone(fields), func(f policy.Header) bool { return f.Name == name })
}

// malformedFields are requests over HTTP/2 with an unusual or malformed header block.
func (m mutation) malformedFields() []Request {
	base := pseudoHeaders(m.method, "https", Authority, m.path)
	with := func(more ...policy.Header) []policy.Header { return slices.Concat(base, more) }
	withFirst := func(more ...policy.Header) []policy.Header { return slices.Concat(more, base) }
	path := func(path string) []policy.Header { return pseudoHeaders(m.method, "https", Authority, path) }
	field := func(name, value string) policy.Header { return policy.Header{Name: name, Value: value} }
	list := []Request{
		{Name: "no-path", Attack: "No :path.", Source: controlData, Fields: removeFields(base, ":path")},
		{Name: "empty-path", Attack: "An empty :path.", Source: controlData, Fields: path("")},
		{Name: "asterisk-path", Attack: "The asterisk form with a method that does not have this form.", Source: controlData, Fields: path("*")},
		{Name: "two-paths-protected-first", Attack: "Two :path, the protected one first.", Source: controlData, Fields: with(field(":path", openPath))},
		{Name: "two-paths-protected-last", Attack: "Two :path, the protected one last.", Source: controlData, Fields: withFirst(field(":path", openPath))},
		{Name: "space-in-path", Attack: "An unprotected :path, followed by the rest of a request line of HTTP/1.1.", Source: fieldChars, Fields: path(openPath + " HTTP/1.1")},
		{Name: "crlf-in-path", Attack: "An unprotected :path, a line end and the protected request, for an upstream over HTTP/1.1.", Source: fieldChars, Fields: path(openPath + " HTTP/1.1\r\nhost: x\r\n\r\n" + m.method + " " + m.path)},
		{Name: "nul-in-path", Attack: "A NUL after the protected :path.", Source: fieldChars, Fields: path(m.path + "\x00")},
		{Name: "no-method", Attack: "No :method.", Source: controlData, Fields: removeFields(base, ":method")},
		{Name: "empty-method", Attack: "An empty :method.", Source: controlData, Fields: pseudoHeaders("", "https", Authority, m.path)},
		{Name: "two-methods-protected-first", Attack: "Two :method, the protected one first.", Source: controlData, Fields: with(field(":method", openMethod))},
		{Name: "two-methods-protected-last", Attack: "Two :method, the protected one last.", Source: controlData, Fields: withFirst(field(":method", openMethod))},
		{Name: "line-in-method", Attack: "A :method that is a whole request line for an upstream over HTTP/1.1.", Source: fieldChars, Fields: pseudoHeaders(m.method+" "+m.path+" HTTP/1.1", "https", Authority, openPath)},
		{Name: "space-behind-method", Attack: "A :method with a space at the end.", Source: fieldChars, Fields: pseudoHeaders(m.method+" ", "https", Authority, m.path)},
		{Name: "no-scheme", Attack: "No :scheme.", Source: controlData, Fields: removeFields(base, ":scheme")},
		{Name: "other-scheme-field", Attack: "A :scheme that does not fit the connection.", Source: "RFC 9113, section 8.3.1: :scheme is not restricted to http and https", Fields: pseudoHeaders(m.method, "ftp", Authority, m.path)},
		{Name: "scheme-with-path", Attack: "A :scheme, followed by a host and an unprotected path.", Source: "RFC 3986, section 3.1: the characters of a scheme", Fields: pseudoHeaders(m.method, "https://other.mesh"+openPath+"?", Authority, m.path)},
		{Name: "no-authority", Attack: "No :authority, and no Host.", Source: hostDiffers, Fields: removeFields(base, ":authority")},
		{Name: "host-for-authority", Attack: "A Host instead of :authority.", Source: hostDiffers, Fields: append(removeFields(base, ":authority"), field("host", Authority))},
		{Name: "host-differs", Attack: "A Host that differs from :authority.", Source: hostDiffers, Fields: with(field("host", "other.mesh"))},
		{Name: "two-authorities", Attack: "Two :authority that differ.", Source: pseudoFirst, Fields: with(field(":authority", "other.mesh"))},
		{Name: "authority-user", Attack: "An :authority with a user.", Source: "RFC 9113, section 8.3.1: no user in :authority", Fields: pseudoHeaders(m.method, "https", "user@"+Authority, m.path)},
		{Name: "authority-path", Attack: "An :authority with the unprotected path in it.", Source: hostDiffers, Fields: pseudoHeaders(m.method, "https", Authority+openPath, m.path)},
		{Name: "path-behind-fields", Attack: "The :path after an ordinary field.", Source: pseudoFirst, Fields: append(removeFields(base, ":path"), field("x-first", "1"), field(":path", m.path))},
		{Name: "unknown-pseudo", Attack: "A pseudo-header that is not defined.", Source: pseudoFirst, Fields: with(field(":protected", "1"))},
		{Name: "response-pseudo", Attack: "The pseudo-header of a response.", Source: pseudoFirst, Fields: with(field(":status", "200"))},
		{Name: "pseudo-upper-case", Attack: "A second path as :Path.", Source: fieldChars, Fields: with(field(":Path", openPath))},
		{Name: "upper-case-name", Attack: "A name in upper case.", Source: fieldChars, Fields: with(field("X-Upper", "1"))},
		{Name: "empty-name", Attack: "A field without a name.", Source: fieldChars, Fields: with(field("", "1"))},
		{Name: "crlf-in-value", Attack: "A value with a line end and another header line, for an upstream over HTTP/1.1.", Source: fieldChars, Fields: with(field("x-split", "a\r\nx-smuggled: b"))},
		{Name: "nul-in-value", Attack: "A NUL in a value.", Source: fieldChars, Fields: with(field("x-nul", "a\x00b"))},
		{Name: "connection-field", Attack: "A Connection field, which HTTP/2 forbids.", Source: noConnection, Fields: with(field("connection", "x-forwarded-client-cert"))},
		{Name: "transfer-encoding", Attack: "A Transfer-Encoding field, which HTTP/2 forbids.", Source: noConnection, Fields: with(field("transfer-encoding", "chunked"))},
		{Name: "te-other", Attack: "A TE that is not trailers.", Source: noConnection, Fields: with(field("te", "gzip"))},
		{Name: "connect", Attack: "CONNECT with :authority alone.", Source: "RFC 9113, section 8.5: CONNECT", Fields: []policy.Header{field(":method", "CONNECT"), field(":authority", Authority+":443")}},
		{Name: "connect-with-path", Attack: "CONNECT to the protected path without a :protocol.", Source: "RFC 9113, section 8.5: no :scheme and :path in CONNECT", Fields: pseudoHeaders("CONNECT", "https", Authority, m.path)},
		{Name: "extended-connect", Attack: "CONNECT to the protected path for a WebSocket.", Source: "RFC 8441, section 4: :protocol", Fields: append(pseudoHeaders("CONNECT", "https", Authority, m.path), field(":protocol", "websocket"))},
	}
	for i := range list {
		list[i] = overHTTP2(list[i])
	}
	return list
}
