package controlplane

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	metricsv3 "github.com/envoyproxy/go-control-plane/envoy/config/metrics/v3"
	internallistenerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/bootstrap/internal_listener/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	upstreamproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/proxy_protocol/v3"
	rawbufferv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/raw_buffer/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/messages"
)

// The static clusters of the bootstrap.
const (
	controlPlaneCluster = "meshproof_control_plane"
	upstreamHTTP        = "meshproof_upstream_http"
	upstreamTCP         = "meshproof_upstream_tcp"
	adminCluster        = "meshproof_admin"
)

// Bootstrap is what Envoy has to know before it can ask for the rest: where the
// control plane and the upstreams listen, and who it is.
type Bootstrap struct {
	// Admin is the address of the admin interface: a socket's path or host:port.
	Admin string
	// AdminGate is the host:port of a listener that leads to the admin interface the client
	// that shows the identity Authority, and no other. It is empty for none.
	AdminGate string
	// ControlPlane, UpstreamHTTP and UpstreamTCP are host:port as Envoy reaches
	// them; the host may be a name.
	ControlPlane, UpstreamHTTP, UpstreamTCP string
	// UpstreamSecret is what Envoy shows to the upstreams with the name of each caller.
	UpstreamSecret string
	// Proxy is the SVID that Envoy shows to the control plane; Authority is the
	// one identity it accepts there, from Bundles.
	Proxy     *certs.Credential
	Authority string
	Bundles   *x509bundle.Set
}

// JSON returns the bootstrap. It contains a private key: it belongs into a
// private file or straight into a container, never into a log.
func (b Bootstrap) JSON() ([]byte, error) {
	message, err := b.message()
	if err == nil {
		err = messages.Validate(message)
	}
	if err != nil {
		return nil, fmt.Errorf("xds: bootstrap: %w", err)
	}
	return protojson.Marshal(message)
}

func (b Bootstrap) message() (*bootstrapv3.Bootstrap, error) {
	controlPlane, err := b.controlPlane()
	if err != nil {
		return nil, err
	}
	http, err := b.upstreamHTTP()
	if err != nil {
		return nil, err
	}
	tcp, err := staticCluster(upstreamTCP, b.UpstreamTCP)
	if err != nil {
		return nil, err
	}
	tcp.TransportSocket = callerTelling(b.UpstreamSecret)
	admin, err := adminAddress(b.Admin)
	if err != nil {
		return nil, err
	}
	bootstrap := &bootstrapv3.Bootstrap{
		Node:           &corev3.Node{Id: "meshproof", Cluster: "meshproof"},
		Admin:          &bootstrapv3.Admin{Address: admin},
		StatsConfig:    neededStatistics(),
		LayeredRuntime: liftedLimits(),
		BootstrapExtensions: []*corev3.TypedExtensionConfig{{
			Name: "envoy.bootstrap.internal_listener", TypedConfig: messages.MustPack(&internallistenerv3.InternalListener{}),
		}},
		StaticResources: &bootstrapv3.Bootstrap_StaticResources{
			Clusters: []*clusterv3.Cluster{controlPlane, http, tcp},
		},
		DynamicResources: &bootstrapv3.Bootstrap_DynamicResources{
			LdsConfig: ads(),
			CdsConfig: ads(),
			AdsConfig: &corev3.ApiConfigSource{
				// Envoy's node lists its extensions, some 30 KB in each message otherwise.
				SetNodeOnFirstMessageOnly: true,
				ApiType:                   corev3.ApiConfigSource_DELTA_GRPC,
				TransportApiVersion:       corev3.ApiVersion_V3,
				GrpcServices:              []*corev3.GrpcService{controlPlaneService()},
			},
		},
	}
	if b.AdminGate != "" {
		gate, cluster, err := b.adminGate()
		if err != nil {
			return nil, err
		}
		// The gate opens at the latest then: Envoy starts its listeners together, and there may
		// be no other.
		bootstrap.DynamicResources.LdsConfig.InitialFetchTimeout = durationpb.New(time.Millisecond)
		bootstrap.DynamicResources.CdsConfig.InitialFetchTimeout = durationpb.New(time.Millisecond)
		bootstrap.StaticResources.Listeners = []*listenerv3.Listener{gate}
		bootstrap.StaticResources.Clusters = append(bootstrap.StaticResources.Clusters, cluster)
	}
	return bootstrap, nil
}

// upstreamHTTP leads to the upstream of the lab for HTTP, by the protocol of each caller.
func (b Bootstrap) upstreamHTTP() (*clusterv3.Cluster, error) {
	cluster, err := staticCluster(upstreamHTTP, b.UpstreamHTTP)
	if err != nil {
		return nil, err
	}
	cluster.TypedExtensionProtocolOptions = protocolOptions(&httpv3.HttpProtocolOptions{
		UpstreamProtocolOptions: &httpv3.HttpProtocolOptions_UseDownstreamProtocolConfig{
			UseDownstreamProtocolConfig: &httpv3.HttpProtocolOptions_UseDownstreamHttpConfig{
				HttpProtocolOptions:  &corev3.Http1ProtocolOptions{},
				Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
			},
		},
	})
	cluster.Metadata = &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{
		secretNamespace: {Fields: map[string]*structpb.Value{secretKey: structpb.NewStringValue(b.UpstreamSecret)}},
	}}
	return cluster, nil
}

// neededStatistics leaves out all statistics but those that the lab reads: thousands of others would be made with each
// listener and searched with each look at the counters. No log shows what the counters of bounds do.
func neededStatistics() *metricsv3.StatsConfig {
	return &metricsv3.StatsConfig{StatsMatcher: &metricsv3.StatsMatcher{
		StatsMatcher: &metricsv3.StatsMatcher_InclusionList{InclusionList: &matcherv3.ListStringMatcher{
			Patterns: []*matcherv3.StringMatcher{
				{MatchPattern: &matcherv3.StringMatcher_Contains{Contains: ".rbac."}},
				{MatchPattern: &matcherv3.StringMatcher_Suffix{Suffix: "_timeout"}},
				{MatchPattern: &matcherv3.StringMatcher_Suffix{Suffix: "_max_duration_reached"}},
			},
		}},
	}}
}

// liftedLimits lifts Envoy's limit of 100 for regular expressions, as control planes do: Kuma and Envoy Gateway to this
// figure. What the lab compiles is far below it.
func liftedLimits() *bootstrapv3.LayeredRuntime {
	return &bootstrapv3.LayeredRuntime{Layers: []*bootstrapv3.RuntimeLayer{{
		Name: "regular expressions",
		LayerSpecifier: &bootstrapv3.RuntimeLayer_StaticLayer{StaticLayer: &structpb.Struct{Fields: map[string]*structpb.Value{
			"re2.max_program_size.error_level": structpb.NewNumberValue(math.MaxUint32),
		}}},
	}}}
}

// controlPlane reaches the control plane over mTLS and accepts no other identity
// there.
func (b Bootstrap) controlPlane() (*clusterv3.Cluster, error) {
	cluster, err := staticCluster(controlPlaneCluster, b.ControlPlane)
	if err != nil {
		return nil, err
	}
	common, err := b.mutualTLS()
	if err != nil {
		return nil, err
	}
	common.AlpnProtocols = []string{"h2"}
	tls, err := messages.Pack(&tlsv3.UpstreamTlsContext{CommonTlsContext: common})
	if err != nil {
		return nil, err
	}
	cluster.TransportSocket = transportSocket("envoy.transport_sockets.tls", tls)
	cluster.TypedExtensionProtocolOptions = protocolOptions(&httpv3.HttpProtocolOptions{
		UpstreamProtocolOptions: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{
			ExplicitHttpConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig{
				ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{
					Http2ProtocolOptions: &corev3.Http2ProtocolOptions{},
				},
			},
		},
	})
	return cluster, nil
}

// mutualTLS shows the SVID of the proxy, and accepts the one identity of the lab.
func (b Bootstrap) mutualTLS() (*tlsv3.CommonTlsContext, error) {
	validation, err := spiffeValidation(b.Bundles)
	if err != nil {
		return nil, err
	}
	validation.MatchTypedSubjectAltNames = []*tlsv3.SubjectAltNameMatcher{{
		SanType: tlsv3.SubjectAltNameMatcher_URI,
		Matcher: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: b.Authority}},
	}}
	return &tlsv3.CommonTlsContext{
		// As a client Envoy offers TLS 1.2 at most unless it is told.
		TlsParams: &tlsv3.TlsParameters{
			TlsMinimumProtocolVersion: tlsv3.TlsParameters_TLSv1_3,
			TlsMaximumProtocolVersion: tlsv3.TlsParameters_TLSv1_3,
		},
		TlsCertificates:       []*tlsv3.TlsCertificate{tlsCertificate(b.Proxy)},
		ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: validation},
	}, nil
}

// adminGate returns the listener and the cluster between the lab and the admin interface.
func (b Bootstrap) adminGate() (*listenerv3.Listener, *clusterv3.Cluster, error) {
	cluster, err := staticCluster(adminCluster, b.Admin)
	if err != nil {
		return nil, nil, err
	}
	host, port, err := splitHostPort(b.AdminGate)
	if err != nil {
		return nil, nil, fmt.Errorf("admin gate: %w", err)
	}
	common, err := b.mutualTLS()
	if err != nil {
		return nil, nil, err
	}
	tls, err := messages.Pack(&tlsv3.DownstreamTlsContext{
		RequireClientCertificate:         wrapperspb.Bool(true),
		SessionTicketKeysType:            &tlsv3.DownstreamTlsContext_DisableStatelessSessionResumption{DisableStatelessSessionResumption: true},
		DisableStatefulSessionResumption: true,
		CommonTlsContext:                 common,
	})
	if err != nil {
		return nil, nil, err
	}
	forward, err := messages.Pack(&tcpproxyv3.TcpProxy{StatPrefix: adminCluster, ClusterSpecifier: &tcpproxyv3.TcpProxy_Cluster{Cluster: adminCluster}})
	if err != nil {
		return nil, nil, err
	}
	return &listenerv3.Listener{
		Name:    adminCluster,
		Address: socketAddress(host, port),
		FilterChains: []*listenerv3.FilterChain{{
			TransportSocket: transportSocket("envoy.transport_sockets.tls", tls),
			Filters:         []*listenerv3.Filter{networkFilter("envoy.filters.network.tcp_proxy", forward)},
		}},
	}, cluster, nil
}

// SecretTLV is the type of the TLV with the secret of the upstream, the first of those for
// custom use.
const SecretTLV = 0xE0

// callerTelling makes Envoy open each upstream connection with a PROXY protocol
// v2 header, so that the upstream knows which caller's bytes it reads, and that
// Envoy says so.
func callerTelling(secret string) *corev3.TransportSocket {
	return transportSocket("envoy.transport_sockets.upstream_proxy_protocol", messages.MustPack(&upstreamproxyv3.ProxyProtocolUpstreamTransport{
		Config: &corev3.ProxyProtocolConfig{
			Version:   corev3.ProxyProtocolConfig_V2,
			AddedTlvs: []*corev3.TlvEntry{{Type: SecretTLV, Value: []byte(secret)}},
		},
		TransportSocket: transportSocket("envoy.transport_sockets.raw_buffer", messages.MustPack(&rawbufferv3.RawBuffer{})),
	}))
}

func transportSocket(name string, config *anypb.Any) *corev3.TransportSocket {
	return &corev3.TransportSocket{Name: name, ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: config}}
}

func protocolOptions(config proto.Message) map[string]*anypb.Any {
	return map[string]*anypb.Any{"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": messages.MustPack(config)}
}

// staticCluster resolves its endpoint by DNS only where it is a name.
func staticCluster(name, hostPort string) (*clusterv3.Cluster, error) {
	host, port, err := splitHostPort(hostPort)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", name, err)
	}
	kind := clusterv3.Cluster_STATIC
	if _, err := netip.ParseAddr(host); err != nil {
		kind = clusterv3.Cluster_STRICT_DNS
	}
	return &clusterv3.Cluster{
		Name:                 name,
		ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: kind},
		DnsLookupFamily:      clusterv3.Cluster_V4_ONLY,
		ConnectTimeout:       durationpb.New(connectTimeout),
		LoadAssignment: &endpointv3.ClusterLoadAssignment{
			ClusterName: name,
			Endpoints: []*endpointv3.LocalityLbEndpoints{{LbEndpoints: []*endpointv3.LbEndpoint{{
				HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{Address: socketAddress(host, port)}},
			}}}},
		},
	}, nil
}

func adminAddress(admin string) (*corev3.Address, error) {
	if host, port, err := splitHostPort(admin); err == nil {
		return socketAddress(host, port), nil
	}
	if len(admin) == 0 || admin[0] != '/' {
		return nil, fmt.Errorf("admin %q is neither host:port nor the path of a socket", admin)
	}
	// The socket stands in a private directory; its own mode is a second lock.
	return &corev3.Address{Address: &corev3.Address_Pipe{Pipe: &corev3.Pipe{Path: admin, Mode: 0o600}}}, nil
}

func splitHostPort(hostPort string) (string, uint32, error) {
	host, digits, err := net.SplitHostPort(hostPort)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 {
		return "", 0, fmt.Errorf("address %q: port %q is not a number from 1 to 65535", hostPort, digits)
	}
	return host, uint32(port), nil
}
