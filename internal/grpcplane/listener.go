package grpcplane

import (
	"fmt"
	"net"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	// listenerTemplate is how the server asks for its listener.
	listenerTemplate = "grpcplane/%s"
	// certificates is the name of the certificate provider in the bootstrap.
	certificates = "certificates"
	rbacFilter   = "envoy.filters.http.rbac"
)

// service is the gRPC service whose requests the rules of that number judge.
func service(program int) string { return fmt.Sprintf("program.%d", program) }

// listener is the server's: one filter chain that demands a certificate, a filter
// without rules of its own, and a route with rules for each program.
func listener(at *net.TCPAddr, programs []*rbacv3.RBAC) (*listenerv3.Listener, error) {
	p := &packer{}
	virtual := &routev3.VirtualHost{Name: "any", Domains: []string{"*"}}
	for i, rules := range programs {
		route := &routev3.Route{
			Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/" + service(i) + "/"}},
			Action: &routev3.Route_NonForwardingAction{NonForwardingAction: &routev3.NonForwardingAction{}},
		}
		if rules != nil {
			own := &httprbacv3.RBACPerRoute{Rbac: &httprbacv3.RBAC{Rules: rules}}
			route.TypedPerFilterConfig = map[string]*anypb.Any{rbacFilter: p.pack(own)}
		}
		virtual.Routes = append(virtual.Routes, route)
	}
	manager := &hcmv3.HttpConnectionManager{
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{Name: "programs", VirtualHosts: []*routev3.VirtualHost{virtual}}},
		HttpFilters: []*hcmv3.HttpFilter{
			{Name: rbacFilter, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: p.pack(&httprbacv3.RBAC{})}},
			{Name: "envoy.filters.http.router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: p.pack(&routerv3.Router{})}},
		},
	}
	provider := &tlsv3.CertificateProviderPluginInstance{InstanceName: certificates}
	context := &tlsv3.DownstreamTlsContext{
		RequireClientCertificate: wrapperspb.Bool(true),
		CommonTlsContext: &tlsv3.CommonTlsContext{
			TlsCertificateProviderInstance: provider,
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{
				ValidationContext: &tlsv3.CertificateValidationContext{CaCertificateProviderInstance: provider},
			},
		},
	}
	return &listenerv3.Listener{
		Name: fmt.Sprintf(listenerTemplate, at),
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: at.IP.String(), PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: uint32(at.Port)},
		}}},
		FilterChains: []*listenerv3.FilterChain{{
			Name: "mtls",
			Filters: []*listenerv3.Filter{{
				Name: "envoy.filters.network.http_connection_manager", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: p.pack(manager)},
			}},
			TransportSocket: &corev3.TransportSocket{
				Name: "envoy.transport_sockets.tls", ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: p.pack(context)},
			},
		}},
	}, p.err
}

// packer packs messages and remembers the first that could not be.
type packer struct{ err error }

func (p *packer) pack(m proto.Message) *anypb.Any {
	packed, err := anypb.New(m)
	if p.err == nil && err != nil {
		p.err = fmt.Errorf("grpcplane: pack %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return packed
}
