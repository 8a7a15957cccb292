package verify

// forgedLater are dumps about routes that send more than one request, filters that come later, and the
// admin interface.
var forgedLater = []forged{
	// Requests that are sent a second time, or elsewhere.
	{"a mirror of a route to another inbound", unverified, []edit{put(route+".route.request_mirror_policies", `[{"cluster": "self_inbound_dp_6379"}]`)}},
	{"a mirror of a host to another inbound, again", unverified, []edit{put(host+".request_mirror_policies", `[{"cluster": "self_inbound_dp_6379"}]`)}},
	{"a mirror of all routes to another inbound, again", unverified, []edit{put(routes+".request_mirror_policies", `[{"cluster": "self_inbound_dp_6379"}]`)}},
	{"a mirror by a header", unverified, []edit{put(route+".route.request_mirror_policies", `[{"cluster_header": "x-to"}]`)}},
	{"a mirror to the inbound's own workload", verified, []edit{put(route+".route.request_mirror_policies", `[{"cluster": "self_inbound_dp_http-port"}]`)}},
	{"a mirror to nowhere", unverified, []edit{put(route+".route.request_mirror_policies", `[{"cluster": "elsewhere"}]`)}},
	{"a second try at another priority, by an extension", unverified, []edit{put(route+".route.retry_policy", `{"retry_on": "5xx", "retry_priority": `+typed("p", "acme.P", "")+`}`)}},
	{"a second try by an option of an extension", unverified, []edit{put(route+".route.retry_policy", `{"retry_on": "5xx", "retry_options_predicates": [`+typed("p", "acme.P", "")+`]}`)}},
	{"a second try of a host by an extension", unverified, []edit{put(host+".retry_policy_typed_config", `{"@type": "T/acme.P"}`)}},
	{"a redirect inside that copies headers of the answer", verified, []edit{put(route+".route.internal_redirect_policy", `{"max_internal_redirects": 3, "response_headers_to_copy": ["x-role"]}`)}},
	{"a redirect inside that copies the header that a filter asks for", differs, []edit{put(route+".route.internal_redirect_policy", `{"response_headers_to_copy": ["x-role"]}`), denying("x-role")}},
	{"a redirect inside by an unknown predicate", unverified, []edit{put(route+".route.internal_redirect_policy", `{"predicates": [`+typed("p", "acme.P", "")+`]}`)}},
	{"a share to another inbound", unverified, []edit{drop(route + ".route.cluster"), put(route+".route.weighted_clusters", `{"clusters": [{"name": "self_inbound_dp_http-port", "weight": 99}, {"name": "self_inbound_dp_6379", "weight": 1}]}`)}},
	{"a share by a header", unverified, []edit{drop(route + ".route.cluster"), put(route+".route.weighted_clusters", `{"header_name": "x-share", "clusters": [{"name": "self_inbound_dp_http-port", "weight": 1}]}`)}},

	// Routes that come later.
	{"virtual hosts by discovery, again", unverified, []edit{put(routes+".vhds", `{"config_source": {"ads": {}}}`)}},
	{"virtual hosts by discovery, and routes on demand behind", unverified, []edit{put(routes+".vhds", `{"config_source": {"ads": {}}}`), behindRBAC(httpFilter("on_demand.v3.OnDemand", ""))}},
	{"clusters on demand behind", unverified, []edit{behindRBAC(httpFilter("on_demand.v3.OnDemand", `"odcds": {"source": {"ads": {}}}`))}},
	{"clusters on demand of a route", unverified, []edit{put(route+".typed_per_filter_config", `{"on_demand": {"@type": "T/envoy.extensions.filters.http.on_demand.v3.PerRouteConfig", "odcds": {"source": {"ads": {}}}}}`), behindRBAC(`{"name": "on_demand", "typed_config": {"@type": "T/envoy.extensions.filters.http.on_demand.v3.OnDemand"}}`)}},
	{"a scope on demand", unverified, []edit{drop(routes), put(manager+".scoped_routes", `{"name": "s", "scope_key_builder": {"fragments": [{"header_value_extractor": {"name": "x", "index": 0}}]}, "scoped_rds": {"scoped_rds_config_source": {"ads": {}}}}`), add("configs", `{"@type": "T/envoy.admin.v3.ScopedRoutesConfigDump", "dynamic_scoped_route_configs": [{"name": "s", "scoped_route_configs": [{"name": "a", "on_demand": true, "route_configuration_name": "later"}]}]}`)}},
	{"a scope that is empty", unverified, []edit{drop(routes), put(manager+".scoped_routes", `{"name": "s", "scope_key_builder": {"fragments": [{"header_value_extractor": {"name": "x", "index": 0}}]}, "scoped_rds": {"scoped_rds_config_source": {"ads": {}}}}`), add("configs", `{"@type": "T/envoy.admin.v3.ScopedRoutesConfigDump", "dynamic_scoped_route_configs": [{"name": "s", "scoped_route_configs": []}]}`)}},
	// It takes no request, and Envoy refuses it.
	{"a virtual host without domains that overrides", verified, []edit{copied(host, routes+".virtual_hosts[]", put("name", `"e"`), put("domains", `[]`), put("typed_per_filter_config", disabledRBAC))}},
	{"a virtual host with an empty domain that overrides", unverified, []edit{virtualHost(`""`, disabledRBAC)}},
	{"a virtual host by a tree of matchers", unverified, []edit{put(routes+".virtual_hosts.0.matcher", `{"matcher_tree": {}}`)}},
	{"a specifier of clusters", unverified, []edit{put(routes+".cluster_specifier_plugins", `[{"extension": `+typed("p", "envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig", "")+`}]`), drop(route + ".route.cluster"), put(route+".route.cluster_specifier_plugin", `"p"`)}},
	{"an action of a filter", unverified, []edit{drop(route + ".route"), put(route+".filter_action", `{"action": {"@type": "T/acme.A"}}`)}},
	{"no action for forwarding", unverified, []edit{drop(route + ".route"), put(route+".non_forwarding_action", `{}`)}},
	{"a route of a filter chain of its own", unverified, []edit{put(route+".typed_per_filter_config", `{"x": {"@type": "T/envoy.extensions.filters.http.filter_chain.v3.FilterChainConfigPerRoute"}}`), front(httpFilter("filter_chain.v3.FilterChainConfig", ""))}},
	{"RBAC in a chain of filters", unverified, []edit{put(filters+".0", typed("envoy.filters.http.rbac", "envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig", `"default_filter_chain": {"filters": []}`))}},

	// Upgrades.
	{"an upgrade with RBAC that is open", unverified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "websocket", "filters": [{"name": "envoy.filters.http.rbac", "typed_config": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBAC"}}, `+typed("r", "envoy.extensions.filters.http.router.v3.Router", "")+`]}]`)}},
	{"an upgrade with no filter", verified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "WebSocket", "filters": []}]`)}},
	{"an upgrade to CONNECT-UDP", unverified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "CONNECT-UDP"}]`)}},
	{"an upgrade of a route to h2c", unverified, []edit{put(route+".route.upgrade_configs", `[{"upgrade_type": "h2c", "enabled": true}]`)}},
	{"an upgrade with a space", unverified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "websocket "}]`)}},

	// Rules that look strict.
	{"a rule that asks for an extension", unverified, []edit{letting(`{"matcher": `+typed("m", "acme.M", "")+`}`, anyone)}},
	{"a principal of an extension", unverified, []edit{letting(anyone, `{"custom": `+typed("m", "envoy.extensions.rbac.principals.mtls_authenticated.v3.Config", `"any_validated_client_certificate": {}`)+`}`)}},
	{"a principal by filter state", unverified, []edit{letting(anyone, `{"filter_state": {"key": "x", "string_match": {"exact": "y"}}}`)}},
	{"a permission by sourced metadata", unverified, []edit{letting(`{"sourced_metadata": {"metadata_matcher": {"filter": "x", "path": [{"key": "k"}], "value": {"present_match": true}}, "metadata_source": "ROUTE"}}`, anyone)}},
	{"a principal by sourced metadata", unverified, []edit{letting(anyone, `{"sourced_metadata": {"metadata_matcher": {"filter": "x", "path": [{"key": "k"}], "value": {"present_match": true}}, "metadata_source": "ROUTE"}}`)}},
	{"a principal that authenticates with no name", differs, []edit{letting(anyone, `{"authenticated": {}}`)}},
	{"a range of all ports", differs, []edit{letting(`{"destination_port_range": {"start": 1, "end": 65536}}`, anyone)}},
	{"an audit with a logger of its own", unverified, []edit{put(tcpRBAC+".rules", `{"policies": {}, "audit_logging_options": {"audit_condition": "ON_DENY", "logger_configs": [{"audit_logger": `+typed("l", "acme.L", "")+`}]}}`), drop(tcpRBAC + ".matcher")}},
	{"a matcher that only a shadow has", differs, []edit{put(rbac+".shadow_rules_stat_prefix", `"x"`), put(rbac+".shadow_matcher", `{"on_no_match": {"action": `+doorAction+`}}`), drop(rbac + ".matcher")}},
	{"an empty matcher", differs, []edit{put(rbac+".matcher", `{}`)}},
	{"rules beside a matcher", unverified, []edit{put(rbac+".rules", `{"policies": {"p": {"permissions": [`+anyone+`], "principals": [`+anyone+`]}}}`)}},

	// Addresses and the admin interface.
	{"an address of another network", unverified, []edit{put(listener+".address.socket_address.network_namespace_filepath", `"/run/netns/x"`)}},
	{"an endpoint with a second address", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}, "additional_addresses": [{"address": {"socket_address": {"address": "127.0.0.1", "port_value": 6379}}}]}}]}]}}`, redis)}},
	{"an endpoint of a second priority that is the other workload", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}}]}, {"priority": 1, "lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 6379}}}}]}]}}`, redis)}},
	{"the admin interface on every address", unverified, []edit{bootstrap(harmlessLayers + `, "admin": {"address": {"socket_address": {"address": "0.0.0.0", "port_value": 9901}}}`)}},
	{"the admin interface on the workload's address", unverified, []edit{bootstrap(harmlessLayers + `, "admin": {"address": {"socket_address": {"address": "10.0.0.7", "port_value": 9901}}}`)}},
	{"the admin interface on a name", unverified, []edit{bootstrap(harmlessLayers + `, "admin": {"address": {"socket_address": {"address": "localhost.evil", "port_value": 9901}}}`)}},
	{"the admin interface on every address of IPv6", unverified, []edit{bootstrap(harmlessLayers + `, "admin": {"address": {"socket_address": {"address": "::", "port_value": 9901}}}`)}},
	{"the admin interface in two spellings", unverified, []edit{bootstrap(harmlessLayers + `, "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 9901}, "socketAddress": {"address": "0.0.0.0", "portValue": 9901}}}`)}},
	{"the admin interface on this machine", verified, []edit{bootstrap(harmlessLayers + `, "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 9901}}}`)}},
	{"the admin interface on a socket", verified, []edit{bootstrap(harmlessLayers + `, "admin": {"address": {"pipe": {"path": "/run/admin.sock", "mode": 384}}}`)}},
	{"keys of TLS sessions", unverified, []edit{put(tls+".session_ticket_keys", `{"keys": [{"inline_string": "x"}]}`)}},
	{"a log of TLS keys", unverified, []edit{put(common+".key_log", `{"path": "/tmp/x"}`)}},
	{"chunks and a length together", unverified, []edit{put(manager+".http_protocol_options.allow_chunked_length", `true`)}},
	{"an upgrade of HTTP/1.1 that is passed over", unverified, []edit{put(manager+".http_protocol_options.ignore_http_11_upgrade", `[{"prefix": "TLS"}]`)}},
}

// denying puts a rule in front of the rules of the HTTP inbound, that denies a header's value.
func denying(name string) edit {
	return push(rbac+".matcher.matcher_list.matchers", `{"predicate": {"single_predicate": {"input": `+typed("in", header, `"header_name": "`+name+`"`)+`, "value_match": {"exact": "admin"}}},
		"on_match": {"action": `+typed("act", "envoy.config.rbac.v3.Action", `"name": "default", "action": "DENY"`)+`}}`)
}
