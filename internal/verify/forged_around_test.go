package verify

// forgedSurroundings are dumps whose RBAC filters are as they should be, and something around
// them leads to the workload all the same.
var forgedSurroundings = []forged{
	{"a log of a listener of the canary alone to another inbound", unverified, []edit{clusters(ownCluster, redis), aloneWithCanary(`[` + toGRPC("self_inbound_dp_6379") + `]`)}},
	{"a listener of the canary alone", verified, []edit{clusters(ownCluster, redis), aloneWithCanary(`[]`)}},
	{"a log of the listener to another inbound", unverified, []edit{clusters(ownCluster, redis), put(listener+".access_log", `[`+toGRPC("self_inbound_dp_6379")+`]`)}},
	{"a log of an outbound listener to an inbound", unverified, []edit{clusters(ownCluster, redis), leading(put("address.socket_address.port_value", `1`), put("access_log", `[`+toGRPC("self_inbound_dp_6379")+`]`))}},
	{"a log of the listener to a collector", verified, []edit{clusters(ownCluster, redis, static("logs", "10.1.1.1", 4317)), put(listener+".access_log", `[`+toGRPC("logs")+`]`)}},
	{"a log by OpenTelemetry to another inbound", unverified, []edit{clusters(ownCluster, redis), put(manager+".access_log", `[`+toOpenTelemetry("self_inbound_dp_6379")+`]`)}},
	{"a log by OpenTelemetry to a collector", verified, []edit{clusters(ownCluster, redis, static("logs", "10.1.1.1", 4317)), put(manager+".access_log", `[`+toOpenTelemetry("logs")+`]`)}},
	{"a log by OpenTelemetry to a server of its own", unverified, []edit{clusters(ownCluster, redis), put(manager+".access_log", `[`+typed("o", "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig", `"common_config": {"grpc_service": {"google_grpc": {"target_uri": "127.0.0.1:6379"}}}`)+`]`)}},
	{"an inbound that leads to the listener of another", unverified, []edit{clusters(static("self_inbound_dp_http-port", "127.0.0.1", 8000), static("self_inbound_dp_6379", "10.0.0.7", 8080))}},
	{"an inbound that leads to every address, and so to the listener of another", unverified, []edit{clusters(static("self_inbound_dp_http-port", "127.0.0.1", 8000), static("self_inbound_dp_6379", "0.0.0.0", 8080))}},
	{"an inbound that leads to its own port", verified, []edit{clusters(static("self_inbound_dp_http-port", "10.0.0.7", 8080), static("self_inbound_dp_6379", "10.0.0.7", 6379))}},
	{"one cluster that cannot be read", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": 99.5}`)}},
	{"a filter of the lab that a route replaces", unverified, []edit{behindRBAC(observer), put(host+".typed_per_filter_config", `{"meshproof.effective_policy": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBACPerRoute", "rbac": {"rules": {}}}}`)}},
	{"a filter of the lab", verified, []edit{behindRBAC(observer)}},

	// The workload sees another request than RBAC.
	{"another path behind a decision by path", unverified, []edit{deep, put(route+".route.prefix_rewrite", `"/admin"`)}},
	{"another path by a regular expression", unverified, []edit{deep, put(route+".route.regex_rewrite", `{"pattern": {"regex": "x"}, "substitution": "/admin"}`)}},
	{"another path by a format", unverified, []edit{deep, put(route+".route.path_rewrite", `"/admin"`)}},
	{"another path by a template", unverified, []edit{deep, put(route+".route.path_rewrite_policy", typed("x", "envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig", `"path_template_rewrite": "/admin"`))}},
	{"another path by discovery", unverified, []edit{deep, byRDS(put("virtual_hosts.0.routes.0.route.prefix_rewrite", `"/admin"`))}},
	{"another path by a script", unverified, []edit{deep, behindRBAC(script(`function envoy_on_request(h) h:headers():replace(":path", "/admin") end`))}},
	{"another path by a script, in pieces", unverified, []edit{deep, behindRBAC(script(`function envoy_on_request(h) h:headers():replace(":pa" .. "th", "/admin") end`))}},
	{"another path by a script, in letters", unverified, []edit{deep, behindRBAC(script(`function envoy_on_request(h) h:headers():replace("\58path", "/admin") end`))}},
	{"another path by a script, in a variable", unverified, []edit{deep, behindRBAC(script(`local k = ":path"; function envoy_on_request(h) h:headers():replace(k, "/admin") end`))}},
	{"another path by a script, by a function", unverified, []edit{deep, behindRBAC(script(`function envoy_on_request(h) local t = h:headers(); local f = t.replace; f(t, ":path", "/admin") end`))}},
	{"another path by a script, in brackets", unverified, []edit{deep, behindRBAC(script(`function envoy_on_request(h) h:headers():replace([[:path]], "/admin") end`))}},
	{"another header by a script", verified, []edit{deep, behindRBAC(script(`function envoy_on_request(h) h:headers():replace("x-a", "/admin") end`))}},
	{"another path by a mutation", unverified, []edit{deep, behindRBAC(typed("m", "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", ""))}},
	{"another path by a transcoder", unverified, []edit{deep, behindRBAC(typed("m", "envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder", ""))}},
	{"another path, where no decision asks for it", verified, []edit{put(route+".route.prefix_rewrite", `"/admin"`)}},
}

const observer = `{"name": "meshproof.effective_policy", "typed_config": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBAC"}}`

// deep adds a rule by path that changes no decision.
var deep = func() edit {
	return push(rbac+".matcher.matcher_list.matchers", `{"predicate": {"and_matcher": {"predicate": [`+predicate(header, `"header_name": ":path"`, inList(`"prefix": "/admin"`))+`, `+predicate(uriSAN, "", inList(`"prefix": "spiffe://default.zone-1.mesh.local/ns/malicious"`))+`]}},
		"on_match": {"action": `+typed("act", "envoy.config.rbac.v3.Action", `"name": "kri_mtp_default_zone-1_kuma-system_by-mesh-operator_", "action": "DENY"`)+`}}`)
}()

func toOpenTelemetry(cluster string) string {
	return typed("o", "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig", `"common_config": {"log_name": "x", "grpc_service": {"envoy_grpc": {"cluster_name": "`+cluster+`"}}}`)
}

// aloneWithCanary adds a listener with the chain where the lab reads the version, and no other one. The listener logs connections that
// no chain takes.
func aloneWithCanary(log string) edit {
	return add("configs.0.dynamic_listeners", `{"name": "alone", "active_state": {"listener": {"name": "alone", "address": {"socket_address": {"address": "10.0.0.7", "port_value": 9999}}, "access_log": `+log+`,
		"filter_chains": [{"name": "canary", "filter_chain_match": {"prefix_ranges": [{"address_prefix": "240.0.0.1", "prefix_len": 32}]}, "filters": [`+typed("d", "envoy.extensions.filters.network.direct_response.v3.Config", "")+`]}]}}}`)
}
