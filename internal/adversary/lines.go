package adversary

import (
	"fmt"

	"github.com/meshproof/meshproof/harness/caller"
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
		{Name: "no-host", About: "No Host at all.", Source: oneHost, Head: line + "\r\n"},
		{Name: "empty-host", About: "An empty Host.", Source: oneHost, Head: line + "host:\r\n\r\n"},
		{Name: "version-1.0", About: "An older version of the protocol.", Source: "RFC 1945", Head: fmt.Sprintf("%s %s HTTP/1.0\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "version-2.0", About: "A version that does not use lines.", Source: requestLine, Head: fmt.Sprintf("%s %s HTTP/2.0\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "no-version", About: "A request line of HTTP/0.9.", Source: requestLine, Head: m.method + " " + m.path + "\r\n\r\n"},
		{Name: "two-spaces", About: "Two spaces before the target.", Source: requestLine, Head: fmt.Sprintf("%s  %s HTTP/1.1\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "tab-for-space", About: "A tab before the target.", Source: requestLine, Head: fmt.Sprintf("%s\t%s HTTP/1.1\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "space-in-target", About: "An unprotected target, and the protected one after it.", Source: requestLine, Head: fmt.Sprintf("%s %s %s HTTP/1.1\r\n", m.method, openPath, m.path) + host + "\r\n"},
		{Name: "space-first", About: "A space before the method.", Source: requestLine, Head: " " + line + host + "\r\n"},
		{Name: "empty-line-first", About: "An empty line before the request.", Source: lineEnds, Head: "\r\n" + line + host + "\r\n"},
		{Name: "lf-alone", About: "Lines that end in LF alone.", Source: lineEnds, Head: fmt.Sprintf("%s %s HTTP/1.1\nhost: %s\n\n", m.method, m.path, Authority)},
		{Name: "cr-in-target", About: "A CR and the protected path after an unprotected one.", Source: lineEnds, Head: fmt.Sprintf("%s %s\r%s HTTP/1.1\r\n", m.method, openPath, m.path) + host + "\r\n"},
		{Name: "nul-in-target", About: "A NUL after the protected path.", Source: targetChars, Head: fmt.Sprintf("%s %s\x00 HTTP/1.1\r\n", m.method, m.path) + host + "\r\n"},
		{Name: "folded-line", About: "A header that continues on the next line.", Source: fieldLines, Head: line + host + "x-folded: a\r\n b\r\n\r\n"},
		{Name: "space-before-colon", About: "A space between the name of a header and its colon.", Source: fieldLines, Head: line + host + "x-spaced : a\r\n\r\n"},
		{Name: "nul-in-header", About: "A NUL in a header.", Source: "RFC 9110, section 5.5: no NUL, CR or LF in a value", Head: line + host + "x-nul: a\x00b\r\n\r\n"},
		{Name: "smuggled-by-chunks", About: "The protected request inside the body of an unprotected request with a length and with chunks.", Source: framing, Head: fmt.Sprintf("%scontent-length: %d\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n%s", post, len("0\r\n\r\n")+len(smuggled), smuggled)},
		{Name: "smuggled-by-odd-coding", About: "The protected request inside the body of an unprotected request with a misspelt coding.", Source: framing, Head: fmt.Sprintf("%scontent-length: %d\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n%s", post, len("0\r\n\r\n")+len(smuggled), smuggled)},
		{Name: "smuggled-by-two-lengths", About: "The protected request inside the body of an unprotected request with two lengths.", Source: framing, Head: post + "content-length: 0\r\ncontent-length: " + fmt.Sprint(len(smuggled)) + "\r\n\r\n" + smuggled},
	}
	for i := range list {
		list[i] = overHTTP1(list[i])
	}
	for _, r := range []Request{
		{Name: "two-hosts", About: "Two Hosts that differ.", Source: oneHost, Headers: []caller.Header{{Name: "host", Value: "other.mesh"}}},
		{Name: "host-user", About: "A Host with a user.", Source: oneHost, Authority: "user@" + Authority},
		{Name: "host-path", About: "A Host with the unprotected path in it.", Source: oneHost, Authority: Authority + openPath},
		{Name: "hop-by-hop", About: "Connection names the header with the identity of the caller, which Envoy adds.", Source: "RFC 9110, section 7.6.1: Connection names what is removed", Headers: []caller.Header{{Name: "connection", Value: "x-forwarded-client-cert"}}},
		{Name: "xfcc-by-caller", About: "The caller sends the header with the identity of the caller, which Envoy adds.", Source: xfcc, Headers: []caller.Header{{Name: "x-forwarded-client-cert", Value: "URI=spiffe://trust-domain.mesh/forged"}}},
	} {
		r.Method, r.Path = m.method, m.path
		list = append(list, overHTTP1(r))
	}
	return list
}
