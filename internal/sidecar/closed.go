package sidecar

import (
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/local_ratelimit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ratelimit/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/http/header_formatters/preserve_case/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/cluster_provided/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/least_request/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/maglev/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/random/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/ring_hash/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/round_robin/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/network/dns_resolver/apple/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/network/dns_resolver/cares/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/network/dns_resolver/getaddrinfo/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/request_id/uuid/v3"

	"github.com/meshproof/meshproof/internal/messages"
)

// Why fields decide nothing about who passes RBAC.
const (
	apart    = "the reader looks at it by itself"
	measures = "it names, measures, traces or logs"
	limits   = "it limits sizes, times or numbers: it can only end a request"
	answers  = "it changes an answer, or answers without the workload"
	forwards = "it changes what is forwarded, behind RBAC"
	narrows  = "it only refuses more certificates"
	presents = "it is about what the sidecar itself presents, or about the form of the connection"
	unread   = "it is about headers, addresses and authorities; a policy that reads these is a loss by itself"
)

// known lists the fields from the listener down to the filters and the routes.
// go-control-plane has the definitions.
var known = messages.Closed{
	"envoy.config.listener.v3.Listener": {
		messages.Read: "address additional_addresses filter_chains default_filter_chain listener_filters connection_balance_config",
		apart:         "name traffic_direction use_original_dst udp_listener_config api_listener internal_listener fcds_config filter_chain_matcher socket_options",
		measures:      "stat_prefix stats_matcher metadata access_log",
		limits: `per_connection_buffer_limit_bytes per_connection_buffer_high_watermark_timeout listener_filters_timeout
			continue_on_listener_filters_timeout tcp_backlog_size max_connections_to_accept_per_socket_event ignore_global_conn_limit
			bypass_overload_manager`,
		presents: `deprecated_v1 bind_to_port drain_type freebind transparent tcp_fast_open_queue_length reuse_port
			enable_reuse_port enable_mptcp tcp_keepalive`,
	},
	// Another balancer is an extension, which may run code.
	"envoy.config.listener.v3.Listener.ConnectionBalanceConfig": {presents: "exact_balance"},
	"envoy.config.core.v3.Address":                              {messages.Read: "socket_address"},
	"envoy.config.core.v3.SocketAddress":                        {apart: "protocol address port_value ipv4_compat"},
	"envoy.config.listener.v3.AdditionalAddress":                {messages.Read: "address", presents: "tcp_keepalive"},
	"envoy.config.listener.v3.ListenerFilter":                   {apart: "name typed_config config_discovery filter_disabled"},
	"envoy.config.listener.v3.Filter":                           {apart: "name typed_config config_discovery"},
	"envoy.config.core.v3.TransportSocket":                      {apart: "name typed_config"},
	"envoy.config.core.v3.AggregatedConfigSource":               {},
	"envoy.config.listener.v3.FilterChain": {
		messages.Read: "filters transport_socket",
		// Each chain is an inbound of its own, for every connection that it may match.
		apart:    "name filter_chain_match",
		measures: "metadata",
		limits:   "transport_socket_connect_timeout",
	},
	httpManager: {
		messages.Read: "http_filters upgrade_configs common_http_protocol_options http_protocol_options http2_protocol_options request_id_extension",
		apart: `codec_type stat_prefix rds route_config scoped_routes normalize_path merge_slashes path_with_escaped_slashes_action
			http3_protocol_options use_remote_address xff_num_trusted_hops original_ip_detection_extensions`,
		measures: `tracing access_log access_log_flush_interval flush_access_log_on_new_request access_log_options proxy_status_config
			record_route_resolution_stats`,
		limits: `http1_safe_max_connection_duration max_request_headers_kb stream_idle_timeout stream_flush_timeout request_timeout
			request_headers_timeout drain_timeout drain_timeout_jitter delayed_close_timeout stream_error_on_invalid_http_message
			append_local_overload`,
		answers: "server_name server_header_transformation always_set_request_id_in_response local_reply_config proxy_100_continue",
		unread: `add_user_agent scheme_header_transformation internal_address_config skip_xff_append via
			generate_request_id preserve_external_request_id forward_client_cert_details set_current_client_cert_details
			forward_client_cert_matcher represent_ipv4_remote_address_as_ipv4_mapped_ipv6 strip_matching_host_port strip_any_host_port
			strip_trailing_host_dot append_x_forwarded_port add_proxy_protocol_connection_state forward_proto_config`,
	},
	"envoy.extensions.filters.network.http_connection_manager.v3.RequestIDExtension": {messages.Read: "typed_config"},
	uuidRequestID: {unread: "pack_trace_reason use_request_id_for_trace_sampling"},
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter":                          {apart: "name typed_config config_discovery is_optional disabled"},
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.UpgradeConfig": {apart: "upgrade_type filters enabled"},
	"envoy.config.core.v3.HttpProtocolOptions": {
		limits: `idle_timeout max_connection_duration max_connection_duration_jitter max_headers_count max_response_headers_kb
			max_stream_duration max_requests_per_connection`,
		unread: "headers_with_underscores_action",
	},
	"envoy.config.core.v3.Http1ProtocolOptions": {
		// Without absolute URLs, a whole URL is the path.
		apart:  "allow_absolute_url",
		limits: "override_stream_error_on_invalid_http_message enable_trailers",
		unread: "accept_http_10 default_host_for_http_10 header_key_format",
	},
	"envoy.config.core.v3.Http2ProtocolOptions": {
		limits: `hpack_table_size max_concurrent_streams initial_stream_window_size initial_connection_window_size max_outbound_frames
			max_outbound_control_frames max_consecutive_inbound_frames_with_empty_payload max_inbound_priority_frames_per_stream
			max_inbound_window_update_frames_per_data_frame_sent stream_error_on_invalid_http_messaging
			override_stream_error_on_invalid_http_message connection_keepalive max_header_field_size_kb stream_reset_burst stream_reset_rate`,
	},
	"envoy.config.route.v3.RouteConfiguration": {
		messages.Read: "virtual_hosts",
		apart:         "vhds typed_per_filter_config",
		measures:      "name metadata",
		answers:       "response_headers_to_add response_headers_to_remove max_direct_response_body_size_bytes",
		forwards: `request_headers_to_add request_headers_to_remove most_specific_header_mutations_wins validate_clusters
			request_mirror_policies`,
		unread: "internal_only_headers ignore_port_in_host_matching",
	},
	"envoy.config.route.v3.VirtualHost": {
		messages.Read: "routes",
		apart:         "domains typed_per_filter_config",
		measures:      "name virtual_clusters metadata",
		limits:        "rate_limits retry_policy hedge_policy per_request_buffer_limit_bytes request_body_buffer_limit",
		answers:       "require_tls response_headers_to_add response_headers_to_remove cors include_attempt_count_in_response",
		forwards: `request_headers_to_add request_headers_to_remove include_request_attempt_count include_is_timeout_retry_header
			request_mirror_policies`,
	},
	"envoy.config.route.v3.Route": {
		messages.Read: "route",
		// All routes pass the same filters. Where one has filters of its own, package lift
		// reads the match.
		apart:    "match typed_per_filter_config",
		measures: "name metadata decorator tracing stat_prefix",
		limits:   "per_request_buffer_limit_bytes request_body_buffer_limit",
		answers:  "redirect direct_response response_headers_to_add response_headers_to_remove",
		forwards: "request_headers_to_add request_headers_to_remove",
	},
	"envoy.config.route.v3.RouteAction": {
		messages.Read: "weighted_clusters upgrade_configs",
		apart:         "cluster",
		limits: `timeout idle_timeout flush_timeout retry_policy max_grpc_timeout grpc_timeout_offset hedge_policy max_stream_duration
			rate_limits include_vh_rate_limits`,
		answers: "cluster_not_found_response_code cors",
		// A request that is redirected inside Envoy passes all filters again.
		forwards: `metadata_match prefix_rewrite regex_rewrite path_rewrite path_rewrite_policy host_rewrite_literal auto_host_rewrite
			host_rewrite_header host_rewrite_path_regex host_rewrite append_x_forwarded_host request_mirror_policies priority hash_policy
			internal_redirect_policy internal_redirect_action max_internal_redirects`,
	},
	"envoy.config.route.v3.RouteAction.UpgradeConfig": {apart: "upgrade_type enabled"},
	"envoy.config.route.v3.WeightedCluster":           {messages.Read: "clusters", forwards: "total_weight runtime_key_prefix use_hash_policy"},
	"envoy.config.route.v3.WeightedCluster.ClusterWeight": {
		apart:    "name typed_per_filter_config",
		answers:  "response_headers_to_add response_headers_to_remove",
		forwards: "weight metadata_match request_headers_to_add request_headers_to_remove host_rewrite_literal",
	},
	routeFilter: {apart: "config is_optional disabled"},
	"envoy.extensions.http.original_ip_detection.xff.v3.XffConfig": {apart: "xff_num_trusted_hops", unread: "skip_xff_append"},
	"envoy.extensions.filters.http.lua.v3.Lua": {
		apart:    "source_codes default_source_code inline_code",
		measures: "stat_prefix filter_context",
		forwards: "clear_route_cache",
	},
	"envoy.extensions.filters.http.lua.v3.LuaPerRoute": {apart: "disabled name source_code", measures: "filter_context"},
}

var checkKnown = known.Checker()

// passing lists the fields of filters that neither decide nor change what an RBAC filter
// sees, and that send requests nowhere but to their own clusters.
var passing = messages.Closed{
	tcpProxy: {
		apart:    "cluster weighted_clusters",
		measures: "stat_prefix access_log access_log_flush_interval flush_access_log_on_connected access_log_options",
		limits: `idle_timeout downstream_idle_timeout upstream_idle_timeout max_connect_attempts backoff_options
			max_downstream_connection_duration max_downstream_connection_duration_jitter_percentage check_drain_close`,
		forwards: "metadata_match hash_policy",
	},
	router: {
		measures: "dynamic_stats start_child_span upstream_log upstream_log_options suppress_grpc_request_failure_code_stats",
		limits:   "respect_expected_rq_timeout strict_check_headers reject_connect_request_early_data",
		answers:  "suppress_envoy_headers",
	},
	directResponse: {answers: "response"},
	"envoy.extensions.filters.http.grpc_stats.v3.FilterConfig": {
		measures: `emit_filter_state individual_method_stats_allowlist stats_for_all_methods enable_upstream_stats
			replace_dots_in_grpc_service_name`,
	},
	"envoy.extensions.filters.http.alternate_protocols_cache.v3.FilterConfig": {answers: "alternate_protocols_cache_options"},
	// Istio's own filters say who callers are, for telemetry. They take away headers of x-envoy-,
	// and a gate that asks for one is opaque.
	peerMetadata: {
		messages.Read: "downstream_discovery upstream_discovery downstream_propagation upstream_propagation",
		measures:      "additional_labels",
		forwards:      "shared_with_upstream",
	},
	peerMetadata + ".DiscoveryMethod":   {messages.Read: "workload_discovery istio_headers"},
	peerMetadata + ".PropagationMethod": {messages.Read: "istio_headers"},
	peerMetadata + ".WorkloadDiscovery": {},
	peerMetadata + ".IstioHeaders":      {forwards: "skip_external_clusters"},
	metadataExchange:                    {measures: "enable_discovery additional_labels", presents: "protocol"},
	istioStats: {measures: `disable_host_header_fallback tcp_reporting_duration metrics definitions reporter rotation_interval
		graceful_deletion_interval`},
	"istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig": {forwards: "alpn_override"},
	tlsInspector: {
		measures: "enable_ja3_fingerprinting enable_ja4_fingerprinting",
		limits:   "initial_read_buffer_size close_connection_on_client_hello_parsing_errors max_client_hello_size",
	},
	"envoy.extensions.filters.listener.http_inspector.v3.HttpInspector": {},
	originalDst: {},
	"envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit": {measures: "stat_prefix", limits: "token_bucket runtime_enabled"},
	// The workload sees the address of the caller, as it does without a sidecar.
	"envoy.extensions.filters.listener.original_src.v3.OriginalSrc": {forwards: "mark bind_port"},
}

var checkPassing = passing.Checker()

// knownCluster lists the fields of clusters that lead nowhere but to the endpoints of the
// cluster.
var knownCluster = messages.Closed{
	"envoy.config.cluster.v3.Cluster": {
		messages.Read: `transport_socket transport_socket_matches typed_extension_protocol_options upstream_bind_config
			typed_dns_resolver_config filters load_balancing_policy`,
		apart: "name type cluster_type original_dst_lb_config load_assignment",
		measures: `alt_stat_name stats_matcher metadata health_checks outlier_detection lrs_server lrs_report_endpoint_metrics
			track_timeout_budgets track_cluster_stats`,
		limits: `connect_timeout per_connection_buffer_limit_bytes per_connection_buffer_high_watermark_timeout max_requests_per_connection
			circuit_breakers wait_for_warm_on_init cleanup_interval close_connections_on_host_health_failure
			ignore_health_on_host_removal preconnect_policy connection_pool_per_downstream_connection`,
		forwards: `eds_cluster_config lb_policy lb_subset_config ring_hash_lb_config maglev_lb_config least_request_lb_config
			round_robin_lb_config common_lb_config`,
		presents: `upstream_http_protocol_options common_http_protocol_options http_protocol_options http2_protocol_options
			protocol_selection upstream_connection_options dns_refresh_rate dns_jitter dns_failure_refresh_rate respect_dns_ttl
			dns_lookup_family dns_resolvers use_tcp_for_dns_lookups dns_resolution_config`,
	},
	// Each of these balancers is the one of lb_policy under another name: it chooses among the endpoints of the cluster. Others may ask for
	// another host, or ask endpoints by themselves.
	"envoy.config.cluster.v3.LoadBalancingPolicy":                                  {messages.Read: "policies"},
	"envoy.config.cluster.v3.LoadBalancingPolicy.Policy":                           {messages.Read: "typed_extension_config"},
	"envoy.extensions.load_balancing_policies.cluster_provided.v3.ClusterProvided": {},
	"envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin":           {forwards: "locality_lb_config slow_start_config"},
	"envoy.extensions.load_balancing_policies.random.v3.Random":                    {forwards: "locality_lb_config"},
	"envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest": {
		forwards: "choice_count active_request_bias slow_start_config locality_lb_config enable_full_scan selection_method",
	},
	"envoy.extensions.load_balancing_policies.ring_hash.v3.RingHash": {
		forwards: `hash_function minimum_ring_size maximum_ring_size use_hostname_for_hashing hash_balance_factor consistent_hashing_lb_config
			locality_weighted_lb_config`,
	},
	"envoy.extensions.load_balancing_policies.maglev.v3.Maglev": {forwards: "table_size consistent_hashing_lb_config locality_weighted_lb_config"},
	"envoy.config.cluster.v3.Filter":                            {messages.Read: "typed_config", measures: "name"},
	metadataExchange:                                            {measures: "enable_discovery additional_labels", presents: "protocol"},
	"envoy.config.core.v3.TypedExtensionConfig":                 {messages.Read: "typed_config", measures: "name"},
	"envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig": {presents: `resolvers use_resolvers_as_fallback
		filter_unroutable_families dns_resolver_options udp_max_queries query_timeout_seconds query_tries rotate_nameservers
		edns0_max_payload_size max_udp_channel_duration reinit_channel_on_timeout qcache_max_ttl`},
	"envoy.extensions.network.dns_resolver.apple.v3.AppleDnsResolverConfig":             {presents: "include_unroutable_families"},
	"envoy.extensions.network.dns_resolver.getaddrinfo.v3.GetAddrInfoDnsResolverConfig": {presents: "num_retries num_resolver_threads"},
	"envoy.config.cluster.v3.Cluster.TransportSocketMatch":                              {messages.Read: "transport_socket", apart: "name match"},
	"envoy.config.core.v3.TransportSocket":                                              {messages.Read: "typed_config", apart: "name"},
	rawBuffer:                                                                           {},
	upstreamTLS: {presents: `common_tls_context sni auto_host_sni auto_sni_san_validation allow_renegotiation max_session_keys
		enforce_rsa_key_usage`},
	"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
		presents: `common_http_protocol_options upstream_http_protocol_options explicit_http_config use_downstream_protocol_config
			auto_config`,
		measures: "outlier_detection",
		limits:   "retry_policy",
		forwards: "hash_policy",
	},
	"envoy.config.core.v3.BindConfig":         {messages.Read: "source_address extra_source_addresses", presents: "freebind"},
	"envoy.config.core.v3.ExtraSourceAddress": {messages.Read: "address"},
	"envoy.config.endpoint.v3.ClusterLoadAssignment": {
		messages.Read: "endpoints", measures: "cluster_name", forwards: "policy",
	},
	"envoy.config.endpoint.v3.LocalityLbEndpoints": {
		messages.Read: "lb_endpoints", measures: "locality metadata", forwards: "load_balancing_weight priority proximity",
	},
	"envoy.config.endpoint.v3.LbEndpoint": {
		messages.Read: "endpoint", measures: "health_status metadata", forwards: "load_balancing_weight",
	},
	"envoy.config.endpoint.v3.Endpoint":  {messages.Read: "address", measures: "health_check_config observability_name", presents: "hostname"},
	"envoy.config.core.v3.Address":       {messages.Read: "socket_address"},
	"envoy.config.core.v3.SocketAddress": {apart: "protocol address port_value ipv4_compat"},
}

var checkCluster = knownCluster.Checker()

// knownTLS lists the fields of mTLS that prove an identity.
var knownTLS = messages.Closed{
	downstreamTLS: {
		messages.Read: "common_tls_context",
		apart:         "require_client_certificate session_timeout",
		narrows:       "require_sni disable_stateless_session_resumption disable_stateful_session_resumption",
		presents:      "ocsp_staple_policy full_scan_certs_on_sni_mismatch prefer_client_ciphers",
	},
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext": {
		messages.Read: "validation_context combined_validation_context validation_context_sds_secret_config",
		presents:      "tls_params tls_certificates tls_certificate_sds_secret_configs tls_certificate_provider_instance alpn_protocols",
	},
	"envoy.extensions.transport_sockets.tls.v3.CommonTlsContext.CombinedCertificateValidationContext": {
		messages.Read: "default_validation_context validation_context_sds_secret_config",
	},
	"envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig": {messages.Read: "sds_config", apart: "name"},
	"envoy.config.core.v3.ConfigSource":                         {apart: "ads api_config_source", limits: "initial_fetch_timeout resource_api_version"},
	"envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext": {
		messages.Read: "custom_validator_config",
		apart:         "trusted_ca match_typed_subject_alt_names match_subject_alt_names",
		narrows:       "verify_certificate_spki verify_certificate_hash crl only_verify_leaf_cert_crl max_verify_depth require_signed_certificate_timestamp",
		presents:      "suppress_client_ca_list",
	},
	"envoy.config.core.v3.TypedExtensionConfig": {messages.Read: "typed_config", measures: "name"},
	spiffeValidator: {messages.Read: "trust_domains"},
	"envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig.TrustDomain": {apart: "name trust_bundle"},
}

var checkTLS = knownTLS.Checker()
