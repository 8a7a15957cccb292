package endpoint_test

import (
	"testing"

	"github.com/meshproof/meshproof/internal/endpoint"
)

// TestEachEndpointHasOneText takes one text of each port, range, address and block, and refuses the others.
func TestEachEndpointHasOneText(t *testing.T) {
	t.Parallel()
	readers := map[string]func(string) error{
		"port":    func(s string) error { _, err := endpoint.Port(s); return err },
		"ports":   func(s string) error { _, _, err := endpoint.Ports(s); return err },
		"address": func(s string) error { _, err := endpoint.Address(s); return err },
		"block":   func(s string) error { _, err := endpoint.Block(s); return err },
	}
	for what, texts := range map[string]struct{ taken, refused []string }{
		"port":    {[]string{"0", "80", "65535"}, []string{"", "080", "+80", "-1", "65536", "0x50", "http", " 80"}},
		"ports":   {[]string{"0-65535", "80-80", "8000-8999"}, []string{"", "80", "80-", "-80", "81-80", "1-2-3", "080-90", "8000–8999"}},
		"address": {[]string{"10.0.0.7", "::1", "2001:db8::7", "::ffff:10.0.0.7"}, []string{"", "10.0.0", "10.0.0.07", "2001:DB8::7", "2001:db8:0::7", "fe80::1%eth0", "10.0.0.7/32"}},
		"block":   {[]string{"10.0.0.0/8", "0.0.0.0/0", "::/0", "10.0.0.7/32", "2001:db8::/32", "::ffff:10.0.0.0/104"}, []string{"", "10.0.0.7", "10.1.2.3/8", "10.0.0.0/33", "10.0.0.0/08", "2001:DB8::/32", "10.0.0.0/-1"}},
	} {
		for _, text := range texts.taken {
			if err := readers[what](text); err != nil {
				t.Errorf("%s %q: %v", what, text, err)
			}
		}
		for _, text := range texts.refused {
			if readers[what](text) == nil {
				t.Errorf("%s %q is taken", what, text)
			}
		}
	}
}
