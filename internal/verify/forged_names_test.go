package verify

import "strings"

// forgedNames are dumps in which Envoy goes by a name: of an extension, whose type is harmless, or of the inbound's
// own cluster, to which it sends requests that no caller has sent.
var forgedNames = []forged{
	// Envoy finds the validator of certificates by its name. The default one looks at no part of the configuration, and
	// takes a certificate that the caller signed where it has no CAs.
	{"CAs by the SPIFFE validator alone", verified, []edit{drop(sans), bundle(spiffe(ownDomain))}},
	{"a configuration for SPIFFE, and the default validator", unverified, []edit{drop(sans), bundle(validator("envoy.tls.cert_validator.default"))}},
	{"a configuration for SPIFFE, SANs, and the default validator", unverified, []edit{bundle(validator("envoy.tls.cert_validator.default"))}},
	{"a configuration for SPIFFE, and a validator without a name", unverified, []edit{drop(sans), bundle(validator(""))}},
	{"a configuration for SPIFFE, and a validator that is a module", unverified, []edit{bundle(validator("envoy.tls.cert_validator.dynamic_modules"))}},
	{"a configuration for SPIFFE, and the name in capitals", unverified, []edit{bundle(validator("Envoy.TLS.cert_validator.spiffe"))}},
	{"an empty configuration, and the default validator", unverified, []edit{bundle(`{"custom_validator_config": ` + typed("envoy.tls.cert_validator.default", "google.protobuf.Empty", "") + `}`)}},
	{"an empty configuration, and the SPIFFE validator", unverified, []edit{bundle(`{"custom_validator_config": ` + typed("envoy.tls.cert_validator.spiffe", "google.protobuf.Empty", "") + `}`)}},
	{"an empty configuration for a socket to the workload", unverified, []edit{clusters(having(ownCluster, `"transport_socket": `+typed("envoy.transport_sockets.tls", "google.protobuf.Empty", "")), redis)}},
	{"an empty configuration for a filter to the workload", unverified, []edit{clusters(having(ownCluster, `"filters": [`+typed("acme.filter", "google.protobuf.Empty", "")+`]`), redis)}},
	{"a structure, CAs, and the default validator", unverified, []edit{bundle(`{"trusted_ca": {"inline_string": "x"}, "custom_validator_config": ` + typed("envoy.tls.cert_validator.default", "google.protobuf.Struct", `"value": {}`) + `}`)}},

	// What Envoy sends to the workload by itself passes no filter.
	{"a log to the inbound's own workload", unverified, []edit{put(manager+".access_log", `[`+toGRPC("self_inbound_dp_http-port")+`]`)}},
	{"a log of the listener to the inbound's own workload", unverified, []edit{put(listener+".access_log", `[`+toGRPC("self_inbound_dp_http-port")+`]`)}},
	{"a log by OpenTelemetry to a path of the inbound's own workload", unverified, []edit{put(manager+".access_log", `[`+typed("o", "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig", `"http_service": {"http_uri": {"uri": "http://a/admin", "cluster": "self_inbound_dp_http-port", "timeout": "1s"}}`)+`]`)}},
	{"traces to a path of the inbound's own workload", unverified, []edit{tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "self_inbound_dp_http-port", "collector_endpoint": "/admin"`)}},
	{"traces over HTTP to a path of the inbound's own workload", unverified, []edit{tracing("envoy.config.trace.v3.OpenTelemetryConfig", `"http_service": {"http_uri": {"uri": "http://a/admin", "cluster": "self_inbound_dp_http-port", "timeout": "1s"}}`)}},
	{"traces to the inbound's own workload by another cluster", unverified, []edit{clusters(ownCluster, redis, static("x", "127.0.0.1", 8080)), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "x", "collector_endpoint": "/admin"`)}},
	{"traces to the inbound's own workload by another address", unverified, []edit{clusters(ownCluster, redis, static("x", "10.0.0.7", 8080)), tracing("envoy.config.trace.v3.DatadogConfig", `"collector_cluster": "x", "service_name": "x"`)}},
	{"traces of the bootstrap to a path of the inbound's own workload", unverified, []edit{put(manager+".tracing", `{}`), bootstrap(harmlessLayers + `, "tracing": {"http": ` + typed("t", "envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "self_inbound_dp_http-port", "collector_endpoint": "/admin"`) + `}`)}},
	{"statistics to the workload of an inbound", unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("s", "envoy.config.metrics.v3.StatsdSink", `"tcp_cluster_name": "self_inbound_dp_6379"`) + `]`)}},
	{"statistics to another machine", verified, []edit{anotherMachine, bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("s", "envoy.config.metrics.v3.StatsdSink", `"tcp_cluster_name": "far"`) + `]`)}},
	{"traces to the port of the inbound on another machine", verified, []edit{clusters(ownCluster, redis, static("x", "10.1.1.1", 8080)), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "x", "collector_endpoint": "/admin"`)}},
	{"a log of connections to the inbound's own workload", unverified, []edit{put(tcpProxy+".access_log", `[`+typed("f", "envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig", `"cluster": "self_inbound_dp_6379", "tag": "x"`)+`]`)}},
	{"traces to the workload of a chain without endpoints", unverified, []edit{holed(typed("s", "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", ""), put("filter_chains.0.filters.0.typed_config.tracing", tracer("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "self_inbound_dp_http-port", "collector_endpoint": "/admin"`)))}},

	// A filter behind RBAC writes a header that RBAC has judged.
	{"a user in a header behind a decision by it", unverified, []edit{byRole, behindRBAC(httpFilter("basic_auth.v3.BasicAuth", `"users": {"inline_string": "a"}, "forward_username_header": "X-Role"`))}},
	{"a user in another header", verified, []edit{byRole, behindRBAC(httpFilter("basic_auth.v3.BasicAuth", `"users": {"inline_string": "a"}, "forward_username_header": "x-user"`))}},
	{"the owner of a key in a header behind a decision by it", unverified, []edit{byRole, behindRBAC(httpFilter("api_key_auth.v3.ApiKeyAuth", `"forwarding": {"header": "x-role"}`))}},
	{"the owner of a key of a route in a header behind a decision by it", unverified, []edit{byRole, behindRBAC(httpFilter("api_key_auth.v3.ApiKeyAuth", "")), put(route+".typed_per_filter_config", `{"x": {"@type": "T/envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute", "forwarding": {"header": "x-role"}}}`)}},
	{"a limit that is not enforced in a header behind a decision by it", unverified, []edit{byRole, behindRBAC(httpFilter("local_ratelimit.v3.LocalRateLimit", `"stat_prefix": "x", "request_headers_to_add_when_not_enforced": [{"header": {"key": "x-role", "value": "admin"}}]`))}},
	{"a limit of a route in a header behind a decision by it", unverified, []edit{byRole, behindRBAC(httpFilter("local_ratelimit.v3.LocalRateLimit", `"stat_prefix": "x"`)), put(host+".typed_per_filter_config", `{"x": {"@type": "T/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", "request_headers_to_add_when_not_enforced": [{"header": {"key": "x-role", "value": "admin"}}]}}`)}},
	{"a limit", verified, []edit{byRole, behindRBAC(httpFilter("local_ratelimit.v3.LocalRateLimit", `"stat_prefix": "x"`))}},

	// An outbound listener that others reach, with a filter that sends requests by itself: the clusters of its routes do
	// not tell where those go.
	{"outbound over HTTP to another machine", verified, []edit{anotherMachine, calling("")}},
	{"outbound, with a script that calls the workload", unverified, []edit{anotherMachine, calling(script(`function envoy_on_request(h) h:httpCall("self_inbound_dp_http-port", {[":method"]="GET", [":path"]="/", [":authority"]="a"}, "", 1) end`))}},
	{"outbound, with Kuma's script for the logs of routes", verified, []edit{anotherMachine, calling(script(kumaScript))}},
	{"outbound, with a script that chooses endpoints", unverified, []edit{anotherMachine, calling(script(strings.Replace(kumaScript, "kuma.routes", "envoy.lb", 1)))}},
	{"outbound, with a script in a file", unverified, []edit{anotherMachine, calling(typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", `"default_source_code": {"filename": "/x.lua"}`))}},
	{"outbound, with a script, and a new field", unverified, []edit{anotherMachine, calling(typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", `"calls": "w"`))}},
	{"outbound, with a script that a route replaces", unverified, []edit{anotherMachine, calling(script(kumaScript), put("filter_chains.0.filters.0.typed_config.route_config.typed_per_filter_config", `{"lua": {"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "source_code": {"inline_string": "function envoy_on_request(h) h:httpCall('self_inbound_dp_http-port', {}, '', 1) end"}}}`))}},
	{"outbound, with a script, of a matcher of routes", unverified, []edit{anotherMachine, calling(script(kumaScript), put("filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.matcher", `{}`))}},
	{"outbound, with a new field of its connection manager", unverified, []edit{anotherMachine, calling("", put("filter_chains.0.filters.0.typed_config.leads", `"w"`))}},
	{"outbound, with routes by discovery", verified, []edit{anotherMachine, calling(script(kumaScript), namesRoutes), routesFound("far", "")}},
	{"outbound, with routes by discovery, and a new field of one", unverified, []edit{anotherMachine, calling("", namesRoutes), routesFound("far", `, "leads": "w"`)}},
	{"outbound, with a script, and a new field of a route by discovery", unverified, []edit{anotherMachine, calling(script(kumaScript), namesRoutes), routesFound("far", `, "leads": "w"`)}},
	{"outbound, with limits by discovery", verified, []edit{anotherMachine, calling(limitsNamed), limitsFound("")}},
	{"outbound, with limits by discovery, and a new field of them", unverified, []edit{anotherMachine, calling(limitsNamed), limitsFound(`, "leads": "w"`)}},
	{"a chain without endpoints, with limits by discovery, and a new field of them", unverified, []edit{holed(limitsNamed), limitsFound(`, "leads": "w"`)}},
	{"a chain without endpoints, by discovery", verified, []edit{holed(noted, namesRoutes), routesFound("hole", "")}},
	{"a chain without endpoints, by discovery, and a new field of a route", unverified, []edit{holed(noted, namesRoutes), routesFound("hole", `, "leads": "w"`)}},
	{"outbound, with code", unverified, []edit{anotherMachine, calling(httpFilter("wasm.v3.Wasm", ""))}},
	{"outbound, with a module", unverified, []edit{anotherMachine, calling(httpFilter("dynamic_modules.v3.DynamicModuleFilter", ""))}},
	{"outbound, with a service that changes requests", unverified, []edit{anotherMachine, calling(httpFilter("ext_proc.v3.ExternalProcessor", `"grpc_service": {"envoy_grpc": {"cluster_name": "far"}}`))}},
	{"outbound, with a composite", unverified, []edit{anotherMachine, calling(httpFilter("composite.v3.Composite", ""))}},
	{"outbound, with a filter by discovery", unverified, []edit{anotherMachine, calling(`{"name": "x", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/envoy.extensions.filters.http.lua.v3.Lua"]}}`)}},
	{"outbound, with a tracer of an unknown kind", unverified, []edit{anotherMachine, calling("", put("filter_chains.0.filters.0.typed_config.tracing", tracer("acme.Tracer", "")))}},
	{"outbound, with a filter behind the router", unverified, []edit{anotherMachine, calling("", put("filter_chains.0.filters.0.typed_config.http_filters.0.typed_config.upstream_http_filters", `[`+lua()+`]`))}},
	{"outbound for redirected connections, with a script", unverified, []edit{passing, clusters(`{"name": "passthrough", "type": "ORIGINAL_DST"}`, ownCluster, redis), put("configs.0.static_listeners.0.listener.filter_chains.0.filters", overHTTP("passthrough", lua()+", "))}},
	{"outbound for redirected connections, over HTTP", verified, []edit{passing, clusters(`{"name": "passthrough", "type": "ORIGINAL_DST"}`, ownCluster, redis), put("configs.0.static_listeners.0.listener.filter_chains.0.filters", overHTTP("passthrough", ""))}},
	{"outbound to another port of the workload, for this machine alone", verified, []edit{passing, another, handedOut}},
	{"outbound to another port of the workload, where one listener hands over for inbounds too", unverified, []edit{passing, another, handedOut, put(listener+".bind_to_port", `false`)}},
	{"outbound of this machine alone, with a script", verified, []edit{anotherMachine, calling(lua(), put("address.socket_address.address", `"127.0.0.1"`))}},
}

// anotherMachine is a cluster of another machine, beside those of the example.
var anotherMachine = clusters(ownCluster, redis, static("far", "10.1.1.1", 80))

// another are the clusters of the example, with one for connections that go on, and one of another port of the workload.
var another = clusters(ownCluster, redis, `{"name": "passthrough", "type": "ORIGINAL_DST"}`, static("other", "127.0.0.1", 9999))

// handedOut adds an outbound listener that binds no port, which leads to that port.
var handedOut = leading(put("name", `"other"`), put("address.socket_address", `{"address": "10.0.0.7", "port_value": 9999}`), put("filter_chains.0.filters.0.typed_config.cluster", `"other"`))

// calling adds an outbound listener that others reach, which leads to another machine over HTTP, with a filter.
func calling(filter string, edits ...edit) edit {
	if filter != "" {
		filter += ", "
	}
	return leading(append([]edit{drop("bind_to_port"), elsewhere, put("filter_chains.0.filters", overHTTP("far", filter))}, edits...)...)
}

// overHTTP are the filters of a chain whose requests all go to one cluster. HTTP filters stand with a comma behind them.
func overHTTP(cluster, filters string) string {
	return `[` + typed("h", "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", `"stat_prefix": "h", "http_filters": [`+filters+httpFilter("router.v3.Router", "")+`],
		"route_config": {"virtual_hosts": [{"name": "h", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "`+cluster+`"}}]}]}`) + `]`
}

// ownDomain is the trust domain of the example, with its CAs.
const ownDomain = `{"name": "default.zone-1.mesh.local", "trust_bundle": {"inline_string": "x"}}`

// validator is a configuration for the SPIFFE validator under a name.
func validator(name string) string {
	return strings.Replace(spiffe(ownDomain), "envoy.tls.cert_validator.spiffe", name, 1)
}

func tracer(message, fields string) string {
	return `{"provider": ` + typed("t", message, fields) + `}`
}

func tracing(message, fields string) edit {
	return put(manager+".tracing", tracer(message, fields))
}

// namesRoutes has a listener take its routes by discovery; routesFound are these routes, of which one leads to a cluster, with more fields.
var namesRoutes = func(listener any) any {
	const m = "filter_chains.0.filters.0.typed_config"
	return put(m+".rds", `{"route_config_name": "r", "config_source": {"ads": {}}}`)(drop(m + ".route_config")(listener))
}

func routesFound(cluster, fields string) edit {
	return add("configs", `{"@type": "T/envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs": [{"route_config": {"@type": "T/envoy.config.route.v3.RouteConfiguration", "name": "r",
		"virtual_hosts": [{"name": "h", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "`+cluster+`"`+fields+`}}]}]}}]}`)
}

// limitsNamed is a filter for limits by discovery, and limitsFound gives it its configuration, with more fields.
const limitsNamed = `{"name": "limits", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit"]}}`

func limitsFound(fields string) edit {
	return add("configs", `{"@type": "T/envoy.admin.v3.EcdsConfigDump", "ecds_filters": [{"ecds_filter": {"@type": "T/envoy.config.core.v3.TypedExtensionConfig", "name": "limits",
		"typed_config": {"@type": "T/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", "stat_prefix": "l"`+fields+`}}}]}`)
}

// noted is a filter that only counts.
var noted = typed("s", "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", "")

// kumaScript is the script that Kuma gives to outbound listeners whose logs are those of routes.
const kumaScript = `function envoy_on_request(handle)
  local meta = handle:metadata():get("route_kri")
  if meta ~= nil then
    handle:streamInfo():dynamicMetadata():set("kuma.routes", "route_kri", meta)
  end
end
`
