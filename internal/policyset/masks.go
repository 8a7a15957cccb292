package policyset

import (
	"net/netip"

	"github.com/meshproof/meshproof/internal/policyset/choice"
)

// block draws a block of addresses whose mask may end at any bit: one in three is of IPv6. A compiler may know masks
// of whole numbers of an address alone.
func (g *generator) block() netip.Prefix {
	any := func() byte { return byte(g.Choose(256)) }
	if g.OneIn(3) {
		ip := netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, any(), any(), any(), any(), any(), any(), any(), any(), any(), any(), any(), any()})
		return netip.PrefixFrom(ip, g.Number(33, 127)).Masked()
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 64, any(), any()}), g.Number(9, 30)).Masked()
}

// exceptions draws up to four blocks within a block, and none for a block that is too small. Each has an eighth of
// it, but for the last eighth: there it has one address.
func (g *generator) exceptions(of netip.Prefix) []string {
	const eighths = 8
	if of.Bits()+3 > of.Addr().BitLen() {
		return nil
	}
	var out []string
	for _, n := range choice.Shuffled(g.Chooser, []int{0, 1, 2, 3, 4, 5, 6, 7})[:g.Number(1, eighths/2)] {
		bytes := of.Addr().AsSlice()
		for i := range 3 {
			if at := of.Bits() + i; n>>(2-i)&1 == 1 {
				bytes[at/8] |= 0x80 >> (at % 8)
			}
		}
		ip, _ := netip.AddrFromSlice(bytes)
		bits := of.Bits() + 3
		if n == eighths-1 {
			bits = ip.BitLen()
		}
		out = append(out, netip.PrefixFrom(ip, bits).String())
	}
	return out
}

// blockWithout draws a block, every other time with exceptions, as Linkerd and Cilium write it.
func (g *generator) blockWithout() object {
	block := g.block()
	out := object{"cidr": block.String()}
	if g.OneIn(2) {
		if except := g.exceptions(block); len(except) > 0 {
			out["except"] = except
		}
	}
	return out
}
