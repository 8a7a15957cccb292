package authorizerfilter

import (
	"errors"
	"fmt"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	httpauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	networkauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ext_authz/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/messages"
)

// FromHTTP reads a filter back. The prefix is that of the shadow in front. Whether the authorizer
// answers is not in the filter. The error says what of the filter no authorizer of
// the lab can stand for.
func FromHTTP(f *httpauthzv3.ExtAuthz, prefix string) (authorizer.Authorizer, error) {
	if err := messages.KnowsOnly(f, "grpc_service", "transport_api_version", "failure_mode_allow", "encode_raw_headers", "filter_enabled_metadata", "status_on_error"); err != nil {
		return authorizer.Authorizer{}, err
	}
	out := authorizer.Authorizer{FailOpen: f.FailureModeAllow, StatusOnError: int(f.GetStatusOnError().GetCode())}
	return withProvider(out, f.GetGrpcService(), f.TransportApiVersion, f.FilterEnabledMetadata, httpFilter, prefix)
}

// FromNetwork does for connections what [FromHTTP] does for requests.
func FromNetwork(f *networkauthzv3.ExtAuthz, prefix string) (authorizer.Authorizer, error) {
	if err := messages.KnowsOnly(f, "stat_prefix", "grpc_service", "transport_api_version", "failure_mode_allow", "include_tls_session", "filter_enabled_metadata"); err != nil {
		return authorizer.Authorizer{}, err
	}
	out := authorizer.Authorizer{FailOpen: f.FailureModeAllow}
	return withProvider(out, f.GrpcService, f.TransportApiVersion, f.FilterEnabledMetadata, networkFilter, prefix)
}

// The filters of RBAC whose shadows say what is asked about.
const (
	httpFilter    = "envoy.filters.http.rbac"
	networkFilter = "envoy.filters.network.rbac"
)

// withProvider adds the provider, which stands in the condition under which the filter asks, and
// checks how it asks.
func withProvider(a authorizer.Authorizer, service *corev3.GrpcService, version corev3.ApiVersion, enabled *matcherv3.MetadataMatcher, filter, prefix string) (authorizer.Authorizer, error) {
	provider, ours := strings.CutPrefix(enabled.GetValue().GetStringMatch().GetPrefix(), OriginPrefix(""))
	grpc := service.GetEnvoyGrpc()
	a.Provider, a.Cluster, a.Authority, a.Timeout = provider, grpc.GetClusterName(), grpc.GetAuthority(), service.GetTimeout().AsDuration()
	err := messages.KnowsOnly(service, "envoy_grpc", "timeout")
	if err == nil && grpc != nil {
		err = messages.KnowsOnly(grpc, "cluster_name", "authority")
	}
	switch {
	case grpc == nil:
		return a, errors.New("it asks by another protocol than gRPC of Envoy (grpc_service.envoy_grpc)")
	case err != nil:
		return a, fmt.Errorf("grpc_service: %w", err)
	case version != corev3.ApiVersion_V3:
		return a, errors.New("it asks in another version than V3 (transport_api_version)")
	case !ours || provider == "" || !proto.Equal(enabled, matched(filter, provider, prefix)):
		return a, fmt.Errorf("it does not ask where the shadow %q in front of it has matched by a rule %s… (filter_enabled_metadata)", prefix, OriginPrefix("provider"))
	}
	return a, nil
}
