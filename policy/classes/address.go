package classes

import (
	"fmt"
	"net/netip"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The remote address is a dimension of its own where an inbound trusts a header that says who
// the caller is. Elsewhere it is the peer's address, see [onConnections]. Where the surface has the
// destination address, a program asks for the family of the caller's address instead.
var (
	_ = add(addressRow(attribute.SourceAddress, 11, func(Surface) space { return addressSpace{plainSpace{attribute.SourceAddress}, "source address"} }))
	_ = add(addressRow(attribute.RemoteAddress, 12, func(on Surface) space {
		return forwardedSpace{addressSpace{plainSpace{attribute.RemoteAddress}, "remote address"}, on.TrustedHops}
	}))
	_ = add(addressRow(attribute.DestinationAddress, 13, func(Surface) space {
		return destinationSpace{addressSpace{plainSpace{attribute.DestinationAddress}, "destination address"}}
	}))
)

func addressRow(a *policy.Attribute, rank int, in func(Surface) space) row {
	return row{
		attribute: a,
		rank:      rank,
		space:     in,
		pattern: func(m policy.Match) pattern {
			block, err := endpoint.Block(m.Value)
			if m.Kind == policy.Exact {
				var address netip.Addr
				address, err = endpoint.Address(m.Value)
				block = netip.PrefixFrom(address, address.BitLen())
			}
			if err != nil {
				// It holds for no address.
				return interval("\x01", "\x00")
			}
			return interval(addressKey(block.Addr()), addressKey(endpoint.Last(block)))
		},
	}
}

// addressSpace is the space of addresses. A key is a mark of the family, and the 16 bytes of
// an address of IPv6: those of IPv4 stand behind 12 bytes of zero.
type addressSpace struct {
	plainSpace
	label string
}

const (
	markIPv4 = 4
	markIPv6 = 6
	keyBytes = 17
)

func addressKey(address netip.Addr) string {
	key := make([]byte, keyBytes)
	if address.Is4() {
		key[0] = markIPv4
		bytes := address.As4()
		copy(key[keyBytes-len(bytes):], bytes[:])
	} else {
		key[0] = markIPv6
		bytes := address.As16()
		copy(key[1:], bytes[:])
	}
	return string(key)
}

// addressOf returns the address of a key, and false where none has it.
func addressOf(key string) (netip.Addr, bool) {
	if len(key) != keyBytes {
		return netip.Addr{}, false
	}
	if key[0] == markIPv4 {
		address, _ := netip.AddrFromSlice([]byte(key[keyBytes-4:]))
		return address, addressKey(address) == key
	}
	address, _ := netip.AddrFromSlice([]byte(key[1:]))
	return address, key[0] == markIPv6
}

func (s addressSpace) name() string   { return s.label }
func (addressSpace) alphabet() string { return "" }

func (addressSpace) clear(r *policy.Request) { r.Source = netip.Addr{} }

func (s addressSpace) put(r *policy.Request, value string) {
	s.clear(r)
	if address, err := endpoint.Address(value); err == nil {
		r.Source = address
	}
}

func (addressSpace) key(value string) string {
	address, err := endpoint.Address(value)
	if err != nil {
		return ""
	}
	return addressKey(address)
}

func (addressSpace) value(key string) string {
	if address, ok := addressOf(key); ok {
		return address.String()
	}
	return ""
}

func (addressSpace) sound(value string) error {
	_, err := endpoint.Caller(value)
	return err
}

func (addressSpace) firstKey(text string) (string, bool) {
	for _, block := range endpoint.Callers {
		if key := max(text, addressKey(block[0])); key <= addressKey(block[1]) {
			return key, true
		}
	}
	return "", false
}

func (addressSpace) natural() string { return endpoint.Unnamed.String() }

func (addressSpace) complete(string, int) []string { return nil }

// neighbours has the address of IPv4 in the notation of IPv6 too, which is another address.
func (s addressSpace) neighbours(p pattern, witness string) []variant {
	out := aroundInterval(s, p, "address")
	if address, err := netip.ParseAddr(witness); err == nil && address.Is4() {
		out = append(out, variant{netip.AddrFrom16(address.As16()).String(), "the same address in IPv6"})
	}
	return out
}

func (s addressSpace) describe(p pattern) string {
	first, _ := addressOf(p.text)
	if p.text == p.last {
		return s.name() + " " + first.String()
	}
	bits := first.BitLen()
	for ; bits > 0; bits-- {
		if block, err := first.Prefix(bits); err == nil && addressKey(endpoint.Last(block)) == p.last {
			break
		}
	}
	return fmt.Sprintf("%s %s/%d", s.name(), first, bits)
}
