package verify

import (
	"net/netip"
	"strings"
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

// TestEnvoyOfCilium reads a node as Cilium's agent writes it, which is no sidecar of a pod.
func TestEnvoyOfCilium(t *testing.T) {
	t.Parallel()
	v := matchedSidecar(t, "", "../../examples/istio/policies", put(istioNode+".id", `"host~127.0.0.1~no-id~localdomain"`))
	got := strings.Join(lines(v.Unverified), "; ")
	if !strings.Contains(got, "the Envoy that Cilium runs on a node") || strings.Contains(got, "--namespace") {
		t.Errorf("it says %q", got)
	}
}
