package verify

import (
	"net/netip"
	"testing"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// TestUnredirected has ports that a chain for every port is asked on, because policies name them: Istio leaves those of its agent
// and of its tunnel out of the redirection.
func TestUnredirected(t *testing.T) {
	t.Parallel()
	istio := []dump.Node{{ID: "sidecar~10.244.0.12~web-7f.shop~shop.svc.cluster.local"}}
	for _, tt := range []struct {
		port  uint16
		nodes []dump.Node
		told  bool
	}{
		{8080, istio, false}, {22, istio, false}, {15006, istio, false},
		{15020, istio, true}, {15021, istio, true}, {15090, istio, true}, {15008, istio, true},
		{15020, nil, false},
	} {
		in := sidecar.Inbound{Address: netip.AddrPortFrom(netip.IPv4Unspecified(), tt.port), Socket: netip.MustParseAddrPort("0.0.0.0:15006")}
		if got := unredirected(in, tt.nodes); (got != "") != tt.told {
			t.Errorf("port %d, %d nodes: %q", tt.port, len(tt.nodes), got)
		}
	}
}
