package sidecar

import (
	"fmt"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rbac"
)

// understood are the types of extensions inside an RBAC filter that ask for something that
// a policy can say: identity, address, port, server name, header, path, method.
var understood = map[string]bool{
	"envoy.config.rbac.v3.Action":                                             true,
	"envoy.type.matcher.v3.HttpRequestHeaderMatchInput":                       true,
	"envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput":              true,
	"envoy.extensions.matching.common_inputs.ssl.v3.DnsSanInput":              true,
	"envoy.extensions.matching.common_inputs.ssl.v3.SubjectInput":             true,
	"envoy.extensions.matching.common_inputs.network.v3.ServerNameInput":      true,
	"envoy.extensions.matching.common_inputs.network.v3.DestinationIPInput":   true,
	"envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput": true,
	"envoy.extensions.matching.common_inputs.network.v3.SourceIPInput":        true,
	"envoy.extensions.matching.common_inputs.network.v3.SourcePortInput":      true,
	"envoy.extensions.matching.common_inputs.network.v3.DirectSourceIPInput":  true,
	"envoy.extensions.matching.common_inputs.network.v3.DynamicMetadataInput": true,
	"envoy.extensions.matching.input_matchers.ip.v3.Ip":                       true,
	"envoy.extensions.matching.input_matchers.metadata.v3.Metadata":           true,
	"envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig":      true,
	"envoy.extensions.rbac.principals.mtls_authenticated.v3.Config":           true,
	"xds.type.matcher.v3.IPMatcher":                                           true,
	"xds.type.matcher.v3.ServerNameMatcher":                                   true,
}

// inspect tells what in an RBAC filter cannot be replayed, and what no policy can
// say.
func inspect(m proto.Message, tell func(dump.Unknown)) {
	v := messages.Visitor{
		Closed: func(typeURL, reason string, at *messages.Path) {
			tell(dump.Unknown{Kind: dump.Lost, Type: typeURL, Path: at.String(), Reason: reason})
		},
		Opened: func(typeURL string, faults []messages.Fault, at *messages.Path) {
			for _, f := range faults {
				tell(dump.Unknown{Kind: dump.Lost, Path: f.Path.String(), Reason: f.What})
			}
			if !understood[messages.Name(typeURL)] {
				tell(dump.Unknown{Kind: dump.Opaque, Type: typeURL, Path: at.String(), Reason: "no policy can ask for this"})
			}
		},
		Message: func(m protoreflect.Message, at *messages.Path) {
			for _, reason := range append(oddities(m.Interface()), deprecated(m)...) {
				tell(dump.Unknown{Kind: dump.Opaque, Path: at.String(), Reason: reason})
			}
			if logs(m.Interface()) {
				tell(dump.Unknown{Kind: dump.Note, Path: at.String(), Reason: "action LOG refuses no request"})
			}
		},
	}
	v.Visit(m.ProtoReflect())
}

func oddities(m proto.Message) (out []string) {
	add := func(odd bool, reason string) {
		if odd {
			out = append(out, reason)
		}
	}
	switch m := m.(type) {
	case *networkrbacv3.RBAC:
		add(m.GetDelayDeny().AsDuration() != 0, "delay_deny: a caller who is denied hears for so long what the workload says by itself")
		add(m.Rules != nil && m.Matcher != nil, "rules beside a matcher: Envoy judges by the matcher")
		add(m.ShadowRules != nil && m.ShadowMatcher != nil, "shadow rules beside a shadow matcher: Envoy judges by the matcher")
	case *httprbacv3.RBAC:
		add(m.Rules != nil && m.Matcher != nil, "rules beside a matcher: Envoy judges by the matcher")
		add(m.ShadowRules != nil && m.ShadowMatcher != nil, "shadow rules beside a shadow matcher: Envoy judges by the matcher")
	case *rbacv3.Policy:
		add(m.Condition != nil || m.CheckedCondition != nil, "a condition in CEL")
	case *envoymatcherv3.MetadataMatcher:
		add(!ofToken(m.Filter, m.Path), metadataOfOthers)
	case *networkinputsv3.DynamicMetadataInput:
		add(!ofToken(m.Filter, m.Path), metadataOfOthers)
	case *envoymatcherv3.FilterStateMatcher:
		out = append(out, "it asks for filter state, which another filter writes")
	case *matcherv3.Matcher_OnMatch:
		add(m.KeepMatching, "keep_matching: Envoy refuses it in an RBAC filter")
	}
	return out
}

const metadataOfOthers = "it asks for metadata, which another filter writes"

// ofToken reports whether metadata is a claim of a token. The filter for tokens writes it, and
// no other filter in front of RBAC that is not told about.
func ofToken[S interface{ GetKey() string }](filter string, path []S) bool {
	keys := make([]string, len(path))
	for i, segment := range path {
		keys[i] = segment.GetKey()
	}
	return rbac.ShownByClaim(filter, keys) != nil
}

// logs reports whether rules or an action only log.
func logs(m proto.Message) bool {
	of, ok := m.(interface{ GetAction() rbacv3.RBAC_Action })
	return ok && of.GetAction() == rbacv3.RBAC_LOG
}

// ofIstio are the deprecated fields that every Istio writes. Each Envoy that is asked takes them.
var ofIstio = map[protoreflect.FullName]bool{"envoy.config.rbac.v3.Principal.metadata": true}

func deprecated(m protoreflect.Message) (out []string) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		options, ok := field.Options().(*descriptorpb.FieldOptions)
		if ok && options.GetDeprecated() && m.Has(field) && !ofIstio[field.FullName()] {
			out = append(out, fmt.Sprintf("field %q of %s is deprecated: Envoy may refuse it", field.TextName(), m.Descriptor().Name()))
		}
	}
	return out
}

// decidingFilters may answer by themselves, or change what an RBAC filter sees. The text
// says how.
var decidingFilters = map[string]string{
	"envoy.extensions.filters.http.admission_control.v3.AdmissionControl":          "refuses requests above a limit",
	"envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency":    "refuses requests above a limit",
	"envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth":                     "refuses requests without a key",
	"envoy.extensions.filters.http.basic_auth.v3.BasicAuth":                        "refuses requests without a password",
	"envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit":              "delays requests and answers",
	"envoy.extensions.filters.http.buffer.v3.Buffer":                               "waits for whole requests, and refuses those above a limit",
	"envoy.extensions.filters.http.compressor.v3.Compressor":                       "compresses bodies",
	"envoy.extensions.filters.http.cors.v3.Cors":                                   "answers preflight requests",
	"envoy.extensions.filters.http.csrf.v3.CsrfPolicy":                             "refuses requests of another origin",
	"envoy.extensions.filters.http.decompressor.v3.Decompressor":                   "unpacks bodies",
	"envoy.extensions.filters.http.ext_authz.v3.ExtAuthz":                          "asks another service for its verdict",
	"envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor":                  "lets another service answer or change the request",
	"envoy.extensions.filters.http.fault.v3.HTTPFault":                             "aborts or delays requests",
	"envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder":     "changes method and path",
	"envoy.extensions.filters.http.grpc_web.v3.GrpcWeb":                            "turns gRPC-Web into gRPC",
	"envoy.extensions.filters.http.header_mutation.v3.HeaderMutation":              "changes headers",
	"envoy.extensions.filters.http.header_to_metadata.v3.Config":                   "writes metadata, and may take headers away",
	"envoy.extensions.filters.http.health_check.v3.HealthCheck":                    "answers health checks",
	"envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication":                 "refuses requests without a sound token",
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit":              "refuses requests above a limit",
	"envoy.extensions.filters.http.lua.v3.Lua":                                     "runs a script, which may answer or change the request",
	"envoy.extensions.filters.http.oauth2.v3.OAuth2":                               "sends callers away to log in",
	"envoy.extensions.filters.http.ratelimit.v3.RateLimit":                         "refuses requests above a limit",
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig": "refuses requests above a limit",
	"envoy.extensions.filters.http.set_filter_state.v3.Config":                     "writes filter state",
	"envoy.extensions.filters.http.wasm.v3.Wasm":                                   "runs code of its own, which may answer or change the request",
	"envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit":         "closes connections above a limit",
	"envoy.extensions.filters.network.ext_authz.v3.ExtAuthz":                       "asks another service for its verdict",
	"envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit":           "closes connections above a limit",
	mongoProxy:  "reads the protocol of MongoDB, and delays connections",
	kafkaBroker: "reads the protocol of Kafka, and may end connections and change answers",
	"envoy.extensions.filters.network.ratelimit.v3.RateLimit":           "closes connections above a limit",
	"envoy.extensions.filters.network.set_filter_state.v3.Config":       "writes filter state",
	"envoy.extensions.filters.network.wasm.v3.Wasm":                     "runs code of its own, which may close connections",
	"envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol": "lets callers say source and destination in a PROXY header",
	"cilium.BpfMetadata":   "takes source and destination from Cilium's datapath",
	"cilium.NetworkFilter": "decides by policies that Cilium's agent gives it, and no dump has them",
	"cilium.L7Policy":      "decides by policies that Cilium's agent gives it, and no dump has them",
}

// containedFilters do nothing behind RBAC but refuse, delay, change, count or answer what
// they meet. All others go on: they may authorize by what RBAC wrote, choose the workload, or
// send requests of their own, which pass no RBAC of the inbound that they reach.
var containedFilters = map[string]bool{
	"envoy.extensions.filters.http.admission_control.v3.AdmissionControl":       true,
	"envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency": true,
	"envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth":                  true,
	"envoy.extensions.filters.http.basic_auth.v3.BasicAuth":                     true,
	"envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit":           true,
	"envoy.extensions.filters.http.buffer.v3.Buffer":                            true,
	"envoy.extensions.filters.http.compressor.v3.Compressor":                    true,
	"envoy.extensions.filters.http.cors.v3.Cors":                                true,
	"envoy.extensions.filters.http.csrf.v3.CsrfPolicy":                          true,
	"envoy.extensions.filters.http.decompressor.v3.Decompressor":                true,
	"envoy.extensions.filters.http.fault.v3.HTTPFault":                          true,
	"envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder":  true,
	"envoy.extensions.filters.http.grpc_web.v3.GrpcWeb":                         true,
	"envoy.extensions.filters.http.header_mutation.v3.HeaderMutation":           true,
	"envoy.extensions.filters.http.header_to_metadata.v3.Config":                true,
	"envoy.extensions.filters.http.health_check.v3.HealthCheck":                 true,
	"envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit":           true,
	"envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit":      true,
	"envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit":        true,
	// They ask a service for limits. Where its cluster leads is looked at as for a logger.
	"envoy.extensions.filters.http.ratelimit.v3.RateLimit":    true,
	"envoy.extensions.filters.network.ratelimit.v3.RateLimit": true,
	mongoProxy:  true,
	kafkaBroker: true,
}

// rewritingFilters are the contained filters that may change the path or the method.
var rewritingFilters = map[string]bool{
	"envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder": true,
	"envoy.extensions.filters.http.header_mutation.v3.HeaderMutation":          true,
}

// wrappingFilters run other filters under conditions of their own, RBAC filters too.
var wrappingFilters = map[string]bool{
	"envoy.extensions.common.matching.v3.ExtensionWithMatcher":        true,
	"envoy.extensions.filters.http.composite.v3.Composite":            true,
	"envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig": true,
}

// roleOf returns what a filter that is no RBAC filter means for the RBAC filters.
func roleOf(message string) (kind dump.Kind, reason string, tell bool) {
	switch how, ok := decidingFilters[message]; {
	case passing[message] != nil:
		return 0, "", false
	case wrappingFilters[message]:
		return dump.Lost, "it runs other filters under conditions of its own", true
	case ok:
		return dump.BesideRBAC, "it " + how, true
	default:
		return dump.BesideRBAC, "meshproof does not know what this filter does", true
	}
}

// The messages that tell how a filter chain is read.
const (
	networkRBAC      = messages.NetworkRBAC
	httpRBAC         = messages.HTTPRBAC
	routeRBAC        = messages.RouteRBAC
	routeFilter      = "envoy.config.route.v3.FilterConfig"
	httpManager      = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
	tcpProxy         = "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"
	originalDst      = "envoy.extensions.filters.listener.original_dst.v3.OriginalDst"
	tlsInspector     = "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector"
	directResponse   = "envoy.extensions.filters.network.direct_response.v3.Config"
	router           = "envoy.extensions.filters.http.router.v3.Router"
	downstreamTLS    = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
	spiffeValidator  = "envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig"
	rawBuffer        = "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"
	peerMetadata     = "io.istio.http.peer_metadata.Config"
	metadataExchange = "envoy.tcp.metadataexchange.config.MetadataExchange"
	istioStats       = "stats.PluginConfig"
	uuidRequestID    = "envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig"
	mongoProxy       = "envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy"
	kafkaBroker      = "envoy.extensions.filters.network.kafka_broker.v3.KafkaBroker"
	upstreamTLS      = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"
)

func typeURL(m proto.Message) string {
	return "type.googleapis.com/" + string(m.ProtoReflect().Descriptor().FullName())
}
