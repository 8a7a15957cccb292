package grpcplane

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// controlPlane serves one listener over ADS.
type controlPlane struct {
	grpc   *grpc.Server
	stop   context.CancelFunc
	served chan struct{}
}

// serveListener serves the listener on a socket. The directory of the socket is private,
// so the socket needs no TLS.
func serveListener(socket string, l *listenerv3.Listener) (*controlPlane, error) {
	lis, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("grpcplane: listen for the control plane: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &controlPlane{grpc: grpc.NewServer(), stop: stop, served: make(chan struct{})}
	listeners := cache.NewLinearCache(resource.ListenerType, cache.WithInitialResources(map[string]types.Resource{l.Name: l}))
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(c.grpc, server.NewServer(ctx, listeners, nil))
	go func() {
		defer close(c.served)
		// Serve returns when close stops the server, or when the socket breaks. Then the
		// gRPC server reports that it has no listener.
		_ = c.grpc.Serve(lis)
	}()
	return c, nil
}

func (c *controlPlane) close() {
	c.stop()
	c.grpc.Stop()
	<-c.served
}

// The files of the certificate provider.
const (
	chainFile = "chain.pem"
	keyFile   = "key.pem"
	caFile    = "ca.pem"
)

// writeCertificates writes the SVID of the server, and the CAs of the trusted domains.
func (p *Plane) writeCertificates(domains []spiffeid.TrustDomain) error {
	svid, err := p.ca.Mint(serverID)
	if err != nil {
		return err
	}
	trusted, err := p.ca.BundleSet(domains...)
	if err != nil {
		return err
	}
	var cas bytes.Buffer
	for _, bundle := range trusted.Bundles() {
		pem, err := bundle.Marshal()
		if err != nil {
			return err
		}
		cas.Write(pem)
	}
	for name, content := range map[string][]byte{chainFile: svid.ChainPEM(), keyFile: svid.KeyPEM(), caFile: cas.Bytes()} {
		if err := os.WriteFile(filepath.Join(p.dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// newBootstrap returns the configuration of the server in the form of gRFC A27 and A29.
func newBootstrap(socket, dir string) ([]byte, error) {
	type object = map[string]any
	contents, err := json.Marshal(object{
		"xds_servers": []object{{
			"server_uri": "unix://" + socket, "channel_creds": []object{{"type": "insecure"}}, "server_features": []string{"xds_v3"},
		}},
		"node":                                   object{"id": "grpcplane"},
		"server_listener_resource_name_template": listenerTemplate,
		"certificate_providers": object{certificates: object{
			"plugin_name": "file_watcher",
			"config": object{
				"certificate_file": filepath.Join(dir, chainFile), "private_key_file": filepath.Join(dir, keyFile),
				"ca_certificate_file": filepath.Join(dir, caFile), "refresh_interval": "3600s",
			},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("grpcplane: bootstrap: %w", err)
	}
	return contents, nil
}

const (
	// listenerTemplate is the name of the listener that the server asks for.
	listenerTemplate = "grpcplane/%s"
	// certificates is the name of the certificate provider in the bootstrap.
	certificates = "certificates"
	rbacFilter   = "envoy.filters.http.rbac"
)

// serviceName returns the name of the gRPC service of a program.
func serviceName(program int) string { return fmt.Sprintf("program.%d", program) }

// newListener returns the listener of the server. It has one filter chain that demands a
// certificate, a filter without rules, and a route with rules for each program.
func newListener(address *net.TCPAddr, programs []*rbacv3.RBAC) (*listenerv3.Listener, error) {
	p := &packer{}
	virtual := &routev3.VirtualHost{Name: "any", Domains: []string{"*"}}
	for i, rules := range programs {
		route := &routev3.Route{
			Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/" + serviceName(i) + "/"}},
			Action: &routev3.Route_NonForwardingAction{NonForwardingAction: &routev3.NonForwardingAction{}},
		}
		if rules != nil {
			perRoute := &httprbacv3.RBACPerRoute{Rbac: &httprbacv3.RBAC{Rules: rules}}
			route.TypedPerFilterConfig = map[string]*anypb.Any{rbacFilter: p.pack(perRoute)}
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
	tlsContext := &tlsv3.DownstreamTlsContext{
		RequireClientCertificate: wrapperspb.Bool(true),
		CommonTlsContext: &tlsv3.CommonTlsContext{
			TlsCertificateProviderInstance: provider,
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{
				ValidationContext: &tlsv3.CertificateValidationContext{CaCertificateProviderInstance: provider},
			},
		},
	}
	return &listenerv3.Listener{
		Name: fmt.Sprintf(listenerTemplate, address),
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: address.IP.String(), PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: uint32(address.Port)},
		}}},
		FilterChains: []*listenerv3.FilterChain{{
			Name: "mtls",
			Filters: []*listenerv3.Filter{{
				Name: "envoy.filters.network.http_connection_manager", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: p.pack(manager)},
			}},
			TransportSocket: &corev3.TransportSocket{
				Name: "envoy.transport_sockets.tls", ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: p.pack(tlsContext)},
			},
		}},
	}, p.err
}

// packer packs messages and keeps the first error.
type packer struct{ err error }

func (p *packer) pack(m proto.Message) *anypb.Any {
	packed, err := anypb.New(m)
	if p.err == nil && err != nil {
		p.err = fmt.Errorf("grpcplane: pack %s: %w", m.ProtoReflect().Descriptor().FullName(), err)
	}
	return packed
}
