package policy

import (
	"net/netip"
	"strings"
)

// Request is what a program may look at. It describes a caller, and on L7 the request
// as the filters see it: after the listener has normalized the path.
type Request struct {
	// URIs are the URI SANs of the peer's certificate in certificate order. There are
	// none for a caller that showed no certificate.
	URIs []string
	// DNS are the DNS SANs of the peer's certificate in certificate order.
	DNS []string
	// SNI is the server name of the TLS handshake in lower case, as Envoy keeps it. It is
	// empty for a caller that sent none.
	SNI string
	// Destination is the address that the caller connects to, as the listener restores it. It is
	// not valid where it is not known.
	Destination netip.Addr
	// Source is the address of the caller that connects: the peer. It is not valid where it is
	// not known.
	Source netip.Addr
	// Remote is the address of the caller in a header that the listener trusts, such as
	// x-forwarded-for. It is not valid where none says so: then it is Source. A gate on L4 knows
	// no header, and takes Source.
	Remote netip.Addr
	// Method is the HTTP method, case sensitive; empty on L4.
	Method string
	// Path is the normalized path with its query; empty on L4.
	Path string
	// Host is the authority as the caller sends it, with a port where it has one; empty on L4.
	Host string
	// Headers are the lines of the other headers in the order of sending. The names are in
	// lower case. There are none on L4.
	Headers []Header
	// Port is the port that the caller connects to, as the listener restores it; 0 where it is
	// not known.
	Port uint16
	// JoinsLines is true where the Envoy that judges compares all lines of a header as one
	// text, joined by commas, see CVE-2026-26308. Others compare each line by itself.
	JoinsLines bool
	// RoutesJoinLines is JoinsLines for the matches by which a route is told: Envoy has a runtime
	// guard of its own for these.
	RoutesJoinLines bool
	// UTF8 is true where the Envoy that judges reads regular expressions as UTF-8: then none
	// matches a byte that is no UTF-8, see CVE-2026-73552. Others read them as Latin-1. Values
	// of ASCII match alike in both.
	UTF8 bool
	// Others has the values of attributes that have no field here, by the name of the
	// attribute. The map is never changed: a request with another value gets a map of
	// its own.
	Others map[string][]string
}

// Header is one header line of a request. Where there are several, their order and
// repetitions are kept.
type Header struct{ Name, Value string }

// Identity returns the peer as Envoy's UriSanInput presents it to a matcher: all URI
// SANs joined by commas, and the empty string for a TLS caller without any. An exact
// match therefore never meets a certificate with two URI SANs, and a prefix sees the
// first one only.
func (r *Request) Identity() string { return strings.Join(r.URIs, ",") }

// PathOnly returns the path without its query.
func (r *Request) PathOnly() string {
	path, _, _ := strings.Cut(r.Path, "?")
	return path
}
