package controlplane

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/meshproof/meshproof/policy"
)

func BenchmarkListener(b *testing.B) {
	l := testListener()
	for i := range 5 {
		in := testInbound(policy.HTTP, mustCompile(b, twoPolicies(policy.L7, true)))
		in.Stat, in.Destination = fmt.Sprint("inbound", i), netip.AddrPortFrom(in.Destination.Addr(), uint16(1000+i))
		l.Inbounds = append(l.Inbounds, in)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.build("version"); err != nil {
			b.Fatal(err)
		}
	}
}
