package sidecar

import (
	"net/netip"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshproof/meshproof/internal/dump"
)

// destinationOf returns the address of IPv4 that callers of a chain connect to; the zero value
// where the sidecar does not say which one it is. A listener for redirected connections, of every
// address, has those to the address of its pod.
func (r *reader) destinationOf(l *listenerv3.Listener, socket *corev3.SocketAddress, match *listenerv3.FilterChainMatch) netip.Addr {
	at, redirected := r.address(l, socket, match).Addr(), r.isRedirected(l)
	_, matched := onlyAddress(match.GetPrefixRanges())
	switch {
	case !at.Is4():
		return netip.Addr{}
	case redirected && at.IsUnspecified():
		return podAddress(r.Nodes)
	case at.IsUnspecified(), redirected && !matched:
		return netip.Addr{}
	default:
		return at
	}
}

// podAddress returns the address of IPv4 that a pod has, as Istio's agent wrote it into the nodes
// of the bootstraps. It is the zero value where a node does not say it, or says another one.
func podAddress(nodes []dump.Node) netip.Addr {
	var out netip.Addr
	for i, node := range nodes {
		switch ip := podAddressOf(node); {
		case i == 0:
			out = ip
		case ip != out:
			return netip.Addr{}
		}
	}
	return out
}

// statesAddress reports whether a node of Istio's sidecar says that its pod has an address, of either family.
func (r *reader) statesAddress(ip netip.Addr) bool { return slices.Contains(r.stated, ip.Unmap()) }

// podAddressOf reads the ID of a node, such as sidecar~10.244.0.12~web-7f.shop~shop.svc.cluster.local
// (ParseServiceNodeWithMetadata in pilot/pkg/model), and the addresses in its metadata, which
// Istio believes more. A pod that has several addresses of IPv4 is reached on any of them.
func podAddressOf(node dump.Node) netip.Addr {
	parts := strings.Split(node.ID, "~")
	if len(parts) != 4 || parts[0] != "sidecar" {
		return netip.Addr{}
	}
	namespace, _, ok := strings.Cut(parts[3], ".svc.")
	ip, err := netip.ParseAddr(parts[1])
	if !ok || !strings.HasSuffix(parts[2], "."+namespace) || err != nil || !ip.Is4() || !ip.IsGlobalUnicast() {
		return netip.Addr{}
	}
	listed, has := node.Metadata[addressesMetadata]
	if !has {
		return ip
	}
	text, _ := listed.(string)
	own := false
	for one := range strings.SplitSeq(text, ",") {
		also, err := netip.ParseAddr(one)
		if err != nil || also.Unmap().Is4() && also != ip {
			return netip.Addr{}
		}
		own = own || also == ip
	}
	if !own {
		return netip.Addr{}
	}
	return ip
}

// addressesMetadata is the name under which Istio's agent writes the addresses of its pod into the metadata of the node.
const addressesMetadata = "INSTANCE_IPS"

// StatedAddresses returns the addresses that the nodes of Istio's sidecars state, in the ID and in the metadata, and the texts in their
// place that are none.
func StatedAddresses(nodes []dump.Node) (out []netip.Addr, illegible []string) {
	for _, node := range nodes {
		parts := strings.Split(node.ID, "~")
		if len(parts) != 4 {
			continue
		}
		stated := []string{parts[1]}
		if listed, has := node.Metadata[addressesMetadata]; has {
			text, _ := listed.(string)
			stated = append(stated, strings.Split(text, ",")...)
		}
		for _, text := range stated {
			ip, err := netip.ParseAddr(text)
			if err != nil {
				illegible = append(illegible, text)
			} else if !slices.Contains(out, ip.Unmap()) {
				out = append(out, ip.Unmap())
			}
		}
	}
	return out, illegible
}
