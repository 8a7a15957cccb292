package forwarded

import (
	"net/netip"
	"testing"

	"github.com/meshproof/meshproof/policy"
)

// TestAddress has the lists on which readers of the header differ most. TestForwarded in package
// harness holds more of them against Envoy.
func TestAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hops  int
		lines []string
		want  string
	}{
		{0, []string{"203.0.113.7"}, ""},
		{1, nil, ""},
		{1, []string{"198.51.100.1, 203.0.113.7"}, "203.0.113.7"},
		{2, []string{"198.51.100.1, 203.0.113.7"}, "198.51.100.1"},
		{3, []string{"198.51.100.1, 203.0.113.7"}, ""},
		{1, []string{"198.51.100.1", "203.0.113.7"}, "203.0.113.7"},
		{2, []string{"198.51.100.1", "", "203.0.113.7"}, "198.51.100.1"},
		{1, []string{"203.0.113.7,"}, ""},
		{2, []string{"203.0.113.7,"}, "203.0.113.7"},
		{1, []string{"203.0.113.7:80"}, ""},
		{1, []string{"[2001:db8::7]"}, ""},
		{1, []string{"2001:db8::7%1"}, "2001:db8::7"},
		{1, []string{"::ffff:203.0.113.7"}, "::ffff:203.0.113.7"},
	} {
		var lines []policy.Header
		for _, line := range tt.lines {
			lines = append(lines, policy.Header{Name: Header, Value: line}, policy.Header{Name: "x-other", Value: "10.0.0.1"})
		}
		got, ok := Address(tt.hops, lines)
		if ok != (tt.want != "") || ok && got.String() != tt.want {
			t.Errorf("%d hops, %q: %s, %t, want %q", tt.hops, tt.lines, got, ok, tt.want)
		}
	}
	for hops := 1; hops < 4; hops++ {
		own := netip.MustParseAddr("203.0.113.7")
		if got, _ := Address(hops, []policy.Header{{Name: Header, Value: Text(hops, own)}}); got != own {
			t.Errorf("%d hops: %s in %q", hops, got, Text(hops, own))
		}
	}
}
