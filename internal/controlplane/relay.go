package controlplane

import (
	"net/netip"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	originaldstv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/original_dst/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	upstreamproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/proxy_protocol/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshproof/meshproof/internal/messages"
)

// Relay leads the connections of all sidecars of a mesh back to the port of the mesh: an
// internal listener, and a cluster of the same name. It plays the source that the caller has,
// and the destination that the endpoint has.
//
// Releases before 1.38 keep its end of each connection that an outbound ended, some 28 KB,
// until Envoy ends.
type Relay struct {
	Name string
	// Target is the port of the mesh as Envoy reaches it.
	Target netip.AddrPort
}

func (r Relay) listener() (*listenerv3.Listener, error) {
	forward, err := messages.Pack(&tcpproxyv3.TcpProxy{
		StatPrefix:       r.Name,
		ClusterSpecifier: &tcpproxyv3.TcpProxy_Cluster{Cluster: r.Name},
		// The outbound and the inbound bound the time of a connection, and nothing between them.
		IdleTimeout: durationpb.New(0),
	})
	if err != nil {
		return nil, err
	}
	out := &listenerv3.Listener{
		Name:              r.Name,
		StatPrefix:        r.Name,
		ListenerSpecifier: &listenerv3.Listener_InternalListener{InternalListener: &listenerv3.Listener_InternalListenerConfig{}},
		ListenerFilters:   []*listenerv3.ListenerFilter{listenerFilter(originalDestination, &originaldstv3.OriginalDst{})},
		FilterChains:      []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{networkFilter("envoy.filters.network.tcp_proxy", forward)}}},
	}
	return out, messages.Validate(out)
}

func (r Relay) cluster() (*clusterv3.Cluster, error) {
	host := r.Target.Addr()
	if host.IsUnspecified() {
		host = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	out, err := staticCluster(r.Name, netip.AddrPortFrom(host, r.Target.Port()).String())
	if err != nil {
		return nil, err
	}
	out.TransportSocket = transportSocket("envoy.transport_sockets.upstream_proxy_protocol", messages.MustPack(&upstreamproxyv3.ProxyProtocolUpstreamTransport{
		Config:          &corev3.ProxyProtocolConfig{Version: corev3.ProxyProtocolConfig_V2},
		TransportSocket: rawBuffer(),
	}))
	return out, messages.Validate(out)
}
