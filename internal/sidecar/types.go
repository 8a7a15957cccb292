package sidecar

import (
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/messages"
)

// The messages that tell how a filter chain is read.
const (
	networkRBAC   = messages.NetworkRBAC
	httpRBAC      = messages.HTTPRBAC
	routeRBAC     = messages.RouteRBAC
	routeFilter   = "envoy.config.route.v3.FilterConfig"
	httpManager   = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
	tcpProxy      = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"
	router        = "envoy.extensions.filters.http.router.v3.Router"
	downstreamTLS = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
	rawBuffer     = "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"
)

func typeURL(m proto.Message) string {
	return "type.googleapis.com/" + string(m.ProtoReflect().Descriptor().FullName())
}
