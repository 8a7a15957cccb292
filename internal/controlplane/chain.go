package controlplane

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	configrbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/authorizerfilter"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// chains returns the filter chains of the inbound: one for TLS, one for plaintext, or both. The
// chain for plaintext has filters of authorization only where plaintext is judged.
func (i Inbound) chains(validation string) (out []*listenerv3.FilterChain, err error) {
	if i.MTLS.TakesTLS() {
		secured, err := i.secured(validation)
		if err != nil {
			return nil, err
		}
		out = append(out, secured)
	}
	if i.MTLS.TakesPlaintext() {
		open, err := i.open()
		if err != nil {
			return nil, err
		}
		out = append(out, open)
	}
	return out, nil
}

// secured returns the chain for TLS.
func (i Inbound) secured(validation string) (*listenerv3.FilterChain, error) {
	filters, err := i.networkFilters(i.Filters)
	if err != nil {
		return nil, err
	}
	tls, err := messages.Pack(i.tls(validation))
	if err != nil {
		return nil, err
	}
	secured := &listenerv3.FilterChain{
		Name:             i.Stat,
		FilterChainMatch: matchDestination(i.Destination),
		Filters:          filters,
		TransportSocket: &corev3.TransportSocket{
			Name:       "envoy.transport_sockets.tls",
			ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: tls},
		},
	}
	if i.MTLS.TakesPlaintext() {
		secured.FilterChainMatch.TransportProtocol = "tls"
	}
	return secured, nil
}

// open returns the chain for plaintext. A TLS caller does not match it.
func (i Inbound) open() (*listenerv3.FilterChain, error) {
	var auth xds.Filters
	if i.JudgesPlaintext {
		auth = i.Filters
	}
	filters, err := i.networkFilters(auth)
	if err != nil {
		return nil, err
	}
	open := &listenerv3.FilterChain{
		Name:             i.Stat + "_plaintext",
		FilterChainMatch: matchDestination(i.Destination),
		Filters:          filters,
	}
	open.FilterChainMatch.TransportProtocol = "raw_buffer"
	return open, nil
}

// networkFilters returns the filters of authorization, and behind them the filter that
// serves the request.
func (i Inbound) networkFilters(auth xds.Filters) ([]*listenerv3.Filter, error) {
	var out []*listenerv3.Filter
	add := func(name string, config proto.Message) error {
		packed, err := messages.Pack(config)
		out = append(out, networkFilter(name, packed))
		return err
	}
	places, _ := placesOf(auth)
	for n, filter := range auth.Network {
		filter = placedNetwork(filter, places[n], i.Stat)
		if observer := observe(filter, places[n]); observer != nil {
			if err := add("meshproof.effective_policy", observer); err != nil {
				return nil, err
			}
		}
		if err := add("envoy.filters.network.rbac", filter); err != nil {
			return nil, err
		}
		if a, ok := auth.NetworkAsks[n]; ok {
			asks := authorizerfilter.Network(a, prefixOf(places[n]), i.Stat, controlPlaneService())
			if err := add("envoy.filters.network.ext_authz", asks); err != nil {
				return nil, err
			}
		}
	}
	if i.Protocol == policy.TCP {
		err := add("envoy.filters.network.tcp_proxy", &tcpproxyv3.TcpProxy{
			StatPrefix:       i.Stat,
			ClusterSpecifier: &tcpproxyv3.TcpProxy_Cluster{Cluster: upstreamTCP},
			IdleTimeout:      i.patience(),
		})
		return out, err
	}
	if i.TrustedHops > 0 {
		if err := add("envoy.filters.network.set_filter_state", rememberCaller()); err != nil {
			return nil, err
		}
	}
	hcm, err := i.httpManager(auth)
	if err != nil {
		return nil, err
	}
	return out, add("envoy.filters.network.http_connection_manager", hcm)
}

// observe returns a filter that judges as the given filter does, and enforces nothing. It
// returns nil for a filter that enforces nothing itself. A network filter never says which
// policy allowed a connection, but a shadow says it, as dynamic metadata. The observer runs
// first, so that it reports refused connections too.
//
// The observer of a filter that only logs allows what the filter logs. So its counters
// count what was logged.
func observe(filter *rbacv3.RBAC, place xds.FilterPlace) *rbacv3.RBAC {
	if filter.Rules == nil && filter.Matcher == nil {
		return nil
	}
	rules := filter.Rules
	if place.Logs {
		rules = allowing(rules)
	}
	return &rbacv3.RBAC{
		ShadowRules:           rules,
		ShadowMatcher:         filter.Matcher,
		ShadowRulesStatPrefix: effectivePrefix + prefixOf(place),
		StatPrefix:            strings.TrimSuffix(filter.StatPrefix, ".") + "_effective",
	}
}

// allowing returns rules that allow what the given rules match; nil for nil.
func allowing(rules *configrbacv3.RBAC) *configrbacv3.RBAC {
	if rules == nil {
		return nil
	}
	return &configrbacv3.RBAC{Action: configrbacv3.RBAC_ALLOW, Policies: rules.Policies}
}

// patience is no bound at all for requests of an outbound, and elsewhere Envoy's default.
func (i Inbound) patience() *durationpb.Duration {
	if i.BehindOutbounds {
		return durationpb.New(0)
	}
	return nil
}

// tls demands an SVID. It switches off both kinds of session resumption, because a resumed
// session keeps the identity of its first handshake.
func (i Inbound) tls(validation string) *tlsv3.DownstreamTlsContext {
	return &tlsv3.DownstreamTlsContext{
		RequireClientCertificate:         wrapperspb.Bool(true),
		SessionTicketKeysType:            &tlsv3.DownstreamTlsContext_DisableStatelessSessionResumption{DisableStatelessSessionResumption: true},
		DisableStatefulSessionResumption: true,
		CommonTlsContext: &tlsv3.CommonTlsContext{
			AlpnProtocols:                  alpn[i.Protocol],
			TlsCertificateSdsSecretConfigs: []*tlsv3.SdsSecretConfig{sds(i.Identity)},
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContextSdsSecretConfig{
				ValidationContextSdsSecretConfig: sds(validation),
			},
		},
	}
}

// alpn has the protocols that both sides offer in the TLS handshake.
var alpn = map[policy.Protocol][]string{
	policy.HTTP:  {"http/1.1"},
	policy.HTTP2: {"h2"},
	policy.GRPC:  {"h2"},
}

func networkFilter(name string, config *anypb.Any) *listenerv3.Filter {
	return &listenerv3.Filter{Name: name, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: config}}
}
