package verify

// forgedWalk are dumps that a walk over the fields of the API found: of each field that was let
// pass, what it may change.
var forgedWalk = []forged{
	// A copy of a request is another request.
	{"copies with a header behind a decision by it", unverified, []edit{byRole, copies(`"request_headers_mutations": [{"append": {"header": {"key": "X-Role", "value": "admin"}}}]`)}},
	{"copies without a header behind a decision by it", unverified, []edit{byRole, copies(`"request_headers_mutations": [{"remove": "x-role"}]`)}},
	{"copies without headers of a pattern behind a decision by one", unverified, []edit{byRole, copies(`"request_headers_mutations": [{"remove_on_match": {"key_matcher": {"prefix": "x-"}}}]`)}},
	{"copies with another header", verified, []edit{byRole, copies(`"request_headers_mutations": [{"append": {"header": {"key": "x-copy", "value": "1"}}}]`)}},
	{"copies for another host behind a decision by the host", unverified, []edit{byHost, copies(`"host_rewrite_literal": "admin.example"`)}},
	{"copies for the host with a suffix behind a decision by the host", unverified, []edit{byHost, copies(`"trace_sampled": false`)}},
	{"copies for the same host behind a decision by the host", verified, []edit{byHost, copies(`"disable_shadow_host_suffix_append": true`)}},
	{"copies of all routes with a header behind a decision by it", unverified, []edit{byRole, put(routes+".request_mirror_policies", `[{"cluster": "self_inbound_dp_http-port", "request_headers_mutations": [{"append": {"header": {"key": "x-role", "value": "admin"}}}]}]`)}},

	// A filter behind RBAC that takes the key of a caller out of the request.
	{"a key in a header behind a decision by it", unverified, []edit{byRole, behindRBAC(httpFilter("api_key_auth.v3.ApiKeyAuth", `"key_sources": [{"header": "x-role"}], "forwarding": {"hide_credentials": true}`))}},
	{"a key of a route in a header behind a decision by it", unverified, []edit{byRole, behindRBAC(httpFilter("api_key_auth.v3.ApiKeyAuth", "")), put(route+".typed_per_filter_config", `{"x": {"@type": "T/envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuthPerRoute", "key_sources": [{"header": "x-role"}], "forwarding": {"hide_credentials": true}}}`)}},
	{"a key in a parameter, where nothing asks for requests", verified, []edit{behindRBAC(httpFilter("api_key_auth.v3.ApiKeyAuth", `"key_sources": [{"query": "key"}], "forwarding": {"hide_credentials": true}`))}},

	// Headers that Envoy writes behind RBAC.
	{"a count of attempts behind a decision by it", unverified, []edit{byHeader("x-envoy-attempt-count"), put(host+".include_request_attempt_count", `true`)}},
	{"a mark of a second attempt behind a decision by it", unverified, []edit{byHeader("x-envoy-is-timeout-retry"), put(host+".include_is_timeout_retry_header", `true`)}},

	// A listener that no connection of others comes to: the workload itself may have the port.
	{"any port, and a chain for the port of the inbound", unverified, []edit{put(listener+".address.socket_address.port_value", `0`), put(chain+".filter_chain_match", `{"destination_port": 8080}`)}},
	{"redirected connections of loopback, and a chain for the address of the inbound", unverified, []edit{put(listener+".use_original_dst", `true`), put(listener+".address.socket_address", `{"address": "127.0.0.1", "port_value": 15006}`), put(chain+".filter_chain_match", `{"destination_port": 8080, "prefix_ranges": [{"address_prefix": "10.0.0.7", "prefix_len": 32}]}`)}},
	{"an inbound that binds no port, to which outbound connections alone are handed over", unverified, []edit{put(listener+".bind_to_port", `false`), passing, clusters(`{"name": "passthrough", "type": "ORIGINAL_DST"}`, ownCluster, redis)}},
	{"an inbound that binds no port, to which connections of IPv6 alone are handed over", unverified, []edit{kumaClusters, put(listener+".bind_to_port", `false`), ipv6, bootstrap(harmlessLayers + `, "node": {"metadata": {"ipv6Enabled": false}}`)}},
	{"an inbound that binds no port, to which connections of another address are handed over", unverified, []edit{kumaClusters, put(listener+".bind_to_port", `false`), redirectedBy("INBOUND", "inbound:passthrough:ipv4", "127.0.0.1", 15006)}},

	// One resource in two places of a dump, of which one holds what cannot be read.
	{"a cluster with a field of later, and again without it", unverified, []edit{clusters(having(ownCluster, `"later": 1`), redis), clusters(ownCluster)}},
	{"a cluster without a field of later, and again with it", unverified, []edit{clusters(ownCluster, redis), clusters(having(ownCluster, `"later": 1`))}},
	{"a cluster, and again one that cannot be read", unverified, []edit{clusters(ownCluster, redis), clusters(`{"name": "self_inbound_dp_http-port", "type": 7.5}`)}},
	{"a cluster, and again one of another type", unverified, []edit{clusters(ownCluster, redis), clusters(`{"@type": "T/acme.Cluster", "name": "self_inbound_dp_http-port"}`)}},
	{"endpoints, and again with a field of later", unverified, []edit{clusters(byEDS("self_inbound_dp_http-port", ""), redis), endpoints("self_inbound_dp_http-port", "127.0.0.1", 8080), add("configs", `{"@type": "T/envoy.admin.v3.EndpointsConfigDump", "dynamic_endpoint_configs": [{"endpoint_config": {"cluster_name": "self_inbound_dp_http-port", "later": 1}}]}`)}},
	{"endpoints, and again such that cannot be read", unverified, []edit{clusters(byEDS("self_inbound_dp_http-port", ""), redis), endpoints("self_inbound_dp_http-port", "127.0.0.1", 8080), add("configs", `{"@type": "T/envoy.admin.v3.EndpointsConfigDump", "static_endpoint_configs": [{"endpoint_config": {"cluster_name": "self_inbound_dp_http-port", "endpoints": 1}}]}`)}},
	{"CAs with a field of later, and again without it", unverified, []edit{bundle(`{"trusted_ca": {"inline_string": "x"}, "later": 1}`), bundle(`{"trusted_ca": {"inline_string": "x"}}`)}},
	{"routes with a field of later, and again without it", unverified, []edit{byRDS(put("later", `1`)), again(drop("later"))}},
	{"routes with a field of later", unverified, []edit{byRDS(put("later", `1`))}},
	{"the same routes twice", verified, []edit{byRDS(), again()}},

	// An address of another machine, on which something seems to listen.
	{"the workload of another machine, where an outbound listener may bind any address", unverified, []edit{elsewhereAt("10.0.0.99"), leading(drop("bind_to_port"), put("freebind", `true`), put("address.socket_address", `{"address": "10.0.0.99", "port_value": 7777}`))}},
	{"the workload of another machine, where an outbound listener has its address", unverified, []edit{elsewhereAt("10.0.0.99"), leading(drop("bind_to_port"), put("address.socket_address", `{"address": "10.0.0.99", "port_value": 7777}`))}},
	{"the workload of another machine, which a chain without endpoints matches", unverified, []edit{elsewhereAt("10.0.0.99"), add(listener+".filter_chains", `{"filter_chain_match": {"prefix_ranges": [{"address_prefix": "10.0.0.99", "prefix_len": 32}]}, "filters": [`+typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", `"stat_prefix": "x", "cluster": "hole"`)+`]}`)}},
	{"the workload of another machine, whose address a listener without endpoints has", unverified, []edit{elsewhereAt("10.0.0.99"), add("configs.0.static_listeners", `{"listener": {"name": "inbound:x", "freebind": true, "address": {"socket_address": {"address": "10.0.0.99", "port_value": 7777}}, "filter_chains": [{"filters": [`+typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", `"stat_prefix": "x", "cluster": "hole"`)+`]}]}}`)}},
	{"the workload of another machine, whose address a transparent listener without endpoints has", unverified, []edit{elsewhereAt("10.0.0.99"), add("configs.0.static_listeners", `{"listener": {"name": "inbound:x", "transparent": true, "address": {"socket_address": {"address": "10.0.0.99", "port_value": 7777}}, "filter_chains": [{"filters": [`+typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", `"stat_prefix": "x", "cluster": "hole"`)+`]}]}}`)}},
}

// again adds the routes of [byRDS] a second time.
func again(edits ...edit) edit {
	return copied("configs.1.dynamic_route_configs.0.route_config", "configs[]", append(edits, dumpOf("envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs", "route_config"))...)
}

// copies sends a copy of each request to the inbound's own workload.
func copies(fields string) edit {
	return put(route+".route.request_mirror_policies", `[{"cluster": "self_inbound_dp_http-port", `+fields+`}]`)
}

// elsewhereAt makes the HTTP inbound lead to another machine, and adds a cluster without endpoints.
func elsewhereAt(ip string) edit {
	return clusters(static("self_inbound_dp_http-port", ip, 8080), redis, `{"name": "hole", "type": "STATIC"}`)
}
