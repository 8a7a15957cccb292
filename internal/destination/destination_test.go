package destination_test

import (
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestAnswer holds what each caller's family says of a question.
func TestAnswer(t *testing.T) {
	t.Parallel()
	at := netip.MustParseAddr("10.9.0.5")
	for _, tt := range []struct {
		kind  policy.MatchKind
		value string
		want  string
	}{
		{policy.Exact, "10.9.0.5", `source address in 0.0.0.0/0`},
		{policy.CIDR, "10.0.0.0/8", `source address in 0.0.0.0/0`},
		{policy.Exact, "::ffff:10.9.0.5", `source address in ::/0`},
		{policy.CIDR, "::/0", `source address in ::/0`},
		{policy.Exact, "10.9.0.6", "never"},
		{policy.CIDR, "2001:db8::/32", "never"},
		{policy.Present, "", "always"},
	} {
		if got := destination.Answer(policy.Match{Kind: tt.kind, Value: tt.value}, at).String(); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.kind, tt.value, got, tt.want)
		}
	}
}

// TestSettle draws programs and requests: a program without questions for the address decides
// each request to the address as the program with them does.
func TestSettle(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		p := draw.Program().Draw(t, "program")
		at := netip.MustParseAddr(rapid.SampledFrom([]string{"10.1.2.3", "10.1.9.9", "11.0.0.1"}).Draw(t, "at"))
		r := draw.Request().Draw(t, "request")
		r.Destination = destination.Reached(at, r.Source)
		settled := destination.Settle(p, at)
		for c := range settled.Conditions() {
			if is, ok := c.(policy.Is); ok && is.Attribute == attribute.DestinationAddress {
				t.Fatalf("%s is left", is)
			}
		}
		if got, want := policy.Decide(settled, r), policy.Decide(p, r); got != want {
			t.Fatalf("%+v, want %+v, of\n%s", got, want, p)
		}
		if same := destination.Settle(p, netip.Addr{}); same.String() != p.String() {
			t.Fatalf("without an address the program became\n%s", same)
		}
	})
}
