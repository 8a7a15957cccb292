package requestline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshproof/meshproof/policy"
)

// Seen returns the header lines of a request as a filter sees them: the names in lower case,
// and the values without spaces at the ends. HTTP/2 makes one line of all cookies (RFC 9113,
// section 8.2.3), and a client of gRPC adds lines of its own.
func Seen(lines []policy.Header, over policy.Protocol, ofGRPC bool) []policy.Header {
	var out []policy.Header
	cookie := -1
	for _, h := range lines {
		h = policy.Header{Name: strings.ToLower(h.Name), Value: strings.Trim(h.Value, " \t")}
		switch {
		case h.Name != "cookie" || over == policy.HTTP:
		case cookie < 0:
			cookie = len(out)
		default:
			out[cookie].Value += "; " + h.Value
			continue
		}
		out = append(out, h)
	}
	if ofGRPC {
		out = append(out, policy.Header{Name: "content-type", Value: "application/grpc"}, policy.Header{Name: "user-agent", Value: grpcClient})
	}
	return out
}

// grpcClient is how the client of gRPC calls itself.
const grpcClient = "grpc-go/1.85.0"

// CheckHeader returns why no request can have a header line as it is.
func CheckHeader(h policy.Header) error {
	switch {
	case slices.Contains(framing, strings.ToLower(h.Name)):
		return fmt.Errorf("%s is not a header of the request but of the connection: it cannot be sent as it is", h.Name)
	case h.Name == "" || strings.ContainsAny(h.Name, " :\r\n") || strings.ContainsAny(h.Value, "\r\n"):
		return fmt.Errorf("%q: %q cannot stand in a header line", h.Name, h.Value)
	default:
		return nil
	}
}

// framing are headers that say how a message is framed. The caller frames its messages
// itself: a second such header would leave a call without an end.
var framing = []string{"content-length", "transfer-encoding", "expect", "te", "trailer", "host"}

// CheckAuthority returns why a text is no authority of a request. The empty one stands for the
// address of the inbound.
func CheckAuthority(authority string) error {
	if strings.ContainsAny(authority, " \r\n/@?#") {
		return fmt.Errorf("%q is not a host, with or without a port", authority)
	}
	return nil
}

// IsOneLine reports whether the codec of every Envoy joins the lines of a header by commas, before
// any filter sees them: measured on 1.36.4, 1.38.3, 1.39.3 and 1.40.0, over HTTP/1.1 and HTTP/2.
// The name is in lower case.
func IsOneLine(header string) bool { return slices.Contains(oneLine, header) }

var oneLine = strings.Fields(`accept accept-encoding access-control-request-headers access-control-request-method authorization
	cache-control cdn-loop content-encoding content-type grpc-timeout if-match if-modified-since if-none-match if-range
	if-unmodified-since origin pragma referer user-agent via x-client-trace-id x-forwarded-host x-forwarded-port
	x-request-id`)

// Line is a header line as a text. A value that no terminal prints stands in quotes.
func Line(h policy.Header) string {
	if !utf8.ValidString(h.Value) || strings.ContainsFunc(h.Value, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return h.Name + ": " + strconv.Quote(h.Value)
	}
	return h.Name + ": " + h.Value
}

// Lines are the authority, as the header host, and the header lines, as texts.
func Lines(authority string, lines []policy.Header) []string {
	var out []string
	if authority != "" {
		out = append(out, "host: "+authority)
	}
	for _, h := range lines {
		out = append(out, Line(h))
	}
	return out
}

// HeaderClause names the authority and the header lines in a text about a request.
func HeaderClause(authority string, lines []policy.Header) string {
	if with := Lines(authority, lines); len(with) > 0 {
		return " with " + strings.Join(with, ", ")
	}
	return ""
}
