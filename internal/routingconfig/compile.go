package routingconfig

import (
	"fmt"
	"reflect"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
)

// Config is Envoy's configuration of the outbound side of one sidecar.
type Config struct {
	// Outbounds are in the order of the program.
	Outbounds []Outbound
	// Clusters are in the order of the program. They have no endpoints, and speak plaintext.
	Clusters []*clusterv3.Cluster
}

// Outbound is the configuration of one destination. One of HTTP and TCP is set.
type Outbound struct {
	// Name is that of the program.
	Name string
	// Routes are what HTTP asks for over RDS. Their name is the prefix of [Compile] and the
	// name of the outbound.
	Routes *routev3.RouteConfiguration
	// HTTP has no filters yet: the router belongs behind those of its user.
	HTTP *hcmv3.HttpConnectionManager
	TCP  *tcpproxyv3.TcpProxy
}

// Sentinels are bounds that no program has, by the names of outbounds: after so much time Envoy
// ends a stream, with a reason of its own (max_stream_duration of
// envoy.config.core.v3.HttpProtocolOptions, of the listener). On tcp it ends the connection, with a flag of its own
// (max_downstream_connection_duration of envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy). They
// bound from above when a limit of the program takes effect. A route cannot have them: with a
// max_stream_duration it ignores its timeout.
type Sentinels map[string]time.Duration

// Compile compiles a program. The prefix stands in front of the names of route
// configurations, clusters and statistics, which are one space for all sidecars of an Envoy; it
// is empty for a sidecar of its own. In the space of several sidecars a connection to a backend
// carries one request, unless it [EndsSoon]: Envoy has a pool for each caller there, and each
// would keep its connection for an hour.
// Virtual hosts and routes have the names of the program.
func Compile(p routing.Proxy, prefix string, sentinels Sentinels) (Config, error) {
	return Config{}.Replace(routing.Proxy{}, p, prefix, sentinels)
}

// Replace compiles a program, and takes what it shares with an earlier one from its
// configuration. The prefix and the sentinels must be the same.
func (c Config) Replace(earlier, p routing.Proxy, prefix string, sentinels Sentinels) (Config, error) {
	var out Config
	for i, o := range p.Outbounds {
		if i < len(earlier.Outbounds) && reflect.DeepEqual(o, earlier.Outbounds[i]) {
			out.Outbounds = append(out.Outbounds, c.Outbounds[i])
			continue
		}
		compiled, err := compileOutbound(o, prefix, sentinels)
		if err != nil {
			return Config{}, fmt.Errorf("outbound %s: %w", o.Name, err)
		}
		out.Outbounds = append(out.Outbounds, compiled)
	}
	for _, of := range p.Clusters {
		out.Clusters = append(out.Clusters, compileCluster(of, prefix, prefix != ""))
	}
	return out, nil
}

func compileOutbound(o routing.Outbound, prefix string, sentinels Sentinels) (Outbound, error) {
	out := Outbound{Name: o.Name}
	if o.Protocol.Layer() == policy.L4 {
		var err error
		if out.TCP, err = tcpProxy(o, prefix); err == nil && sentinels[o.Name] != 0 {
			out.TCP.MaxDownstreamConnectionDuration = durationpb.New(sentinels[o.Name])
		}
		return out, err
	}
	routes := make([]*routev3.Route, len(o.Routes))
	for i, r := range o.Routes {
		var err error
		if routes[i], err = compileRoute(r, prefix); err != nil {
			return Outbound{}, fmt.Errorf("route %s: %w", r.Name, err)
		}
	}
	out.Routes = &routev3.RouteConfiguration{
		Name:         prefix + o.Name,
		VirtualHosts: []*routev3.VirtualHost{{Name: o.Name, Domains: []string{"*"}, Routes: routes}},
	}
	out.HTTP = httpManager(o, prefix)
	if t := sentinels[o.Name]; t != 0 {
		out.HTTP.CommonHttpProtocolOptions.MaxStreamDuration = durationpb.New(t)
	}
	return out, nil
}

// httpManager has the bounds of the listener. Envoy's default for a stream is five minutes, and
// an hour for a connection.
func httpManager(o routing.Outbound, prefix string) *hcmv3.HttpConnectionManager {
	hcm := &hcmv3.HttpConnectionManager{
		StatPrefix: prefix + o.Name,
		CodecType:  hcmv3.HttpConnectionManager_AUTO,
		RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{
			RouteConfigName: prefix + o.Name,
			ConfigSource: &corev3.ConfigSource{
				ResourceApiVersion:    corev3.ApiVersion_V3,
				ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
			},
		}},
		NormalizePath:             wrapperspb.Bool(!routing.Normalization.Raw),
		StreamIdleTimeout:         durationpb.New(0),
		CommonHttpProtocolOptions: &corev3.HttpProtocolOptions{IdleTimeout: durationpb.New(0)},
	}
	if o.Headers.Time != 0 {
		hcm.RequestHeadersTimeout = durationpb.New(o.Headers.Time)
	}
	return hcm
}

// patience is a time that a lab can wait for.
const patience = 5 * time.Second

// EndsSoon reports whether a bound ends each connection to the backend within a time that a lab
// can wait for.
func EndsSoon(c routing.Cluster) bool {
	for _, bound := range []routing.Bound{routing.Idle, routing.MaxConnection} {
		if t := c.Limits[bound].Time; t > 0 && t <= patience && c.Protocol.Layer() == policy.L7 {
			return true
		}
	}
	return false
}

// noLimit stands for no limit of the time to connect: Envoy's message has no value for that, and its
// default is five seconds.
const noLimit = 24 * time.Hour

func compileCluster(c routing.Cluster, prefix string, oneRequest bool) *clusterv3.Cluster {
	connect := c.Limits[routing.Connection].Time
	if connect == 0 {
		connect = noLimit
	}
	out := &clusterv3.Cluster{
		Name:                 prefix + c.Name,
		ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC},
		ConnectTimeout:       durationpb.New(connect),
	}
	if c.Protocol.Layer() == policy.L4 {
		return out
	}
	common := &corev3.HttpProtocolOptions{IdleTimeout: durationpb.New(c.Limits[routing.Idle].Time)}
	if oneRequest && !EndsSoon(c) {
		common.MaxRequestsPerConnection = wrapperspb.UInt32(1)
	}
	if t := c.Limits[routing.MaxStream].Time; t != 0 {
		common.MaxStreamDuration = durationpb.New(t)
	}
	if t := c.Limits[routing.MaxConnection].Time; t != 0 {
		common.MaxConnectionDuration = durationpb.New(t)
	}
	explicit := &httpv3.HttpProtocolOptions_ExplicitHttpConfig{
		ProtocolConfig: &httpv3.HttpProtocolOptions_ExplicitHttpConfig_HttpProtocolOptions{HttpProtocolOptions: &corev3.Http1ProtocolOptions{}},
	}
	if c.Protocol != policy.HTTP {
		explicit.ProtocolConfig = &httpv3.HttpProtocolOptions_ExplicitHttpConfig_Http2ProtocolOptions{Http2ProtocolOptions: &corev3.Http2ProtocolOptions{}}
	}
	out.TypedExtensionProtocolOptions = map[string]*anypb.Any{httpOptionsKey: messages.MustPack(&httpv3.HttpProtocolOptions{
		CommonHttpProtocolOptions: common,
		UpstreamProtocolOptions:   &httpv3.HttpProtocolOptions_ExplicitHttpConfig_{ExplicitHttpConfig: explicit},
	})}
	return out
}

// httpOptionsKey is the key of the options of HTTP among those of a cluster.
const httpOptionsKey = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
