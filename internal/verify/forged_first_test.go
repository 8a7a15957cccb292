package verify

// forgedFirst are dumps of the first review of verify that differ from all other rows by a
// field, or by two parts that stand together.
var forgedFirst = []forged{
	{"a chain for a block of callers", differs, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"),
		put("filter_chain_match", `{"source_prefix_ranges": [{"address_prefix": "10.9.0.0", "prefix_len": 16}]}`))}},
	{"a route by a header that has empty RBAC", differs, []edit{push(host+".routes", `{"match": {"prefix": "/", "headers": [{"name": "x-debug", "string_match": {"exact": "1"}}]},
		"route": {"cluster": "self_inbound_dp_http-port"}, "typed_per_filter_config": `+emptyRBAC+`}`)}},
	{"a matcher of routes with an action without RBAC", unverified, []edit{drop(host + ".routes"), put(host+".matcher", `{"on_no_match": {"action": `+
		typed("route", "envoy.config.route.v3.Route", `"match": {"prefix": "/"}, "route": {"cluster": "self_inbound_dp_http-port"}, "typed_per_filter_config": `+disabledRBAC)+`}}`)}},
	{"a matcher of routes by discovery, with a list of routes", unverified, []edit{drop(host + ".routes"), put(host+".matcher", `{"on_no_match": {"action": `+
		typed("routes", "envoy.config.route.v3.RouteList", `"routes": [{"match": {"prefix": "/"}, "route": {"cluster": "self_inbound_dp_http-port"}, "typed_per_filter_config": `+emptyRBAC+`}]`)+`}}`), byRDS()}},
	{"a twin on every address", unverified, []edit{twin(put("address.socket_address.address", `"0.0.0.0"`))}},
	{"a twin on every address, named as outbound", unverified, []edit{twin(put("address.socket_address.address", `"0.0.0.0"`), put("name", `"outbound:twin"`), drop("traffic_direction"))}},
	{"a twin on another port, named as outbound, to the inbound's cluster", unverified, []edit{twin(put("address.socket_address", `{"address": "10.0.0.7", "port_value": 9999}`),
		put("name", `"outbound:twin"`), put("traffic_direction", `"OUTBOUND"`))}},
	{"an open canary that a PROXY header reaches", unverified, []edit{openCanary, add(listener+".listener_filters", typed("p", "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol", ""))}},
	{"an open canary that a redirection reaches", unverified, []edit{openCanary, put(listener+".use_original_dst", `true`)}},
	{"a network filter that only observes is the only guard", differs, []edit{observedInFront, drop(chain + ".filters.1.typed_config.http_filters.0")}},
	{"a network filter in front that lets everybody in", verified, []edit{push(chain+".filters", typed("n", "envoy.extensions.filters.network.rbac.v3.RBAC",
		`"stat_prefix": "x", "rules": {"policies": {"p": {"permissions": [{"any": true}], "principals": [{"any": true}]}}}`))}},
	{"a matcher of SNI without a reader of handshakes", unverified, []edit{letting(`{"requested_server_name": {"exact": "evil"}}`, anyone)}},
	{"one of two inbounds is gone", unverified, []edit{drop("configs.0.dynamic_listeners.1")}},
	{"one of two inbounds only warms", unverified, []edit{copied(states+".active_state", states+".warming_state"), drop(states + ".active_state")}},
}

const emptyRBAC = `{"envoy.filters.http.rbac": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"}}`

// openCanary adds a chain that looks as the lab's own, and has no RBAC.
var openCanary = copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("name", `"canary"`),
	put("filter_chain_match", `{"prefix_ranges": [{"address_prefix": "240.0.0.1", "prefix_len": 32}]}`))

// observedInFront puts a network filter in front of the HTTP inbound's, whose shadow has the
// rules of the HTTP filter.
func observedInFront(dump any) any {
	var matcher any
	editAt(dump, rbac+".matcher", func(old any) any {
		matcher = old
		return old
	})
	return editAt(dump, chain+".filters", func(old any) any {
		config := map[string]any{"@type": "type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC", "stat_prefix": "x", "shadow_matcher": matcher}
		return append([]any{map[string]any{"name": "meshproof.effective_policy", "typed_config": config}}, old.([]any)...)
	})
}
