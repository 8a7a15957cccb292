package verify

// front puts a filter in front of the RBAC filter of the HTTP inbound.
func front(filter string) edit { return push(filters, filter) }

func httpFilter(name, fields string) string {
	return typed("x", "envoy.extensions.filters.http."+name, fields)
}

// tcpFront puts a network filter in front of the RBAC filter of the TCP inbound.
func tcpFront(message, fields string) edit {
	return push(tcpChain+".filters", typed("x", "envoy.extensions.filters.network."+message, fields))
}

// forgedFresh are dumps that were thought of without a look at the other rows.
var forgedFresh = []forged{
	// HTTP filters in front of RBAC.
	{"a cache in front", unverified, []edit{front(httpFilter("cache.v3.CacheConfig", `"typed_config": {"@type": "T/envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig"}`))}},
	{"a health check in front", unverified, []edit{front(httpFilter("health_check.v3.HealthCheck", `"pass_through_mode": true`))}},
	{"routes on demand in front", unverified, []edit{front(httpFilter("on_demand.v3.OnDemand", ""))}},
	{"headers become metadata in front", unverified, []edit{front(httpFilter("header_to_metadata.v3.Config", ""))}},
	{"metadata are set in front", unverified, []edit{front(httpFilter("set_metadata.v3.Config", `"metadata_namespace": "x"`))}},
	{"filter state is set in front", unverified, []edit{front(httpFilter("set_filter_state.v3.Config", ""))}},
	{"a bridge of gRPC in front", unverified, []edit{front(httpFilter("grpc_http1_bridge.v3.Config", ""))}},
	{"a reverse bridge of gRPC in front", unverified, []edit{front(httpFilter("grpc_http1_reverse_bridge.v3.FilterConfig", `"content_type": "a/b"`))}},
	{"gRPC of the web in front", unverified, []edit{front(httpFilter("grpc_web.v3.GrpcWeb", ""))}},
	{"Connect to gRPC in front", unverified, []edit{front(httpFilter("connect_grpc_bridge.v3.FilterConfig", ""))}},
	{"a transcoder in front", unverified, []edit{front(httpFilter("grpc_json_transcoder.v3.GrpcJsonTranscoder", ""))}},
	{"another source address in front", unverified, []edit{front(httpFilter("original_src.v3.OriginalSrc", ""))}},
	{"credentials are injected in front", unverified, []edit{front(httpFilter("credential_injector.v3.CredentialInjector", ""))}},
	{"basic authentication in front", unverified, []edit{front(httpFilter("basic_auth.v3.BasicAuth", ""))}},
	{"OAuth in front", unverified, []edit{front(httpFilter("oauth2.v3.OAuth2", ""))}},
	{"places of addresses in front", unverified, []edit{front(httpFilter("geoip.v3.Geoip", ""))}},
	{"answers of its own in front", unverified, []edit{front(httpFilter("custom_response.v3.CustomResponse", ""))}},
	{"faults in front", unverified, []edit{front(httpFilter("fault.v3.HTTPFault", `"upstream_cluster": "x"`))}},
	{"faults in front that delay and end some requests", verified, []edit{front(faulty(""))}},
	{"faults in front for callers with a tag, as Kuma writes them", verified, []edit{front(faulty(`, "headers": [{"name": "x-kuma-tags", "safe_regex_match": {"regex": ".*&version=[^&]*v1[,&].*"}}]`))}},
	{"faults in front that slow answers", verified, []edit{front(faulty(`, "response_rate_limit": {"fixed_limit": {"limit_kbps": "50"}, "percentage": {"numerator": 5}}`))}},
	{"faults in front that callers ask for", unverified, []edit{front(httpFilter("fault.v3.HTTPFault", `"abort": {"header_abort": {}, "percentage": {"numerator": 100}}`))}},
	{"faults in front by a matcher of an unknown kind", unverified, []edit{front(faulty(`, "headers": [{"name": "x", "string_match": {"custom": ` + typed("x", "acme.Matcher", "") + `}}]`))}},
	{"faults in front that a route replaces", verified, []edit{front(faulty("")), put(route+".typed_per_filter_config", `{"x": {"@type": "T/envoy.extensions.filters.http.fault.v3.HTTPFault"}}`)}},
	{"faults in front that a route replaces by those that callers write", unverified, []edit{front(faulty("")), put(route+".typed_per_filter_config", `{"x": {"@type": "T/envoy.extensions.filters.http.fault.v3.HTTPFault", "delay": {"header_delay": {}}}}`)}},
	{"faults in front under a condition", verified, []edit{front(typed("f", "envoy.extensions.common.matching.v3.ExtensionWithMatcher", `"extension_config": `+httpFilter("fault.v3.HTTPFault", "")))}},
	{"another cluster for functions behind", unverified, []edit{behindRBAC(httpFilter("aws_lambda.v3.Config", ""))}},
	{"another token behind", unverified, []edit{behindRBAC(httpFilter("gcp_authn.v3.GcpAuthnFilterConfig", ""))}},
	{"a cache behind", unverified, []edit{behindRBAC(httpFilter("cache.v3.CacheConfig", `"typed_config": {"@type": "T/envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig"}`))}},
	{"a tap behind", unverified, []edit{behindRBAC(httpFilter("tap.v3.Tap", ""))}},
	{"an endpoint that a session chooses behind", unverified, []edit{behindRBAC(httpFilter("stateful_session.v3.StatefulSession", ""))}},
	{"a module behind", unverified, []edit{behindRBAC(httpFilter("dynamic_modules.v3.DynamicModuleFilter", ""))}},
	{"messages are read behind", unverified, []edit{behindRBAC(httpFilter("ext_proc.v3.ExternalProcessor", `"processing_mode": {}`))}},

	// RBAC in other wrappings.
	{"RBAC behind a matcher of actions", unverified, []edit{put(filters+".0", typed("envoy.filters.http.rbac", "envoy.extensions.common.matching.v3.ExtensionWithMatcher", `"extension_config": {"name": "r"}, "xds_matcher": {"on_no_match": {"action": {"name": "skip", "typed_config": {"@type": "T/envoy.extensions.filters.common.matcher.action.v3.SkipFilter"}}}}`))}},
	{"a matcher of the tree that has no answer", unverified, []edit{put(rbac+".matcher", `{"matcher_tree": {"input": `+typed("in", header, `"header_name": ":path"`)+`, "exact_match_map": {"map": {"/a": {}}}}}`)}},
	{"a tree by an unknown matcher", unverified, []edit{put(rbac+".matcher", `{"matcher_tree": {"input": `+typed("in", header, `"header_name": "x-a"`)+`, "custom_match": `+typed("m", "xds.type.matcher.v3.ServerNameMatcher", "")+`}}`)}},
	{"a nested matcher that lets in", unverified, []edit{push(rbac+".matcher.matcher_list.matchers", `{"predicate": `+predicate(network+"ServerNameInput", "", inList(`"exact": "x"`))+`, "on_match": {"matcher": {"on_no_match": {"action": `+typed("act", "envoy.config.rbac.v3.Action", `"name": "back-door"`)+`}}}}`)}},
	{"a nested matcher by identity that lets in", differs, []edit{push(rbac+".matcher.matcher_list.matchers", `{"predicate": `+predicate(uriSAN, "", inList(`"prefix": "spiffe://default.zone-1.mesh.local/ns/evil/"`))+`, "on_match": {"matcher": {"on_no_match": {"action": `+typed("act", "envoy.config.rbac.v3.Action", `"name": "back-door"`)+`}}}}`)}},
	{"an empty list of matchers", differs, []edit{put(rbac+".matcher", `{"matcher_list": {"matchers": []}, "on_no_match": {"action": `+typed("act", "envoy.config.rbac.v3.Action", `"name": "back-door"`)+`}}`)}},
	{"two RBAC filters, the second one alone is replaced", unverified, []edit{front(`{"name": "first", "typed_config": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {"action": "DENY", "policies": {"p": {"permissions": [{"any": true}], "principals": [{"metadata": {"filter": "x", "path": [{"key": "k"}], "value": {"present_match": true}}}]}}}}}`)}},

	// Network filters.
	{"filter state of a connection in front", unverified, []edit{tcpFront("set_filter_state.v3.Config", `"on_new_connection": [`+stateOf("acme.role", "envoy.string", "")+`]`)}},
	{"a proxy by server name in front", unverified, []edit{tcpFront("sni_dynamic_forward_proxy.v3.FilterConfig", "")}},
	{"an authorizer of connections in front", unverified, []edit{tcpFront("ext_authz.v3.ExtAuthz", "")}},
	{"a processor of connections in front", unverified, []edit{tcpFront("ext_proc.v3.NetworkExternalProcessor", "")}},
	{"places of connections in front", unverified, []edit{tcpFront("geoip.v3.Geoip", "")}},
	{"an echo in front", unverified, []edit{tcpFront("echo.v3.Echo", "")}},
	{"Thrift in front", unverified, []edit{tcpFront("thrift_proxy.v3.ThriftProxy", "")}},
	{"Mongo in front", unverified, []edit{tcpFront("mongo_proxy.v3.MongoProxy", `"stat_prefix": "x"`)}},
	{"a limit of connections in front", verified, []edit{tcpFront("connection_limit.v3.ConnectionLimit", `"stat_prefix": "x", "max_connections": 5`)}},
	{"RBAC for each part of a connection", verified, []edit{put(tcpRBAC+".enforcement_type", `"CONTINUOUS"`)}},
	{"bytes to the workload before RBAC", unverified, []edit{put(tcpProxy+".upstream_connect_mode", `"ON_DOWNSTREAM_DATA"`)}},
	{"TLVs to the workload", unverified, []edit{put(tcpProxy+".proxy_protocol_tlvs", `[]`), put(tcpProxy+".proxy_protocol_tlv_merge_policy", `"OVERWRITE_BY_TYPE_IF_EXISTS_OR_ADD"`)}},
	{"a cluster by the state of a connection", unverified, []edit{put(tcpProxy+".cluster", `"%FILTER_STATE(x)%"`)}},

	// Listeners.
	{"a balancer of connections of an unknown kind", unverified, []edit{put(listener+".connection_balance_config", `{"extend_balance": `+typed("b", "acme.Balance", "")+`}`)}},
	{"MPTCP and fast open", verified, []edit{put(listener+".enable_mptcp", `true`), put(listener+".tcp_fast_open_queue_length", `5`)}},
	{"filter state of a listener", unverified, []edit{add(listener+".listener_filters", typed("s", "envoy.extensions.filters.listener.set_filter_state.v3.Config", ""))}},
	{"a module of a listener", unverified, []edit{add(listener+".listener_filters", typed("s", "envoy.extensions.filters.listener.dynamic_modules.v3.DynamicModuleListenerFilter", ""))}},
	{"an inspector of HTTP that a rule disables", verified, []edit{add(listener+".listener_filters", `{"name": "h", "typed_config": {"@type": "T/envoy.extensions.filters.listener.http_inspector.v3.HttpInspector"}, "filter_disabled": {"any_match": true}}`)}},
	{"a reversed tunnel", unverified, []edit{put(listener+".address", `{"socket_address": {"address": "rc://a:b:c@d:1", "port_value": 0}}`)}},
	{"a listener for reversed tunnels beside", unverified, []edit{leading(put("address.socket_address", `{"address": "rc://a:b:c@self_inbound_dp_6379:1", "port_value": 0, "resolver_name": "envoy.resolvers.reverse_connection"}`))}},
	{"two names for one chain", unverified, []edit{put(listener+".filter_chains.0.filterChainMatch", `{"server_names": ["x"]}`), put(chain+".filter_chain_match", `{}`)}},

	// The connection manager.
	{"methods of one's own", unverified, []edit{put(manager+".http_protocol_options.allow_custom_methods", `true`)}},
	{"a parser of its own", unverified, []edit{put(manager+".http_protocol_options.use_balsa_parser", `false`)}},
	{"names of headers as written", verified, []edit{put(manager+".http_protocol_options.header_key_format", `{"proper_case_words": {}}`)}},
	{"names of headers by an extension", unverified, []edit{put(manager+".http_protocol_options.header_key_format", `{"stateful_formatter": `+typed("x", "acme.F", "")+`}`)}},
	{"settings of HTTP/2 of a later kind", unverified, []edit{put(manager+".http2_protocol_options.custom_settings_parameters", `[{"identifier": 8, "value": 1}]`)}},
	{"formats of answers by an extension", unverified, []edit{put(manager+".local_reply_config", `{"body_format": {"text_format": "x", "formatters": [`+typed("x", "acme.F", "")+`]}}`)}},
	{"tags of traces", verified, []edit{put(manager+".tracing", `{"custom_tags": [{"tag": "a", "literal": {"value": "b"}}]}`)}},
	{"scopes by a header, without any", unverified, []edit{drop(routes), put(manager+".scoped_routes", `{"name": "s", "scope_key_builder": {"fragments": [{"header_value_extractor": {"name": "x", "index": 0}}]}, "scoped_route_configurations_list": {"scoped_route_configurations": []}}`)}},
	{"a route for all, and none for the rest", verified, []edit{put(route+".match", `{"prefix": "/", "case_sensitive": false}`)}},

	// What an Envoy has beside its listeners.
	{"headers that are joined", unverified, []edit{bootstrap(harmlessLayers + `, "inline_headers": [{"inline_header_name": "x-role", "inline_header_type": "REQUEST_HEADER"}]`)}},
	{"a sink of an unknown kind", unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("x", "acme.Sink", "") + `]`)}},
	{"a sink of code", unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("x", "envoy.extensions.stat_sinks.wasm.v3.Wasm", "") + `]`)}},
	{"a monitor of an unknown kind", unverified, []edit{bootstrap(harmlessLayers + `, "overload_manager": {"resource_monitors": [` + typed("x", "acme.Monitor", "") + `]}`)}},
	{"a delegate of xDS", unverified, []edit{bootstrap(harmlessLayers + `, "xds_delegate_extension": ` + typed("x", "acme.D", ""))}},
	{"actions at the end", unverified, []edit{bootstrap(harmlessLayers + `, "fatal_actions": [{"config": ` + typed("x", "acme.A", "") + `}]`)}},
	{"a watchdog with actions", unverified, []edit{bootstrap(harmlessLayers + `, "watchdogs": {"worker_watchdog": {"actions": [{"config": ` + typed("x", "acme.A", "") + `}]}}`)}},
	{"an access log of the admin of an unknown kind", unverified, []edit{bootstrap(harmlessLayers + `, "admin": {"access_log": [` + typed("x", "acme.Log", "") + `]}`)}},
	{"another manager of listeners", unverified, []edit{bootstrap(harmlessLayers + `, "listener_manager": ` + typed("x", "envoy.config.listener.v3.ApiListenerManager", ""))}},
	{"another layer over the guards", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {}}, {"name": "d", "disk_layer": {"symlink_root": "/x"}}]}`)}},
	{"a guard in an object", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {"envoy.reloadable_features": {"uri_template_match_on_asterisk": false}}}]}`)}},

	// Clusters.
	{"a filter of the workload's cluster", unverified, []edit{clusters(having(ownCluster, `"filters": [`+typed("x", "acme.F", "")+`]`), redis)}},
	{"a resolver of an unknown kind", unverified, []edit{clusters(retyped(having(ownCluster, `"typed_dns_resolver_config": `+typed("x", "acme.R", "")), `"type": "STRICT_DNS"`), redis)}},
	{"endpoints of endpoints", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "EDS", "load_assignment": {"endpoints": [{"leds_cluster_locality_config": {"leds_collection_name": "x"}}]}}`, redis)}},
	{"a cluster by a map of others", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "cluster_type": `+typed("envoy.clusters.composite", "envoy.extensions.clusters.composite.v3.ClusterConfig", "")+`}`, redis)}},
	{"a cluster by reversed tunnels", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "cluster_type": `+typed("r", "envoy.extensions.clusters.reverse_connection.v3.ReverseConnectionClusterConfig", "")+`}`, redis)}},
	{"hosts that a header overrides", unverified, []edit{clusters(having(ownCluster, `"load_balancing_policy": {"policies": [{"typed_extension_config": `+typed("o", "envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost", "")+`}]}`), redis)}},
	{"a tunnel inside of Envoy", unverified, []edit{clusters(having(ownCluster, `"transport_socket": `+typed("i", "envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport", "")), redis)}},
	{"statistics that are not kept", verified, []edit{clusters(having(ownCluster, `"track_cluster_stats": {"timeout_budgets": true}`), redis)}},

	// Certificates.
	{"a bundle that warms", unverified, []edit{add("configs", `{"@type": "T/envoy.admin.v3.SecretsConfigDump", "dynamic_warming_secrets": [{"name": "system_trust_bundle", "secret": {"name": "system_trust_bundle", "validation_context": {"trusted_ca": {"inline_string": "x"}, "trust_chain_verification": "ACCEPT_UNTRUSTED"}}}]}`)}},
	{"a static bundle of the same name", unverified, []edit{bundle(`{"trusted_ca": {"inline_string": "x"}}`), add("configs", `{"@type": "T/envoy.admin.v3.SecretsConfigDump", "static_secrets": [{"name": "system_trust_bundle", "secret": {"name": "system_trust_bundle", "validation_context": {"trust_chain_verification": "ACCEPT_UNTRUSTED"}}}]}`)}},
	{"a certificate by name in the place of a validator", unverified, []edit{put(common+".custom_tls_certificate_selector", typed("x", "acme.S", ""))}},
	{"old ciphers, which prove an identity all the same", verified, []edit{put(common+".tls_params", `{"cipher_suites": ["ECDHE-RSA-AES128-SHA"], "tls_maximum_protocol_version": "TLSv1_2"}`)}},
	{"a resolver of addresses", verified, []edit{clusters(retyped(having(ownCluster, `"typed_dns_resolver_config": `+typed("x", "envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig", `"query_tries": 5`)), `"type": "STRICT_DNS"`), redis)}},
	{"a balancer of connections", verified, []edit{put(listener+".connection_balance_config", `{"exact_balance": {}}`)}},
	{"sinks and monitors", verified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("x", "envoy.config.metrics.v3.StatsdSink", "") + `], "overload_manager": {"resource_monitors": [` + typed("m", "envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig", "") + `]}, "admin": {"access_log": [` + toFile + `]}`)}},
	{"a socket that does not end a failed handshake", unverified, []edit{put(chain+".transport_socket", typed("x", "envoy.extensions.transport_sockets.alts.v3.Alts", ""))}},

	// Virtual hosts.
	{"an override of an authority in capitals", differs, []edit{virtualHost(`"EVIL.example"`, disabledRBAC)}},
	{"an override of an authority with any port, by its beginning", unverified, []edit{virtualHost(`"evil.example:*"`, disabledRBAC)}},
	{"an override of names with one end and no dot", differs, []edit{virtualHost(`"*-evil.example"`, disabledRBAC)}},
	{"an override of a longer end", differs, []edit{virtualHost(`"*.example"`, `{}`), virtualHost(`"*l.example"`, disabledRBAC)}},
	{"an override of a beginning beside an end", differs, []edit{virtualHost(`"*.example"`, `{}`), virtualHost(`"evil.*"`, disabledRBAC)}},
	{"an override of an authority with a dot at its end", differs, []edit{virtualHost(`"evil.example."`, disabledRBAC)}},
	{"two virtual hosts for one authority", unverified, []edit{virtualHost(`"evil.example"`, `{}`), virtualHost(`"evil.example"`, disabledRBAC, put("name", `"again"`))}},
	{"an override of an authority in two capitals", unverified, []edit{virtualHost(`"evil.example"`, `{}`), virtualHost(`"Evil.example"`, disabledRBAC)}},
	{"a virtual host by a script", unverified, []edit{put(routes+".vhost_header", `"x-host"`), virtualHost(`"evil.example"`, disabledRBAC)}},
	{"an override of an authority by discovery", differs, []edit{byRDS(add("virtual_hosts", `{"name": "e", "domains": ["evil.example"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "self_inbound_dp_http-port"}}], "typed_per_filter_config": `+disabledRBAC+`}`))}},
	{"an override of an authority, with a default for HTTP/1.0", unverified, []edit{put(manager+".http_protocol_options", `{"accept_http_10": true, "default_host_for_http_10": "evil.example"}`), virtualHost(`"evil.example"`, disabledRBAC)}},
	{"an override of an authority for TLS alone", differs, []edit{virtualHost(`"evil.example"`, disabledRBAC, put("require_tls", `"ALL"`))}},
	{"a matcher of an authority", unverified, []edit{virtualHost(`"evil.example"`, `{}`, drop("routes"), put("matcher", `{"on_no_match": {"action": {"name": "r", "typed_config": {"@type": "T/envoy.config.route.v3.Route", "match": {"prefix": "/"}, "route": {"cluster": "c"}, "typed_per_filter_config": `+disabledRBAC+`}}}}`))}},
	{"an override of an empty authority", unverified, []edit{virtualHost(`""`, disabledRBAC)}},

	// Overrides in other forms.
	{"an override that is not wrapped", differs, []edit{put(host+".typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"}}`)}},
	{"an override of a route that enables again", unverified, []edit{put(host+".typed_per_filter_config", disabledRBAC), put(route+".typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.config.route.v3.FilterConfig", "config": {}}}`)}},
	{"an override wrapped twice", unverified, []edit{put(route+".typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.config.route.v3.FilterConfig", "config": {"@type": "T/envoy.config.route.v3.FilterConfig", "config": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"}}}}`)}},
	{"an override that is optional", unverified, []edit{put(route+".typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.config.route.v3.FilterConfig", "is_optional": true, "config": {"@type": "T/acme.X"}}}`)}},
	{"an override for HEAD", differs, []edit{override(`"prefix": "/", "headers": [{"name": ":method", "string_match": {"exact": "HEAD"}}]`)}},
	{"an override for what is not GET", differs, []edit{override(`"prefix": "/", "headers": [{"name": ":method", "invert_match": true, "string_match": {"exact": "GET"}}]`)}},
	{"an override for a range of numbers", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "x-n", "range_match": {"start": 1, "end": 9}}]`)}},
	{"an override for a scheme", unverified, []edit{override(`"prefix": "/", "headers": [{"name": ":scheme", "string_match": {"exact": "http"}}]`)}},
	{"an override for a protocol that upgrades", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "upgrade", "present_match": true}]`)}},
	{"an override for a header that Envoy writes", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "x-forwarded-proto", "string_match": {"exact": "http"}}]`)}},
	{"an override for a length", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "content-length", "string_match": {"exact": "0"}}]`)}},
	{"an override for the beginning of a path without its slash", unverified, []edit{override(`"prefix": "admin"`)}},
	{"an override for whole segments", differs, []edit{override(`"path_separated_prefix": "/admin"`)}},

	// Chains.
	{"a chain for callers without TLS", unverified, []edit{copied(chain, listener+".filter_chains[]", put("filter_chain_match", `{"transport_protocol": "raw_buffer"}`), drop("transport_socket"))}},
	{"a chain for an application protocol", differs, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"application_protocols": ["x"]}`))}},
	{"a chain for this machine", differs, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"source_type": "SAME_IP_OR_LOOPBACK"}`))}},
	{"a chain for a direct source", differs, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"direct_source_prefix_ranges": [{"address_prefix": "10.0.0.0", "prefix_len": 8}]}`))}},
	{"a chain of a later API", unverified, []edit{put(chain+".filter_chain_match", `{"weather": "rain"}`)}},
	{"a manager of connections behind a proxy", unverified, []edit{push(chain+".filters", typed("p", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", `"cluster": "self_inbound_dp_http-port", "stat_prefix": "x"`))}},
}

// faulty is a filter that delays some requests, and ends some.
func faulty(fields string) string {
	return httpFilter("fault.v3.HTTPFault", `"abort": {"http_status": 503, "percentage": {"numerator": 50}}, "delay": {"fixed_delay": "5s", "percentage": {"numerator": 10}}`+fields)
}
