package verify

import (
	"encoding/json"
	"strings"
)

// forgedPatches are what people put into sidecars by EnvoyFilters and MeshProxyPatches, and what it hides with one field more.
var forgedPatches = []forged{
	// Limits in front of RBAC.
	{"a limit of requests in front", verified, []edit{push(filters, limit(""))}},
	{"a limit of requests in front that may add a header", unverified, []edit{push(filters, limit(`, "request_headers_to_add_when_not_enforced": [{"header": {"key": "x-role", "value": "admin"}}]`))}},
	{"a limit of requests in front, with a new field", unverified, []edit{push(filters, limit(`, "lets_in": true`))}},
	{"a limit of requests in front, by an unknown extension", unverified, []edit{push(filters, limit(`, "rate_limits": [{"actions": [{"extension": {"name": "x", "typed_config": {"@type": "T/acme.Descriptor"}}}]}]`))}},
	{"a limit of requests in front, as a structure", verified, []edit{push(filters, `{"name": "l", "typed_config": `+structured("envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", `{"stat_prefix": "x"}`)+`}`)}},
	{"a limit of requests in front, of a route", verified, []edit{push(filters, limit("")), limitOfRoute("")}},
	{"a limit of requests in front, of a route that may add a header", unverified, []edit{push(filters, limit("")), limitOfRoute(`, "request_headers_to_add_when_not_enforced": [{"header": {"key": "x-role", "value": "admin"}}]`)}},
	{"a limit of requests in front, that a route switches off", verified, []edit{push(filters, limit("")), put(host+".typed_per_filter_config", `{"l": {"@type": "T/envoy.config.route.v3.FilterConfig", "disabled": true}}`)}},
	{"a limit of requests in front, of a route in one more message", verified, []edit{push(filters, limit("")), wrappedLimitOfRoute("")}},
	{"a limit of requests in front, of a route in one more message that may add a header", unverified, []edit{push(filters, limit("")), wrappedLimitOfRoute(`, "request_headers_to_add_when_not_enforced": [{"header": {"key": "x-role", "value": "admin"}}]`)}},
	{"a limit of requests in front, of a route in one more message with a new field", unverified, []edit{push(filters, limit("")), put(host+".typed_per_filter_config", `{"l": {"@type": "T/envoy.config.route.v3.FilterConfig", "disabled": true, "lets_in": true}}`)}},
	{"a limit of requests in front, that a route replaces by a script", unverified, []edit{push(filters, limit("")), put(host+".typed_per_filter_config", `{"l": {"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "source_code": {"inline_string": "function envoy_on_request(h) h:headers():add('x', 'y') end"}}}`)}},
	{"a limit of requests behind, of a route that may add a header", verified, []edit{behindRBAC(limit("")), limitOfRoute(`, "request_headers_to_add_when_not_enforced": [{"header": {"key": "x-role", "value": "admin"}}]`)}},
	{"a limit of new connections in front", verified, []edit{tcpFront("local_ratelimit.v3.LocalRateLimit", `"stat_prefix": "x", "token_bucket": {"max_tokens": 5, "fill_interval": "1s"}`)}},
	{"a limit of new connections in front, with a new field", unverified, []edit{tcpFront("local_ratelimit.v3.LocalRateLimit", `"stat_prefix": "x", "lets_in": true`)}},
	{"a limit of new connections of the listener", verified, []edit{add(listener+".listener_filters", typed("x", "envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit", `"stat_prefix": "x"`))}},

	// Faults of Kuma for some callers.
	{"faults for some callers in front", verified, []edit{push(filters, faultUnless(fault, bySAN, "SkipFilter"))}},
	{"faults for some callers behind", verified, []edit{behindRBAC(faultUnless(fault, bySAN, "SkipFilter"))}},
	{"faults for some callers, twice under one name", verified, []edit{push(filters, faultUnless(fault, bySAN, "SkipFilter")), push(filters, faultUnless(fault, bySAN, "SkipFilter"))}},
	{"faults for some callers, with a new field", unverified, []edit{push(filters, faultUnless(strings.Replace(fault, `"abort"`, `"lets_in": true, "abort"`, 1), bySAN, "SkipFilter"))}},
	{"faults for some callers, by headers of theirs", unverified, []edit{push(filters, faultUnless(strings.Replace(fault, `"http_status": 503`, `"header_abort": {}`, 1), bySAN, "SkipFilter"))}},
	{"faults for some callers, by an unknown input", unverified, []edit{push(filters, faultUnless(fault, strings.Replace(bySAN, uriSAN, "acme.Input", 1), "SkipFilter"))}},
	{"faults for some callers, by a match of its own", unverified, []edit{push(filters, faultUnless(fault, strings.Replace(bySAN, `"value_match": {"prefix": "spiffe://x/"}`, `"custom_match": `+typed("x", "acme.Match", ""), 1), "SkipFilter"))}},
	{"faults for some callers, by another action", unverified, []edit{push(filters, faultUnless(fault, bySAN, "ExecuteFilterAction"))}},
	{"a script for some callers", unverified, []edit{push(filters, faultUnless(lua(), bySAN, "SkipFilter"))}},
	{"a limit for some callers, by an unknown extension", unverified, []edit{push(filters, faultUnless(limit(`, "rate_limits": [{"actions": [{"extension": {"name": "x", "typed_config": {"@type": "T/acme.Descriptor"}}}]}]`), bySAN, "SkipFilter"))}},
	{"RBAC for some callers", unverified, []edit{func(dump any) any {
		return editAt(dump, filters+".0", func(old any) any {
			judge, _ := json.Marshal(old)
			return value(strings.Replace(faultUnless(string(judge), bySAN, "SkipFilter"), `"name": "f"`, `"name": "envoy.filters.http.rbac"`, 1))
		})
	}}},
	{"faults for some callers, of which a route has others", unverified, []edit{push(filters, faultUnless(fault, bySAN, "SkipFilter")), put(host+".typed_per_filter_config", `{"f": {"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "disabled": true}}`)}},
	{"faults for some callers, which a route switches off", verified, []edit{push(filters, faultUnless(fault, bySAN, "SkipFilter")), put(host+".typed_per_filter_config", `{"f": {"@type": "T/envoy.config.route.v3.FilterConfig", "disabled": true}}`)}},
	{"faults for some callers, by the older field", unverified, []edit{push(filters, strings.Replace(faultUnless(fault, bySAN, "SkipFilter"), `"xds_matcher"`, `"matcher"`, 1))}},

	// Filters that stand behind RBAC.
	{"gRPC-Web behind", verified, []edit{behindRBAC(httpFilter("grpc_web.v3.GrpcWeb", ""))}},
	{"gRPC-Web in front", unverified, []edit{push(filters, httpFilter("grpc_web.v3.GrpcWeb", ""))}},
	{"gRPC-Web behind a decision by the type of contents", unverified, []edit{byHeader("content-type"), behindRBAC(httpFilter("grpc_web.v3.GrpcWeb", ""))}},
	{"compression behind", verified, []edit{behindRBAC(httpFilter("compressor.v3.Compressor", `"compressor_library": `+typed("g", "envoy.extensions.compression.gzip.compressor.v3.Gzip", "")))}},
	{"compression behind, by an unknown library", unverified, []edit{behindRBAC(httpFilter("compressor.v3.Compressor", `"compressor_library": `+typed("g", "acme.Library", "")))}},
	{"compression behind a decision by its header", unverified, []edit{byHeader("accept-encoding"), behindRBAC(httpFilter("compressor.v3.Compressor", ""))}},
	{"bodies that are unpacked behind", verified, []edit{behindRBAC(httpFilter("decompressor.v3.Decompressor", ""))}},
	{"whole bodies behind", verified, []edit{behindRBAC(httpFilter("buffer.v3.Buffer", `"max_request_bytes": 5`))}},
	{"a limit of bytes behind", verified, []edit{behindRBAC(httpFilter("bandwidth_limit.v3.BandwidthLimit", ""))}},
	{"metadata of a header behind", verified, []edit{byRole, behindRBAC(httpFilter("header_to_metadata.v3.Config", `"request_rules": [{"header": "x-role", "on_header_present": {"key": "role"}}]`))}},
	{"metadata of a header that goes behind a decision by it", unverified, []edit{byRole, behindRBAC(httpFilter("header_to_metadata.v3.Config", `"request_rules": [{"header": "X-Role", "on_header_present": {"key": "role"}, "remove": true}]`))}},
	{"metadata of the host, which goes behind a decision by it", unverified, []edit{byHeader(":authority"), behindRBAC(httpFilter("header_to_metadata.v3.Config", `"request_rules": [{"header": "host", "on_header_present": {"key": "h"}, "remove": true}]`))}},
	{"a name as the host behind a decision by it", unverified, []edit{byHeader(":authority"), behindRBAC(httpFilter("basic_auth.v3.BasicAuth", `"forward_username_header": ":authority"`))}},
	{"a name as the path behind", unverified, []edit{byRole, behindRBAC(httpFilter("basic_auth.v3.BasicAuth", `"forward_username_header": ":Path"`))}},
	{"metadata of the method, which goes behind", unverified, []edit{byRole, behindRBAC(httpFilter("header_to_metadata.v3.Config", `"request_rules": [{"header": ":method", "on_header_present": {"key": "m"}, "remove": true}]`))}},
	{"a client as the path behind, of a route", unverified, []edit{byRole, behindRBAC(httpFilter("api_key_auth.v3.ApiKeyAuth", "")), put(route+".typed_per_filter_config", `{"x": {"@type": "T/envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute", "forwarding": {"header": ":path"}}}`)}},
	{"metadata of a header in front", unverified, []edit{push(filters, httpFilter("header_to_metadata.v3.Config", ""))}},
	{"headers in the case that callers write, of a cluster", verified, []edit{clusters(withFormatter("envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig"), redis)}},
	{"headers by an unknown formatter, of a cluster", unverified, []edit{clusters(withFormatter("acme.Formatter"), redis)}},
	{"Kuma's own state in front", verified, []edit{tcpFront("set_filter_state.v3.Config", `"on_downstream_tls_handshake": [`+stateOf("kuma.mesh_timeout.match.spiffe_id", "envoy.string", "")+`]`)}},
	{"Kuma's own state in front, and one that chooses the cluster", unverified, []edit{tcpFront("set_filter_state.v3.Config", `"on_downstream_tls_handshake": [`+stateOf("kuma.a", "envoy.string", "")+`], "on_new_connection": [`+stateOf("envoy.tcp_proxy.cluster", "envoy.string", "")+`]`)}},
	{"Kuma's own state in front, of another kind", unverified, []edit{tcpFront("set_filter_state.v3.Config", `"on_new_connection": [`+stateOf("kuma.a", "envoy.ip", "")+`]`)}},
	{"Kuma's own state in front, for what is behind the cluster", unverified, []edit{tcpFront("set_filter_state.v3.Config", `"on_new_connection": [`+stateOf("kuma.a", "envoy.string", `, "shared_with_upstream": "ONCE"`)+`]`)}},
	{"Kafka behind", verified, []edit{at1(tcpChain+".filters", typed("k", "envoy.extensions.filters.network.kafka_broker.v3.KafkaBroker", `"stat_prefix": "x"`))}},
	{"Kafka in front", unverified, []edit{tcpFront("kafka_broker.v3.KafkaBroker", `"stat_prefix": "x"`)}},
	{"limits of a service behind", verified, []edit{limits, behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service in front", unverified, []edit{limits, push(filters, limitsBy(asksLimits))}},
	{"limits of a service behind a decision by a header, which it may add", unverified, []edit{limits, byRole, behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service behind a decision by the host, which it may add", unverified, []edit{limits, byHeader(":authority"), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service that is not in the dump", unverified, []edit{behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service that is the workload", unverified, []edit{clusters(ownCluster, redis, static("limits", "127.0.0.1", 8080)), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service that is the inbound's own cluster", unverified, []edit{behindRBAC(limitsBy(`{"envoy_grpc": {"cluster_name": "self_inbound_dp_http-port"}}`))}},
	{"limits of a service that is another inbound, over mTLS", unverified, []edit{clusters(ownCluster, redis, having(static("limits", "10.0.0.7", 6379), meshTLS(""))), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service by connections of the filter's own", unverified, []edit{behindRBAC(limitsBy(`{"google_grpc": {"target_uri": "10.9.9.9:8081", "stat_prefix": "x"}}`))}},
	{"limits of a service at where a header says", unverified, []edit{clusters(ownCluster, redis, `{"name": "limits", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED", "original_dst_lb_config": {"use_http_header": true}}`), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service at where the connection was going", unverified, []edit{clusters(ownCluster, redis, `{"name": "limits", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service by several clusters", unverified, []edit{clusters(ownCluster, redis, `{"name": "limits", "cluster_type": `+typed("envoy.clusters.aggregate", "envoy.extensions.clusters.aggregate.v3.ClusterConfig", `"clusters": ["self_inbound_dp_http-port"]`)+`}`), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service by EDS, without its endpoints", unverified, []edit{clusters(ownCluster, redis, byEDS("limits", "")), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service by EDS, which is the workload", unverified, []edit{clusters(ownCluster, redis, byEDS("limits", "")), endpoints("limits", "127.0.0.1", 8080), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service by EDS", verified, []edit{clusters(ownCluster, redis, byEDS("limits", "")), endpoints("limits", "10.9.9.9", 8081), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service by discovery of the filter", unverified, []edit{limits, behindRBAC(`{"name": "l", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/envoy.extensions.filters.http.ratelimit.v3.RateLimit"]}}`)}},
	{"limits of the admin interface", unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, static("limits", "127.0.0.1", 9901)), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a name with the port of a workload", unverified, []edit{clusters(ownCluster, redis, retyped(static("limits", "limits.example", 8080), `"type": "STRICT_DNS"`)), behindRBAC(limitsBy(asksLimits))}},
	{"limits of a service on tcp behind", verified, []edit{limits, at1(tcpChain+".filters", typed("l", "envoy.extensions.filters.network.ratelimit.v3.RateLimit", `"stat_prefix": "x", "domain": "d", "rate_limit_service": {"grpc_service": `+asksLimits+`}`))}},
	{"limits of a service on tcp in front", unverified, []edit{limits, tcpFront("ratelimit.v3.RateLimit", `"stat_prefix": "x", "domain": "d", "rate_limit_service": {"grpc_service": `+asksLimits+`}`)}},
	{"limits of a service, of an outbound listener that others reach", verified, []edit{clusters(ownCluster, redis, otherRedis, static("limits", "10.9.9.9", 8081)), limitedOutbound}},
	{"limits of the workload, of an outbound listener that others reach", unverified, []edit{clusters(ownCluster, redis, otherRedis, static("limits", "127.0.0.1", 8080)), limitedOutbound}},
	{"limits of an inbound over mTLS, of an outbound listener that others reach", unverified, []edit{clusters(ownCluster, redis, otherRedis, having(static("limits", "10.0.0.7", 6379), meshTLS(""))), limitedOutbound}},
	{"limits of a name with the port of a workload, of an outbound listener that others reach", unverified, []edit{clusters(ownCluster, redis, otherRedis, retyped(static("limits", "limits.example", 8080), `"type": "STRICT_DNS"`)), limitedOutbound}},
	{"limits of the admin interface, of an outbound listener that others reach", unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, otherRedis, static("limits", "127.0.0.1", 9901)), limitedOutbound}},
	{"limits of a service that is not in the dump, of an outbound listener that others reach", unverified, []edit{clusters(ownCluster, redis, otherRedis), limitedOutbound}},
	{"Mongo behind", verified, []edit{at1(tcpChain+".filters", typed("m", "envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy", `"stat_prefix": "x"`))}},
}

// fault ends some requests, and bySAN asks for callers; faultUnless skips a filter for the others, as Kuma does.
var (
	fault = typed("envoy.filters.http.fault", "envoy.extensions.filters.http.fault.v3.HTTPFault", `"abort": {"http_status": 503, "percentage": {"numerator": 12}}`)
	bySAN = `{"not_matcher": {"single_predicate": {"input": ` + typed("envoy.matching.inputs.uri_san", uriSAN, "") + `, "value_match": {"prefix": "spiffe://x/"}}}}`
)

func faultUnless(filter, predicate, action string) string {
	return typed("f", "envoy.extensions.common.matching.v3.ExtensionWithMatcher", `"extension_config": `+filter+`, "xds_matcher": {"matcher_list": {"matchers": [
		{"predicate": `+predicate+`, "on_match": {"action": `+typed("skip", "envoy.extensions.filters.common.matcher.action.v3."+action, "")+`}}]}}`)
}

// limits adds the cluster of a service for limits, asksLimits asks it, and limitsBy is a filter that asks a service.
var limits = clusters(ownCluster, redis, static("limits", "10.9.9.9", 8081))

const asksLimits = `{"envoy_grpc": {"cluster_name": "limits"}}`

// limitedOutbound is an outbound listener that others reach, and that asks the service.
var limitedOutbound = alone(drop("bind_to_port"), elsewhere, push("filter_chains.0.filters", typed("l", "envoy.extensions.filters.network.ratelimit.v3.RateLimit", `"stat_prefix": "x", "domain": "d", "rate_limit_service": {"grpc_service": `+asksLimits+`}`)))

func limitsBy(service string) string {
	return httpFilter("ratelimit.v3.RateLimit", `"domain": "d", "rate_limit_service": {"grpc_service": `+service+`}`)
}

// limit is a filter that limits requests, with more fields.
func limit(fields string) string {
	return strings.Replace(httpFilter("local_ratelimit.v3.LocalRateLimit", `"stat_prefix": "x", "token_bucket": {"max_tokens": 5, "fill_interval": "1s"}, "filter_enabled": {"runtime_key": "k", "default_value": {"numerator": 100}}`+fields), `"x"`, `"l"`, 1)
}

// limitOfRoute is what the routes have in the place of that limit.
func limitOfRoute(fields string) edit {
	return put(host+".typed_per_filter_config", `{"l": {"@type": "T/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", "stat_prefix": "x"`+fields+`}}`)
}

// wrappedLimitOfRoute is the same in a message that may switch a filter off.
func wrappedLimitOfRoute(fields string) edit {
	return put(host+".typed_per_filter_config", `{"l": {"@type": "T/envoy.config.route.v3.FilterConfig", "config": {"@type": "T/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", "stat_prefix": "x"`+fields+`}}}`)
}

// withFormatter is the cluster of the inbound, which writes the names of headers by a formatter.
func withFormatter(message string) string {
	const options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
	return having(ownCluster, `"typed_extension_protocol_options": {"`+options+`": {"@type": "T/`+options+`", "explicit_http_config": {"http_protocol_options": {"header_key_format": {"stateful_formatter": `+typed("f", message, "")+`}}}}}`)
}

// stateOf is a text that a filter keeps about a connection.
func stateOf(key, kind, fields string) string {
	return `{"object_key": "` + key + `", "factory_key": "` + kind + `", "format_string": {"text_format_source": {"inline_string": "%DOWNSTREAM_PEER_URI_SAN%"}}` + fields + `}`
}
