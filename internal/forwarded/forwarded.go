// Package forwarded finds the remote address of a request in its header x-forwarded-for, as
// Envoy does where its connection manager trusts the header.
//
// It guarantees that a header which says no address says none here either: Envoy then takes the
// address of the connection. It knows no policy, and it does not know who wrote the header.
package forwarded

import (
	"net/netip"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Header is the name of the header.
const Header = "x-forwarded-for"

// Address returns the address that lies a number of trusted hops away, and false where the
// header says none. One hop is the last entry of the list, two hops are the last but one
// (xff_num_trusted_hops of envoy.extensions.filters.network.http_connection_manager.v3 beside
// use_remote_address). Several lines are one list. Without hops no header is trusted.
func Address(hops int, lines []policy.Header) (netip.Addr, bool) {
	list, ok := Joined(lines, Header)
	if hops == 0 || !ok {
		return netip.Addr{}, false
	}
	for range hops - 1 {
		last := strings.LastIndexByte(list, ',')
		if last < 0 {
			return netip.Addr{}, false
		}
		list = list[:last]
	}
	// An empty entry behind the last comma leaves the comma in the text, so it is no address.
	if last := strings.LastIndexByte(list, ','); last < len(list)-1 {
		list = list[last+1:]
	}
	address, err := netip.ParseAddr(strings.Trim(list, " \t\n\v\f\r"))
	// No rule compares the zone of an address.
	return address.WithZone(""), err == nil
}

// Joined returns the lines of a header whose lines the codec of Envoy joins by commas, and
// false where there is none. An empty line adds nothing, not even a comma.
func Joined(lines []policy.Header, name string) (text string, ok bool) {
	for _, line := range lines {
		if line.Name != name {
			continue
		}
		if text != "" && line.Value != "" {
			text += ","
		}
		text, ok = text+line.Value, true
	}
	return text, ok
}

// Text returns a list whose address is the given one: the entry, and behind it one of each
// proxy that is trusted.
func Text(hops int, address netip.Addr) string {
	return address.String() + strings.Repeat(", "+proxy, max(0, hops-1))
}

// proxy is an address that no block of a private network has (RFC 5737).
const proxy = "192.0.2.1"
