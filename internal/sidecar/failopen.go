package sidecar

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/messages"
)

// knownReaching lists the fields of a cluster that keep no request from its endpoints. All others may: a pool that takes none, a
// subset that no endpoint is in, a check of health or an ejection that leaves none, an address to connect from.
var knownReaching = messages.Closed{
	"envoy.config.cluster.v3.Cluster": {
		messages.Read: "circuit_breakers typed_extension_protocol_options common_lb_config",
		apart:         "name type cluster_type eds_cluster_config connect_timeout filters",
		measures:      "alt_stat_name stats_matcher metadata lrs_server lrs_report_endpoint_metrics track_timeout_budgets track_cluster_stats",
		// Whether the authorizer takes the handshake, no dump says.
		presents: "lb_policy transport_socket transport_socket_matches upstream_connection_options http2_protocol_options",
	},
	"envoy.config.cluster.v3.CircuitBreakers": {messages.Read: "thresholds"},
	"envoy.config.cluster.v3.CircuitBreakers.Thresholds": {
		apart:    "max_connections max_pending_requests max_requests",
		measures: "track_remaining",
		presents: "priority max_retries retry_budget",
	},
	"envoy.config.cluster.v3.Cluster.CommonLbConfig": {presents: "locality_weighted_lb_config"},
	"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
		messages.Read: "explicit_http_config",
		presents:      "upstream_http_protocol_options",
	},
	"envoy.extensions.upstreams.http.v3.HttpProtocolOptions.ExplicitHttpConfig": {messages.Read: "http2_protocol_options"},
	"envoy.config.core.v3.Http2ProtocolOptions":                                 {limits: "max_concurrent_streams"},
}

var checkReaching = knownReaching.Checker()

// failsBy says why requests may not reach an authorizer behind a cluster, "" for nothing. They pass then, where the filter fails open.
func failsBy(c *clusterv3.Cluster) (reason string) {
	if limitsRequests(c) {
		reason = "takes fewer requests, or waits less for a connection, than Envoy does by default"
	}
	checkReaching(c.ProtoReflect(), nil, func(at *messages.Path, why string) {
		reason = cmp.Or(reason, fmt.Sprintf("may take no request: %s: %s", at, why))
	})
	if !speaksHTTP2(c) {
		reason = cmp.Or(reason, "does not speak HTTP/2, by which gRPC asks")
	}
	if reason != "" {
		reason += ", and a request that does not reach the authorizer passes"
	}
	return reason
}

// limitsRequests reports whether a cluster refuses requests sooner than one without limits of its own
// (envoy.config.cluster.v3.CircuitBreakers.Thresholds, Cluster.connect_timeout).
func limitsRequests(c *clusterv3.Cluster) bool {
	const requests, wait = 1024, time.Second
	fewer := func(most *wrapperspb.UInt32Value) bool { return most != nil && most.Value < requests }
	thresholds := c.GetCircuitBreakers().GetThresholds()
	return c.ConnectTimeout != nil && c.ConnectTimeout.AsDuration() < wait ||
		slices.ContainsFunc(thresholds, func(t *clusterv3.CircuitBreakers_Thresholds) bool {
			return fewer(t.MaxConnections) || fewer(t.MaxPendingRequests) || fewer(t.MaxRequests)
		})
}

// speaksHTTP2 reports whether a cluster has options for HTTP/2. A cluster without any speaks HTTP/1.1.
func speaksHTTP2(c *clusterv3.Cluster) (found bool) {
	eachMessage(c, func(m proto.Message) {
		_, ok := m.(*corev3.Http2ProtocolOptions)
		found = found || ok
	})
	return found
}
