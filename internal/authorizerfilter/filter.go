// Package authorizerfilter turns an authorizer into Envoy's filters that ask it,
// envoy.filters.http.ext_authz and envoy.filters.network.ext_authz, and back.
//
// It guarantees that the filter asks only about a request, as in Istio, that the shadow of the
// RBAC filter in front of it has matched by a rule of the provider. A filter that asks otherwise is
// not read back.
package authorizerfilter

import (
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	httpauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	networkauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ext_authz/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshproof/meshproof/internal/authorizer"
)

// timeout bounds the wait for an answer.
const timeout = 10 * time.Second

// Prefix is the shadow_rules_stat_prefix that Istio gives the RBAC filter in front.
const Prefix = "istio_ext_authz_"

// OriginPrefix is the beginning of the names of the rules of a provider.
func OriginPrefix(provider string) string { return "istio-ext-authz-" + provider }

// Unreachable is the metadata of gRPC that tells the authorizer of the lab to give no answer.
const Unreachable = "x-meshproof-unreachable"

// HTTP returns the filter that asks the service. The prefix is that of the shadow in front.
func HTTP(a authorizer.Authorizer, prefix string, service *corev3.GrpcService) *httpauthzv3.ExtAuthz {
	out := &httpauthzv3.ExtAuthz{
		Services:              &httpauthzv3.ExtAuthz_GrpcService{GrpcService: asking(a, service)},
		TransportApiVersion:   corev3.ApiVersion_V3,
		FailureModeAllow:      a.FailOpen,
		EncodeRawHeaders:      true,
		FilterEnabledMetadata: matched(httpFilter, a.Provider, prefix),
	}
	if a.StatusOnError != 0 {
		out.StatusOnError = &typev3.HttpStatus{Code: typev3.StatusCode(a.StatusOnError)}
	}
	return out
}

// Network does for connections what [HTTP] does for requests.
func Network(a authorizer.Authorizer, prefix, stat string, service *corev3.GrpcService) *networkauthzv3.ExtAuthz {
	return &networkauthzv3.ExtAuthz{
		StatPrefix:            stat,
		GrpcService:           asking(a, service),
		TransportApiVersion:   corev3.ApiVersion_V3,
		FailureModeAllow:      a.FailOpen,
		IncludeTlsSession:     true,
		FilterEnabledMetadata: matched(networkFilter, a.Provider, prefix),
	}
}

// asking returns the service as the filter calls it. Envoy would wait for 200 ms by default,
// which a lab under load may need.
func asking(a authorizer.Authorizer, service *corev3.GrpcService) *corev3.GrpcService {
	if service.Timeout == nil {
		service.Timeout = durationpb.New(timeout)
	}
	if a.Unreachable {
		service.InitialMetadata = append(service.InitialMetadata, &corev3.HeaderValue{Key: Unreachable, Value: "true"})
	}
	return service
}

func matched(filter, provider, prefix string) *matcherv3.MetadataMatcher {
	return &matcherv3.MetadataMatcher{
		Filter: filter,
		Path: []*matcherv3.MetadataMatcher_PathSegment{{
			Segment: &matcherv3.MetadataMatcher_PathSegment_Key{Key: prefix + "shadow_effective_policy_id"},
		}},
		Value: &matcherv3.ValueMatcher{MatchPattern: &matcherv3.ValueMatcher_StringMatch{
			StringMatch: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: OriginPrefix(provider)}},
		}},
	}
}
