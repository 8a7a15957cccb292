// Package servername knows which server names a caller can send in its TLS handshake.
//
// It guarantees that a name it takes goes out as it is, and that Envoy's log repeats it but
// for its case. It knows no policy.
package servername

import (
	"fmt"
	"net"
	"strings"
)

// max is the length of the longest name in a handshake, in bytes. Envoy refuses a handshake
// with a longer one.
const max = 255

// Check returns why a caller cannot send the name, and nil for a name that it can send. The
// empty name is none: the handshake has no server name then. Go's TLS client sends no
// address (RFC 6066, section 3) and no dot at the end.
func Check(name string) error {
	switch {
	case name == "":
		return nil
	case len(name) > max:
		return fmt.Errorf("a server name of %d bytes fits into no handshake: %d is the limit", len(name), max)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("%q is no server name: write printable ASCII", name)
	case strings.HasSuffix(name, "."):
		return fmt.Errorf("%q ends in a dot, which no caller sends: leave it out", name)
	case IsAddress(name):
		return fmt.Errorf("%q is an address, and a caller of an address sends no server name", name)
	default:
		return nil
	}
}

// IsAddress reports whether the name is an IP address, in brackets or with a zone too.
func IsAddress(name string) bool {
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		name = name[1 : len(name)-1]
	}
	if zone := strings.LastIndex(name, "%"); zone > 0 {
		name = name[:zone]
	}
	return net.ParseIP(name) != nil
}

// Clause returns " with SNI NAME" for texts about a request, and "" for no name.
func Clause(name string) string {
	if name == "" {
		return ""
	}
	return " with SNI " + name
}

// Kept returns the name as Envoy keeps it: in lower case.
func Kept(name string) string { return strings.ToLower(name) }
