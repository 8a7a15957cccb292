package controlplane

import (
	"fmt"
	"net/netip"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	statevaluev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	setstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/routingconfig"
)

// Outbound is one outbound of a sidecar: a filter chain. Envoy selects it by the destination
// and the source that the caller plays, so that many sidecars can have one destination.
type Outbound struct {
	Config      routingconfig.Outbound
	Destination netip.AddrPort
	Caller      netip.Addr
}

// chain takes plaintext, as a sidecar does from its own workload.
func (o Outbound) chain() (*listenerv3.FilterChain, error) {
	match := matchDestination(o.Destination)
	match.SourcePrefixRanges = []*corev3.CidrRange{wholeAddress(o.Caller)}
	out := &listenerv3.FilterChain{FilterChainMatch: match}
	add := func(name string, config proto.Message) error {
		packed, err := messages.Pack(config)
		out.Filters = append(out.Filters, networkFilter(name, packed))
		return err
	}
	if err := add("envoy.filters.network.set_filter_state", tellRelay()); err != nil {
		return nil, err
	}
	log, err := messages.Pack(outboundlog.Config(controlPlaneService()))
	if err != nil {
		return nil, err
	}
	logs := []*accesslogv3.AccessLog{{Name: outboundlog.Name, ConfigType: &accesslogv3.AccessLog_TypedConfig{TypedConfig: log}}}
	if o.Config.TCP != nil {
		tcp := proto.CloneOf(o.Config.TCP)
		tcp.AccessLog = logs
		out.Name = tcp.StatPrefix
		return out, add("envoy.filters.network.tcp_proxy", tcp)
	}
	hcm := proto.CloneOf(o.Config.HTTP)
	out.Name = hcm.StatPrefix
	hcm.AccessLog = logs
	hcm.UseRemoteAddress, hcm.SkipXffAppend = wrapperspb.Bool(true), true
	hcm.GenerateRequestId = wrapperspb.Bool(false)
	hcm.DelayedCloseTimeout = durationpb.New(0)
	hcm.ForwardClientCertDetails = hcmv3.HttpConnectionManager_SANITIZE
	// The inbound shall see the headers of the caller and no others.
	if err := addHTTPFilter(hcm, "envoy.filters.http.router", &routerv3.Router{SuppressEnvoyHeaders: true}); err != nil {
		return nil, err
	}
	return out, add("envoy.filters.network.http_connection_manager", hcm)
}

// tellRelay keeps the address of the caller for the relay: without it the relay would tell the
// inbound its own. The object is part of the key of Envoy's pools, so that no two callers
// share a connection.
func tellRelay() *setstatev3.Config {
	return &setstatev3.Config{OnNewConnection: []*statevaluev3.FilterStateValue{{
		Key: &statevaluev3.FilterStateValue_ObjectKey{ObjectKey: originalDestination + ".remote_ip"},
		Value: &statevaluev3.FilterStateValue_FormatString{FormatString: &corev3.SubstitutionFormatString{
			Format: &corev3.SubstitutionFormatString_TextFormatSource{TextFormatSource: &corev3.DataSource{
				Specifier: &corev3.DataSource_InlineString{InlineString: callerFormat},
			}},
		}},
		SharedWithUpstream: statevaluev3.FilterStateValue_ONCE,
	}}}
}

// originalDestination is the listener filter of the relay, the namespace of the metadata that
// it reads, and the beginning of the filter state that it reads.
const originalDestination = "envoy.filters.listener.original_dst"

// checkOutbounds reports two outbounds that no caller could tell apart.
func (l Listener) checkOutbounds() error {
	type place struct {
		destination netip.AddrPort
		caller      netip.Addr
	}
	places := map[place]bool{}
	for _, o := range l.Outbounds {
		at := place{o.Destination, o.Caller}
		switch {
		case !o.Destination.IsValid() || o.Destination.Port() == 0 || !o.Caller.IsValid():
			return fmt.Errorf("xds: listener %s: outbound %s: it has no destination with a port, or no caller", l.Name, o.Config.Name)
		case places[at]:
			return fmt.Errorf("xds: listener %s: two outbounds of %s have the destination %s", l.Name, o.Caller, o.Destination)
		}
		places[at] = true
	}
	return nil
}
