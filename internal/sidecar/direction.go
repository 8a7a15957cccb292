package sidecar

import (
	"net/netip"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
)

// outboundNames are prefixes of the names of outbound listeners: of Kuma (by address, and
// by the KRI of a destination) and of Istio. inboundNames are prefixes of the names of
// inbound listeners.
var (
	outboundNames = []string{"outbound:", "outbound|", "kri_msvc_", "kri_mzsvc_", "kri_extsvc_", "virtualOutbound", "_kuma:dns"}
	inboundNames  = []string{"inbound:", "inbound|", "self_inbound_", "self_zoneegress_", "self_zoneingress_", "virtualInbound"}
)

// direction says whether a listener serves inbounds. The reason says why it does not, or
// why the answer is uncertain.
func direction(l *listenerv3.Listener) (inbound bool, reason string) {
	named := func(with []string) bool {
		for _, prefix := range with {
			if strings.HasPrefix(l.Name, prefix) {
				return true
			}
		}
		return false
	}
	switch {
	case l.ApiListener != nil:
		return false, "an API listener: it has no port"
	case l.UdpListenerConfig != nil || l.GetAddress().GetSocketAddress().GetProtocol() == corev3.SocketAddress_UDP:
		return false, "it listens on UDP"
	case l.TrafficDirection == corev3.TrafficDirection_OUTBOUND:
		return false, "traffic_direction is OUTBOUND"
	case l.TrafficDirection == corev3.TrafficDirection_INBOUND || named(inboundNames):
		return true, ""
	case named(outboundNames):
		return false, "its name is that of an outbound listener"
	default:
		return true, "neither traffic_direction nor its name tells its direction: taken for inbound"
	}
}

// address combines the match of a chain with the address of its listener.
func address(l *listenerv3.Listener, match *listenerv3.FilterChainMatch) netip.AddrPort {
	socket := l.GetAddress().GetSocketAddress()
	ip, err := netip.ParseAddr(socket.GetAddress())
	if err != nil {
		return netip.AddrPort{}
	}
	port := socket.GetPortValue()
	switch {
	case match.GetDestinationPort() != nil:
		port = match.DestinationPort.Value
	case l.GetUseOriginalDst().GetValue():
		// Connections of every port are redirected here.
		port = 0
	}
	if ranges := match.GetPrefixRanges(); len(ranges) == 1 {
		to, err := netip.ParseAddr(ranges[0].GetAddressPrefix())
		if err == nil && ranges[0].GetPrefixLen().GetValue() == uint32(to.BitLen()) {
			ip = to
		}
	}
	if port > 65535 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip, uint16(port))
}

// permissive marks each inbound of a listener that serves the same address over a weaker
// transport too.
func permissive(of []Inbound) {
	weakest := map[netip.AddrPort]Transport{}
	for _, in := range of {
		if w, ok := weakest[in.Address]; !ok || in.Transport < w {
			weakest[in.Address] = in.Transport
		}
	}
	for i, in := range of {
		of[i].Permissive = in.Transport != OtherTransport && weakest[in.Address] < in.Transport
	}
}
