package controlplane

import (
	"fmt"
	"net/netip"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	proxyprotocolv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/proxy_protocol/v3"
	tlsinspectorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	directv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/direct_response/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/messages"
)

// Listener is one virtual mesh: any number of inbounds behind one port. Callers
// say in a PROXY protocol v2 header which source and destination they play, and
// the filter chains match on that destination.
//
// It stays small on purpose: changing one chain of a listener makes Envoy parse
// the whole listener again.
type Listener struct {
	Name     string
	Bind     netip.AddrPort
	Inbounds []Inbound
	// Outbounds are those of all sidecars of the mesh.
	Outbounds []Outbound
	// Validation is the name of the secret with the trust bundles.
	Validation string
	// Dial is where this process reaches the port; the canary is read through it.
	Dial string
	// other are chains that are no inbounds.
	other []*listenerv3.FilterChain
}

// canaryDestination is the destination of the canary chain. It lies in the
// reserved class E block, so that no workload can have it.
var canaryDestination = netip.MustParseAddrPort("240.0.0.1:1")

func (l Listener) build(version string) (*listenerv3.Listener, error) {
	out := &listenerv3.Listener{
		Name:       l.Name,
		StatPrefix: l.Name,
		Address:    socketAddress(l.Bind.Addr().String(), uint32(l.Bind.Port())),
		AccessLog:  []*accesslogv3.AccessLog{connectionLog()},
		ListenerFilters: []*listenerv3.ListenerFilter{
			listenerFilter("envoy.filters.listener.proxy_protocol", &proxyprotocolv3.ProxyProtocol{}),
		},
	}
	if err := l.check(); err != nil {
		return nil, err
	}
	for _, inbound := range l.Inbounds {
		if (inbound.MTLS.TakesPlaintext() || inbound.AsksForSNI) && len(out.ListenerFilters) == 1 {
			out.ListenerFilters = append(out.ListenerFilters,
				listenerFilter("envoy.filters.listener.tls_inspector", &tlsinspectorv3.TlsInspector{}))
		}
		chains, err := inbound.chains(l.Validation)
		if err != nil {
			return nil, fmt.Errorf("xds: listener %s: inbound %s: %w", l.Name, inbound.Stat, err)
		}
		out.FilterChains = append(out.FilterChains, chains...)
	}
	for _, outbound := range l.Outbounds {
		chain, err := outbound.chain()
		if err != nil {
			return nil, fmt.Errorf("xds: listener %s: outbound %s: %w", l.Name, outbound.Config.Name, err)
		}
		out.FilterChains = append(out.FilterChains, chain)
	}
	out.FilterChains = append(append(out.FilterChains, l.other...), canaryChain(version))
	if err := messages.Validate(out); err != nil {
		return nil, fmt.Errorf("xds: listener %s: %w", l.Name, err)
	}
	return out, nil
}

func (l Listener) check() error {
	stats, destinations := map[string]bool{}, map[netip.AddrPort]bool{}
	for _, inbound := range l.Inbounds {
		if err := inbound.check(); err != nil {
			return err
		}
		switch {
		case stats[inbound.Stat]:
			return fmt.Errorf("xds: listener %s: two inbounds have the stat prefix %q; filters with one prefix would share counters", l.Name, inbound.Stat)
		case destinations[inbound.Destination]:
			return fmt.Errorf("xds: listener %s: two inbounds have the destination %s", l.Name, inbound.Destination)
		}
		stats[inbound.Stat], destinations[inbound.Destination] = true, true
	}
	return l.checkOutbounds()
}

func canaryChain(version string) *listenerv3.FilterChain {
	return &listenerv3.FilterChain{
		Name: "canary",
		FilterChainMatch: &listenerv3.FilterChainMatch{
			DestinationPort: wrapperspb.UInt32(uint32(canaryDestination.Port())),
			PrefixRanges:    []*corev3.CidrRange{wholeAddress(canaryDestination.Addr())},
		},
		Filters: []*listenerv3.Filter{networkFilter("envoy.filters.network.direct_response", messages.MustPack(&directv3.Config{
			Response: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: version}},
		}))},
	}
}

// matchDestination matches the destination in both families: a caller of IPv6 plays an address
// of IPv4 in the notation of IPv6.
func matchDestination(to netip.AddrPort) *listenerv3.FilterChainMatch {
	out := &listenerv3.FilterChainMatch{DestinationPort: wrapperspb.UInt32(uint32(to.Port()))}
	for _, address := range []netip.Addr{to.Addr(), netip.AddrFrom16(to.Addr().As16())} {
		if len(out.PrefixRanges) == 0 || address != to.Addr() {
			out.PrefixRanges = append(out.PrefixRanges, wholeAddress(address))
		}
	}
	return out
}

func wholeAddress(address netip.Addr) *corev3.CidrRange {
	return &corev3.CidrRange{AddressPrefix: address.String(), PrefixLen: wrapperspb.UInt32(uint32(address.BitLen()))}
}

func listenerFilter(name string, config proto.Message) *listenerv3.ListenerFilter {
	return &listenerv3.ListenerFilter{Name: name, ConfigType: &listenerv3.ListenerFilter_TypedConfig{TypedConfig: messages.MustPack(config)}}
}

func socketAddress(host string, port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address:       host,
		PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
	}}}
}
