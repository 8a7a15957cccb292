package verify

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// ipv6Metadata is the name under which the node of a Kuma sidecar says whether its machine has addresses of IPv6.
const ipv6Metadata = "ipv6Enabled"

// opens says how a listener that passes redirected connections on leads past the inbounds of Dataplanes; "" where it gets
// none of their connections. Such a listener, of Kuma's transparent proxy, has those of the addresses and the ports that no
// other listener has, and nobody judges them.
func opens(passing sidecar.Inbound, here []*subject, found sidecar.Sidecar) string {
	for _, s := range here {
		if len(s.addresses) == 0 {
			return "it passes connections on without authorization, and no Dataplane says which address the workload has"
		}
		for _, address := range s.addresses {
			if address.Is4() != passing.Address.Addr().Is4() && !(address.Is4() && lackIPv6(found.Nodes)) {
				return fmt.Sprintf("it passes connections on without authorization, also those to an address of the workload beside %s", address)
			}
		}
	}
	guarded := map[uint16]bool{}
	for _, in := range found.Inbounds {
		for _, s := range here {
			guarded[in.Address.Port()] = guarded[in.Address.Port()] || !in.PassesOn && (s.hasAddress(in.Address.Addr()) || in.Address.Addr().IsUnspecified())
		}
	}
	for _, in := range found.Inbounds {
		for _, to := range in.Leads {
			if !to.Mirror && !guarded[to.Port()] {
				return fmt.Sprintf("it passes connections to port %d on without authorization, past the inbound on port %d, which leads there", to.Port(), in.Address.Port())
			}
		}
	}
	return ""
}

// lackIPv6 reports whether all nodes say that their machine has no address of IPv6.
func lackIPv6(nodes []dump.Node) bool {
	for _, node := range nodes {
		if has, ok := node.Metadata[ipv6Metadata].(bool); !ok || has {
			return false
		}
	}
	return len(nodes) > 0
}
