package classes

import (
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// onConnections lets gates ask for the peer's address where they ask for the remote address and
// no header gives another one: on L4, and on every layer of an inbound that trusts no header.
func onConnections(on Surface, programs []policy.Program) []policy.Program {
	out := slices.Clone(programs)
	for i, p := range programs {
		if !asksForRemote(p) {
			continue
		}
		out[i] = rewrite.Program(p, func(layer policy.Layer, is policy.Is) policy.Condition {
			if is.Attribute == attribute.RemoteAddress && (layer == policy.L4 || on.TrustedHops == 0) {
				is.Attribute = attribute.SourceAddress
			}
			return is
		})
	}
	return out
}

func asksForRemote(p policy.Program) bool {
	for c := range p.Conditions() {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.RemoteAddress {
			return true
		}
	}
	return false
}

// forwardedSpace is the space of the remote address behind x-forwarded-for. A value has the
// lines of the header, with a line break between two.
type forwardedSpace struct {
	addressSpace
	hops int
}

func (s forwardedSpace) read(r *policy.Request) string {
	text, _ := attribute.RemoteAddress.Text(r)
	if address, err := netip.ParseAddr(text); err == nil {
		return forwarded.Text(s.hops, address)
	}
	return ""
}

func (s forwardedSpace) clear(r *policy.Request) {
	headerSpace{header: forwarded.Header}.clear(r)
	r.Remote = netip.Addr{}
}

func (s forwardedSpace) put(r *policy.Request, value string) {
	headerSpace{header: forwarded.Header}.put(r, value+lineEnd)
	r.Remote, _ = forwarded.Address(s.hops, r.Headers)
}

func (s forwardedSpace) key(value string) string {
	var r policy.Request
	if s.put(&r, value); r.Remote.IsValid() {
		return addressKey(r.Remote)
	}
	return ""
}

func (s forwardedSpace) value(key string) string {
	if address, ok := addressOf(key); ok {
		return forwarded.Text(s.hops, address)
	}
	return ""
}

func (s forwardedSpace) sound(value string) error {
	if value == "" {
		return errors.New("an empty header says no address")
	}
	return headerSpace{header: forwarded.Header}.sound(value + lineEnd)
}

// firstKey implements [intervals]: a header can say every address.
func (s forwardedSpace) firstKey(text string) (string, bool) {
	for _, block := range [][2]string{{addressKey(netip.IPv4Unspecified()), addressKey(endpoint.Last(netip.MustParsePrefix("0.0.0.0/0")))}, {addressKey(netip.IPv6Unspecified()), addressKey(endpoint.Last(netip.MustParsePrefix("::/0")))}} {
		if key := max(text, block[0]); key <= block[1] {
			return key, true
		}
	}
	return "", false
}

func (s forwardedSpace) natural() string {
	return forwarded.Text(s.hops, netip.MustParseAddr("203.0.113.7"))
}

// neighbours has what a caller can do with the header, beside other addresses.
func (s forwardedSpace) neighbours(p pattern, witness string) []variant {
	out := aroundInterval(s, p, "address")
	address, ok := addressOf(s.key(witness))
	if !ok {
		return out
	}
	entry := address.String()
	_, behind, _ := strings.Cut(witness, ", ")
	list := func(entry string) string { return strings.TrimSuffix(entry+", "+behind, ", ") }
	out = append(out,
		variant{"198.51.100.9, " + witness, "an entry more in front"},
		variant{witness + ", 198.51.100.9", "an entry more behind it"},
		variant{entry, "the entry alone"},
		variant{behind, "without the entry"},
		variant{list("unknown"), "an entry that is no address"},
		variant{list(entry + ":80"), "the address with a port"},
		variant{list(entry) + ",", "an empty entry behind it"},
		variant{entry + lineEnd + witness, "two lines"},
		variant{witness + lineEnd + entry, "two lines"},
		variant{strings.ReplaceAll(witness, ", ", ","), "no space behind commas"},
	)
	if address.Is4() {
		out = append(out, variant{list(netip.AddrFrom16(address.As16()).String()), "the same address in IPv6"})
	}
	return out
}
