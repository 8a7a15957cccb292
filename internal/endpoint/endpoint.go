// Package endpoint knows the two parts of an endpoint that policies compare: ports and
// addresses, and the ranges and blocks of them.
//
// It guarantees that each port, range, address and block has one text. It knows no policy.
package endpoint

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Unnamed is the address that a caller plays where a case gives it none. No workload has it.
var Unnamed = netip.AddrFrom4([4]byte{10, 255, 255, 254})

// Callers are the first and the last addresses of the blocks that callers connect from. The
// others mean no address, a group, or everybody (RFC 6890; RFC 5771; RFC 4291, section 2.7).
var Callers = [...][2]netip.Addr{
	{netip.MustParseAddr("0.0.0.1"), netip.MustParseAddr("223.255.255.255")},
	{netip.MustParseAddr("240.0.0.0"), netip.MustParseAddr("255.255.255.254")},
	{netip.MustParseAddr("::1"), netip.MustParseAddr("feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")},
}

// Caller reads the address of a caller.
func Caller(text string) (netip.Addr, error) {
	address, err := Address(text)
	if err != nil {
		return address, err
	}
	for _, block := range Callers {
		if block[0].BitLen() == address.BitLen() && !address.Less(block[0]) && !block[1].Less(address) {
			return address, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("no caller has the address %s: use one like 10.0.0.1", address)
}

// Clause returns " from ADDRESS" for texts about a request, and "" where the caller plays its own
// address, or none.
func Clause(played, own netip.Addr) string {
	text := Played(played, own)
	if text == "" {
		return ""
	}
	return " from " + text
}

// Played returns the text of the address that a caller plays, and "" for its own, or none.
func Played(played, own netip.Addr) string {
	if !played.IsValid() || played == own {
		return ""
	}
	return played.String()
}

// Port reads a port in decimal digits.
func Port(text string) (uint16, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || text != strconv.FormatUint(port, 10) {
		return 0, fmt.Errorf("%q is no port: write a number from 0 to 65535", text)
	}
	return uint16(port), nil
}

// Ports reads a range of ports, such as "8000-8999". Both ends belong to it.
func Ports(text string) (first, last uint16, err error) {
	low, high, _ := strings.Cut(text, "-")
	first, err = Port(low)
	if err == nil {
		last, err = Port(high)
	}
	if err != nil || first > last {
		return 0, 0, fmt.Errorf("%q is no range of ports: write the first and the last one, such as 8000-8999", text)
	}
	return first, last, nil
}

// PortsText returns the text of a range of ports.
func PortsText(first, last uint16) string { return fmt.Sprintf("%d-%d", first, last) }

// Address reads an IPv4 or IPv6 address without a zone.
func Address(text string) (netip.Addr, error) {
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" || address.String() != text {
		return netip.Addr{}, fmt.Errorf("%q is no address in its short form, such as 10.0.0.7 or 2001:db8::7", text)
	}
	return address, nil
}

// Last returns the last address of a block.
func Last(block netip.Prefix) netip.Addr {
	bytes := block.Addr().AsSlice()
	for bit := block.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// Block reads a block of addresses in the notation of CIDR (RFC 4632, section 3.1).
func Block(text string) (netip.Prefix, error) {
	block, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, fmt.Errorf("%q is no block of addresses, such as 10.0.0.0/8 or 2001:db8::/32", text)
	case block.Masked().String() != text:
		return netip.Prefix{}, fmt.Errorf("%q is a block with bits behind its length: write %s", text, block.Masked())
	default:
		return block, nil
	}
}
