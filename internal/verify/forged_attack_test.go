package verify

import (
	"fmt"
	"strings"
	"testing"
)

// forgedAttacks are dumps of a later attack: what a whole round over the classes of the table of
// docs/attacks.md tried.
var forgedAttacks = []forged{
	// A chain whose routes lead to no endpoint, and a filter that calls the workload by itself.
	{"a script in front of a black hole", unverified, []edit{holed(script(`function envoy_on_request(h) local a, b = h:httpCall("self_inbound_dp_http-port", {[":method"]="GET", [":path"]="/", [":authority"]="a"}, "", 1000); h:respond(a, b) end`))}},
	{"code in front of a black hole", unverified, []edit{holed(typed("w", "envoy.extensions.filters.http.wasm.v3.Wasm", ""))}},
	{"an unknown filter in front of a black hole", unverified, []edit{holed(typed("w", "acme.Filter", ""))}},
	{"a service in front of a black hole", unverified, []edit{holed(typed("w", "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", `"grpc_service": {"envoy_grpc": {"cluster_name": "hole"}}`))}},
	{"a composite in front of a black hole", unverified, []edit{holed(typed("c", "envoy.extensions.filters.http.composite.v3.Composite", ""))}},
	{"a dynamic module in front of a black hole", unverified, []edit{holed(typed("c", "envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter", ""))}},
	{"a filter by discovery in front of a black hole", unverified, []edit{holed(`{"name": "x", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/envoy.extensions.filters.http.lua.v3.Lua"]}}`)}},
	{"a script of a route to a black hole", unverified, []edit{holed(lua(), put("filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.typed_per_filter_config", `{"lua": {"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "source_code": {"inline_string": "function envoy_on_request(h) h:httpCall('self_inbound_dp_http-port', {}, '', 1) end"}}}`))}},
	{"a black hole", verified, []edit{holed(typed("s", "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", ""))}},
	{"a black hole behind a redirect inside", unverified, []edit{holed(typed("s", "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", ""), put("filter_chains.0.filters.0.typed_config.field_of_later", `1`))}},
	{"an upgrade past a black hole", unverified, []edit{holed(lua(), put("filter_chains.0.filters.0.typed_config.upgrade_configs", `[{"upgrade_type": "websocket", "filters": [`+script(`function envoy_on_request(h) h:httpCall("self_inbound_dp_http-port", {}, "", 1) end`)+`]}]`))}},

	// The host behind RBAC.
	{"another host behind a decision by host", unverified, []edit{byHost, put(route+".route.host_rewrite_literal", `"admin.example"`)}},
	{"another host by a header", unverified, []edit{byHost, put(route+".route.host_rewrite_header", `"x-host"`)}},
	{"another host by the path", unverified, []edit{byHost, put(route+".route.host_rewrite_path_regex", `{"pattern": {"regex": "/(.*)"}, "substitution": "\\1"}`)}},
	{"another host by the endpoint", unverified, []edit{byHost, put(route+".route.auto_host_rewrite", `true`)}},
	{"another host by a format", unverified, []edit{byHost, put(route+".route.host_rewrite", `"%REQ(x)%"`)}},
	{"another host by a share", unverified, []edit{byHost, put(route+".route", `{"weighted_clusters": {"clusters": [{"name": "self_inbound_dp_http-port", "weight": 1, "host_rewrite_literal": "admin.example"}]}}`)}},
	{"another host by a script", unverified, []edit{byHost, behindRBAC(script(`function envoy_on_request(h) h:headers():replace("host", "admin.example") end`))}},
	{"another host by a script, in capitals", unverified, []edit{byHost, behindRBAC(script(`function envoy_on_request(h) h:headers():replace("Host", "admin.example") end`))}},
	{"no host by a script", unverified, []edit{byHost, behindRBAC(script(`function envoy_on_request(h) h:headers():remove("host") end`))}},
	{"a header by a script behind a decision by it", unverified, []edit{byRole, behindRBAC(script(`function envoy_on_request(h) h:headers():replace("x-role", "admin") end`))}},
	{"a header taken away by a script behind a decision by it", unverified, []edit{byRole, behindRBAC(script(`function envoy_on_request(h) h:headers():remove("x-role") end`))}},
	{"another path by a script of a route", unverified, []edit{deep, behindRBAC(lua()), put(route+".typed_per_filter_config", scriptOfRoute(`function envoy_on_request(h) h:headers():replace(":path", "/admin") end`))}},
	{"another host by a script of a route", unverified, []edit{byHost, behindRBAC(lua()), put(host+".typed_per_filter_config", scriptOfRoute(`function envoy_on_request(h) h:headers():replace("host", "a") end`))}},
	{"another header by a script of a route", verified, []edit{byHost, behindRBAC(lua()), put(host+".typed_per_filter_config", scriptOfRoute(`function envoy_on_request(h) h:headers():replace("x-a", "a") end`))}},
	{"no path by a script", unverified, []edit{deep, behindRBAC(script(`function envoy_on_request(h) h:headers():remove(":path") end`))}},
	{"a header of the host before", unverified, []edit{byHeader("x-forwarded-host"), put(route+".route.append_x_forwarded_host", `true`)}},
	// Second round: matchers of routes and of RBAC.
	{"RBAC by structure that a route disables by structure", differs, []edit{put(route+".typed_per_filter_config", `{"envoy.filters.http.rbac": `+structured("envoy.config.route.v3.FilterConfig", `{"disabled": true}`)+`}`)}},
	{"an override in an extension of a route", unverified, []edit{put(route+".typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.extensions.common.matching.v3.ExtensionWithMatcherPerRoute"}}`)}},
	{"an override by composite", unverified, []edit{put(route+".typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.extensions.filters.http.composite.v3.CompositePerRoute"}}`)}},
	{"a route disables a filter of the name in capitals", verified, []edit{put(route+".typed_per_filter_config", `{"Envoy.filters.http.rbac": {"@type": "T/envoy.config.route.v3.FilterConfig", "disabled": true}}`)}},
	{"an override by the old name", unverified, []edit{put(route+".per_filter_config", `{"envoy.filters.http.rbac": {}}`)}},
	{"an override of a route that redirects", differs, []edit{override(`"prefix": "/old"`)}},
	{"an override for an empty prefix in a second host", unverified, []edit{virtualHost(`"*.example"`, disabledRBAC, put("routes.0.match", `{"prefix": ""}`))}},
	{"two virtual hosts for all", unverified, []edit{virtualHost(`"*"`, disabledRBAC)}},
	{"a virtual host for all, and for all with a port", differs, []edit{virtualHost(`"*:8080"`, disabledRBAC)}},
	{"a domain in IPv6", unverified, []edit{virtualHost(`"[::1]"`, disabledRBAC), put(routes+".ignore_port_in_host_matching", `true`)}},
	{"a domain with an underscore", differs, []edit{virtualHost(`"a_b"`, disabledRBAC)}},
	{"a domain beyond ASCII", unverified, []edit{virtualHost(`"\u00e9"`, disabledRBAC)}},
	{"a domain of a star within", differs, []edit{virtualHost(`"a*b"`, disabledRBAC)}},
	{"a route by a pseudo header of the scheme", unverified, []edit{override(`"prefix": "/", "headers": [{"name": ":scheme", "present_match": true}]`)}},
	{"a route by host header", differs, []edit{override(`"prefix": "/", "headers": [{"name": "host", "string_match": {"exact": "evil"}}]`)}},
	{"a route by the host in capitals", differs, []edit{override(`"prefix": "/", "headers": [{"name": "HOST", "string_match": {"exact": "evil"}}]`)}},
	{"a route by a cookie header", differs, []edit{override(`"prefix": "/", "headers": [{"name": "cookie", "string_match": {"contains": "debug=1"}}]`)}},
	{"a route by the header of a method", differs, []edit{override(`"prefix": "/", "headers": [{"name": ":method", "string_match": {"exact": "TRACE"}}]`)}},
	{"a route by the header of a path", differs, []edit{override(`"prefix": "/", "headers": [{"name": ":path", "string_match": {"suffix": "?debug"}}]`)}},
	{"a route by a header, where a missing one is empty", differs, []edit{override(`"prefix": "/", "headers": [{"name": "x-a", "treat_missing_header_as_empty": true, "string_match": {"exact": ""}}]`)}},
	{"a route by a header that is not there", differs, []edit{override(`"prefix": "/", "headers": [{"name": "x-a", "present_match": false}]`)}},
	{"a route by two headers", differs, []edit{override(`"prefix": "/", "headers": [{"name": "x-a", "present_match": true}, {"name": "x-b", "string_match": {"exact": "1"}}]`)}},
	{"a route by exact_match of old", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "x-a", "exact_match": "1"}]`)}},
	{"a route by a suffix of old", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "x-a", "suffix_match": "1"}]`)}},
	{"a route by a header of trace", differs, []edit{override(`"prefix": "/", "headers": [{"name": "traceparent", "present_match": true}]`)}},
	{"a route by te", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "te", "present_match": true}]`)}},
	{"a route by an empty name of a header", unverified, []edit{override(`"prefix": "/", "headers": [{"name": ""}]`)}},
	{"a route by the length of a content", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "Content-Length", "present_match": true}]`)}},
	{"a route by a regular expression in any case", differs, []edit{override(`"safe_regex": {"regex": "(?i)/ADMIN.*"}`)}},
	{"a route by a path in any case, exactly", differs, []edit{override(`"path": "/Admin", "case_sensitive": false`)}},
	{"a route of gRPC methods", unverified, []edit{override(`"prefix": "/", "grpc": {}`)}},
	{"a route by a cookie", unverified, []edit{override(`"prefix": "/", "cookies": [{"name": "a", "string_match": {"exact": "b"}}]`)}},

	// Inputs and matchers of RBAC.
	{"by the name of a filter chain", unverified, []edit{allowing("envoy.extensions.matching.common_inputs.environment_variable.v3.Config", `"name": "HOME"`, inList(`"exact": "x"`))}},
	{"by network namespace", unverified, []edit{allowing(network+"NetworkNamespaceInput", "", inList(`"exact": "x"`))}},
	{"by the header of a response", unverified, []edit{allowing("envoy.type.matcher.v3.HttpResponseHeaderMatchInput", `"header_name": "x"`, inList(`"exact": "x"`))}},
	{"by a trailer", unverified, []edit{allowing("envoy.type.matcher.v3.HttpRequestTrailerMatchInput", `"header_name": "x"`, inList(`"exact": "x"`))}},
	{"by a parameter of the query", unverified, []edit{allowing("envoy.type.matcher.v3.HttpRequestQueryParamMatchInput", `"query_param": "x"`, inList(`"exact": "x"`))}},
	{"by attributes of CEL", unverified, []edit{allowing("xds.type.matcher.v3.HttpAttributesCelMatchInput", "", `"custom_match": `+typed("c", "xds.type.matcher.v3.CelMatcher", ""))}},
	{"by a consistent hash", unverified, []edit{allowing(uriSAN, "", `"custom_match": `+typed("c", "envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing", `"threshold": 1, "modulo": 2`))}},
	{"by a header in capitals", differs, []edit{allowing(header, `"header_name": "X-Debug"`, inList(`"exact": "1"`))}},
	{"by the host header", differs, []edit{allowing(header, `"header_name": "Host"`, inList(`"exact": "evil"`))}},
	{"by cookie", differs, []edit{allowing(header, `"header_name": "cookie"`, inList(`"prefix": "evil"`))}},
	{"by authorization", differs, []edit{allowing(header, `"header_name": "authorization"`, inList(`"exact": "Basic x"`))}},
	{"by a forwarded address in a header", unverified, []edit{allowing(header, `"header_name": "X-Forwarded-For"`, inList(`"exact": "10.0.0.1"`))}},
	{"by a forwarded certificate in a header", unverified, []edit{allowing(header, `"header_name": "x-forwarded-client-cert"`, inList(`"contains": "admin"`))}},
	{"by the empty header", differs, []edit{allowing(header, `"header_name": "x-a"`, inList(`"exact": ""`))}},
	{"by a header of two lines", differs, []edit{allowing(header, `"header_name": "x-a"`, inList(`"exact": "a,b"`))}},
	{"by the end of a name in capitals", differs, []edit{allowing(uriSAN, "", inList(`"suffix": "/SA/ROOT", "ignore_case": true`))}},
	{"by a name that begins with the namespace, in capitals", differs, []edit{name(`"prefix": "spiffe://default.zone-1.mesh.local/NS/evil", "ignore_case": true`)}},
	{"by a map of names", differs, []edit{nested(`{"matcher_tree": {"input": ` + typed("i", uriSAN, "") + `, "exact_match_map": {"map": {"spiffe://default.zone-1.mesh.local/ns/evil/sa/x": {"action": ` + doorAction + `}}}}}`)}},
	{"by a map of beginnings", differs, []edit{nested(`{"matcher_tree": {"input": ` + typed("i", uriSAN, "") + `, "prefix_match_map": {"map": {"spiffe://default.zone-1.mesh.local/ns/evil/": {"action": ` + doorAction + `}}}}}`)}},
	{"by a map of headers", differs, []edit{nested(`{"matcher_tree": {"input": ` + typed("i", header, `"header_name": "x-door"`) + `, "exact_match_map": {"map": {"open": {"action": ` + doorAction + `}}}}}`)}},
	{"by a trie of addresses", unverified, []edit{nested(`{"matcher_tree": {"input": ` + typed("i", network+"SourceIPInput", "") + `, "custom_match": ` + typed("c", "xds.type.matcher.v3.IPMatcher", `"range_matchers": [{"ranges": [{"address_prefix": "10.9.0.0", "prefix_len": 16}], "on_match": {"action": `+doorAction+`}}]`) + `}}`)}},
	{"by the end of nested lists", differs, []edit{nested(`{"matcher_list": {"matchers": [{"predicate": {"single_predicate": {"input": ` + typed("i", uriSAN, "") + `, "value_match": {"exact": "spiffe://default.zone-1.mesh.local/nobody"}}}, "on_match": {"action": ` + doorAction + `}}]}, "on_no_match": {"action": ` + doorAction + `}}`)}},
	{"by a log of a nested list", differs, []edit{nested(`{"on_no_match": {"action": {"name": "a", "typed_config": {"@type": "T/envoy.config.rbac.v3.Action", "name": "x", "action": "LOG"}}}}`)}},
	{"by an action of another kind", unverified, []edit{nested(`{"on_no_match": {"action": {"name": "a", "typed_config": {"@type": "T/envoy.config.route.v3.Route"}}}}`)}},
	{"by an action of a later number", unverified, []edit{nested(`{"on_no_match": {"action": {"name": "a", "typed_config": {"@type": "T/envoy.config.rbac.v3.Action", "name": "x", "action": 9}}}}`)}},
	// Third round: listeners, transport, clusters and states.
	{"a default chain of another listener's port", differs, []edit{copied(chain, listener+".default_filter_chain", drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"destination_port": 8080}`))}},
	{"a chain for an SNI with a star", differs, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"server_names": ["*.evil"]}`))}},
	{"a chain for an address suffix", differs, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"address_suffix": "7", "suffix_len": 3}`))}},
	{"a chain named as another, open", differs, []edit{put(chain+".name", `"#1"`), copied(chain, listener+".filter_chains[]", drop("name"), drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"server_names": ["evil"]}`))}},
	{"a canary that leads to the workload behind its answer", unverified, []edit{copied(chain, listener+".filter_chains[]", put("name", `"canary"`), put("filter_chain_match", `{"prefix_ranges": [{"address_prefix": "240.0.0.1", "prefix_len": 32}]}`), push("filters", typed("d", "envoy.extensions.filters.network.direct_response.v3.Config", "")))}},
	{"a listener of IPv4 in IPv6 for the same port", unverified, []edit{twin(put("address.socket_address", `{"address": "::", "port_value": 8080, "ipv4_compat": true}`))}},
	{"a twin on a named port", unverified, []edit{twin(put("address.socket_address", `{"address": "10.0.0.7", "named_port": "http"}`))}},
	{"a twin with a resolver", unverified, []edit{twin(put("address.socket_address", `{"address": "10.0.0.7", "port_value": 8080, "resolver_name": "x"}`))}},
	{"a twin on loopback", unverified, []edit{twin(put("address.socket_address", `{"address": "127.0.0.1", "port_value": 8080}`))}},
	{"a twin on a pipe", unverified, []edit{twin(put("address", `{"pipe": {"path": "/tmp/x"}}`))}},
	{"a twin on an address of Envoy inside", unverified, []edit{twin(put("address", `{"envoy_internal_address": {"server_listener_name": "x"}}`))}},
	{"outbound on every IPv6 address", unverified, []edit{leading(put("address.socket_address", `{"address": "::", "port_value": 9999}`))}},
	{"outbound on IPv4 as IPv6 of the workload", unverified, []edit{leading(put("address.socket_address", `{"address": "::ffff:10.0.0.7", "port_value": 9999}`))}},
	{"outbound with one more address, of the workload", unverified, []edit{leading(put("additional_addresses", `[{"address": {"socket_address": {"address": "10.0.0.7", "port_value": 9999}}}]`))}},
	{"outbound with one more address, of all", unverified, []edit{leading(put("additional_addresses", `[{"address": {"socket_address": {"address": "0.0.0.0", "port_value": 9999}}}]`))}},
	{"outbound by a default chain to the inbound's cluster", unverified, []edit{leading(copied("filter_chains.0", "default_filter_chain", put("filters.0.typed_config.cluster", `"self_inbound_dp_6379"`)))}},
	{"outbound by a share to the inbound's cluster", unverified, []edit{leading(drop("filter_chains.0.filters.0.typed_config.cluster"), put("filter_chains.0.filters.0.typed_config.weighted_clusters", `{"clusters": [{"name": "self_inbound_dp_6379", "weight": 1}]}`))}},
	{"outbound that drains, to the inbound's cluster", unverified, []edit{copied(outbound, "configs.0.dynamic_listeners.2.draining_state.listener", put("filter_chains.0.filters.0.typed_config.cluster", `"self_inbound_dp_6379"`), put("address.socket_address.address", `"10.0.0.8"`))}},
	{"a twin that drains", differs, []edit{copied(listener, "configs.0.dynamic_listeners.1.draining_state.listener", withoutRBAC)}},
	{"a twin that warms", unverified, []edit{copied(listener, "configs.0.dynamic_listeners.1.warming_state.listener", withoutRBAC)}},
	{"an active state without a listener", unverified, []edit{drop(listener)}},
	{"a client status of an error", verified, []edit{put(states+".client_status", `"NACKED"`)}},
	{"a listener in two states of one name", unverified, []edit{put(states+".activeState", `{}`)}},
	{"a filter in two spellings", unverified, []edit{put(filters+".0.typedConfig", `{"@type": "T/envoy.extensions.filters.http.rbac.v3.RBAC"}`)}},
	{"a matcher in two spellings", unverified, []edit{put(rbac+".shadow_matcher", `{}`), put(rbac+".shadowMatcher", `{}`)}},
	{"a transport socket by matches", unverified, []edit{put(chain+".transport_socket_connect_timeout", `"1s"`), put(chain+".use_proxy_proto", `true`)}},
	{"a transport socket of QUIC", unverified, []edit{put(chain+".transport_socket", typed("q", "envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport", ""))}},
	{"a transport socket of a proxy's header", unverified, []edit{put(chain+".transport_socket", typed("q", "envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport", ""))}},
	{"TLS in a struct without demands", unverified, []edit{put(chain+".transport_socket.typed_config", structured("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", `{}`))}},
	{"a certificate that is asked for by a number", unverified, []edit{put(tls+".require_client_certificate", `0`)}},
	{"SANs by a fold of case in a trust domain", unverified, []edit{put(sans, `[{"san_type": "URI", "matcher": {"prefix": "spiffe://Default.zone-1.mesh.local/"}}]`)}},
	{"SANs of a trust domain with a port", unverified, []edit{put(sans, `[{"san_type": "URI", "matcher": {"prefix": "spiffe://default.zone-1.mesh.local:80/"}}]`)}},
	{"SANs by a regular expression", unverified, []edit{put(sans, `[{"san_type": "URI", "matcher": {"safe_regex": {"regex": "spiffe://default.zone-1.mesh.local/.*"}}}]`)}},
	{"SANs by a matcher of one's own", unverified, []edit{put(sans, `[{"san_type": "URI", "matcher": {"custom": `+typed("x", "acme.M", "")+`}}]`)}},
	{"SANs of another name", unverified, []edit{put(sans, `[{"san_type": "OTHER_NAME", "oid": "1.2.3", "matcher": {"prefix": "spiffe://default.zone-1.mesh.local/"}}]`)}},
	{"the secret's name with an end", unverified, []edit{put(secret+".name", `"system_trust_bundle2"`)}},
	{"the secret of a path", unverified, []edit{put(secret+".sds_config", `{"path_config_source": {"path": "/tmp/x"}}`)}},
	{"the secret of the process itself", unverified, []edit{put(secret+".sds_config", `{"self": {}}`)}},
	{"the secret over REST", unverified, []edit{put(secret+".sds_config", `{"api_config_source": {"api_type": "REST", "cluster_names": ["x"]}}`)}},
	{"the secret of other authorities", unverified, []edit{put(secret+".sds_config.authorities", `[{"name": "evil"}]`)}},
	{"a secret with a CA of the system", unverified, []edit{bundle(`{"system_root_certs": {}}`)}},
	{"a secret that takes a leaf for its CA", unverified, []edit{bundle(`{"trusted_ca": {"inline_string": "x"}, "trust_chain_verification": "ACCEPT_UNTRUSTED"}`)}},
	{"a secret that a watched directory changes", unverified, []edit{bundle(`{"trusted_ca": {"filename": "/x"}, "watched_directory": {"path": "/"}}`)}},
	{"a cluster with a subset by a header", verified, []edit{clusters(having(ownCluster, `"lb_subset_config": {"subset_selectors": [{"keys": ["v"]}]}`), redis)}},
	{"a cluster on a second priority outside", verified, []edit{clusters(strings.Replace(ownCluster, `]}}`, `, {"priority": 1, "lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "10.0.0.7", "port_value": 8080}}}}]}]}}`, 1), redis)}},
	{"a cluster with named endpoints", unverified, []edit{clusters(strings.Replace(ownCluster, `"load_assignment": {`, `"load_assignment": {"named_endpoints": {"a": {}}, `, 1), redis)}},
	{"a cluster without a type, with a name for an endpoint", unverified, []edit{clusters(static("self_inbound_dp_http-port", "redis.default.svc", 8080), redis)}},
	{"an inbound with the cluster's name in capitals", unverified, []edit{put(route+".route.cluster", `"SELF_inbound_dp_http-port"`)}},
	{"a tcp inbound that leads to the admin", unverified, []edit{clusters(ownCluster, static("self_inbound_dp_6379", "127.0.0.1", 9901)), bootstrap(harmlessLayers + `, "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 9901}}}`)}},
	{"an RBAC filter by ECDS without a type", unverified, []edit{drop(rbac), put(filters+".0.config_discovery", `{"config_source": {"ads": {}}, "type_urls": ["T/envoy.extensions.filters.http.rbac.v3.RBAC"]}`), add("configs", `{"@type": "T/envoy.admin.v3.EcdsConfigDump", "ecds_filters": [{"ecds_filter": {"name": "envoy.filters.http.rbac", "typed_config": {}}}]}`)}},
	{"a typed config beside a discovery", unverified, []edit{put(filters+".0.config_discovery", `{"config_source": {"ads": {}}, "type_urls": ["T/envoy.extensions.filters.http.rbac.v3.RBAC"]}`)}},
	{"another host, where no decision asks for it", verified, []edit{put(route+".route.host_rewrite_literal", `"admin.example"`)}},
}

// holed adds an inbound listener whose routes lead to a cluster without endpoints, with a filter
// in front of the router.
func holed(filter string, edits ...edit) edit {
	const m = "filter_chains.0.filters.0.typed_config"
	edits = append([]edit{put("name", `"hole"`), put("address.socket_address.port_value", `9999`), put(m+".stat_prefix", `"hole"`), put(m+".route_config.name", `"hole"`), put(m+".route_config.virtual_hosts.0.name", `"hole"`), put(m+".http_filters.0", filter), put(m+".route_config.virtual_hosts.0.routes.0.route.cluster", `"hole"`)}, edits...)
	return func(dump any) any {
		dump = copied(listener, "configs.0.static_listeners[]", append(edits, listenerOf)...)(dump)
		return clusters(ownCluster, redis, `{"name": "hole", "type": "STATIC"}`)(dump)
	}
}

func scriptOfRoute(source string) string {
	return fmt.Sprintf(`{"lua": {"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "source_code": {"inline_string": %q}}}`, source)
}

// byHost, byRole and byHeader add a rule that changes no decision.
var (
	byHost = byHeader(":authority")
	byRole = byHeader("x-role")
)

func byHeader(name string) edit {
	return push(rbac+".matcher.matcher_list.matchers", `{"predicate": {"and_matcher": {"predicate": [`+predicate(header, `"header_name": "`+name+`"`, inList(`"exact": "admin.example"`))+`, `+predicate(uriSAN, "", inList(`"prefix": "spiffe://default.zone-1.mesh.local/ns/malicious"`))+`]}},
		"on_match": {"action": `+typed("act", "envoy.config.rbac.v3.Action", `"name": "kri_mtp_default_zone-1_kuma-system_by-mesh-operator_", "action": "DENY"`)+`}}`)
}

// TestAttacksOnIstio has back doors in the shape that Istio gives to a sidecar.
func TestAttacksOnIstio(t *testing.T) {
	t.Parallel()
	const (
		every   = istioInbound + ".default_filter_chain"
		rule    = `.filters.2.typed_config.rules.policies.ns[shop]-policy[callers]-rule[2].permissions.0.and_rules.rules.0.or_rules.rules.0`
		inOrder = "filters.2.typed_config.rules.policies.back-door"
	)
	byDefault := func(edits ...edit) edit {
		return copied(anyPortTCP, every, append([]edit{put("name", `"rest"`), drop("filter_chain_match")}, edits...)...)
	}
	door := func(port string) edit {
		return put(inOrder, `{"permissions": [{"destination_port": `+port+`}], "principals": [{"any": true}]}`)
	}
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"a default chain": {verified, []edit{byDefault()}},
		"a default chain for a port whose chain asks for more": {differs, []edit{byDefault(door("8080"))}},
		"a default chain for a port whose chain takes all":     {verified, []edit{byDefault(door("8080")), put(shopHTTP+".filter_chain_match", `{"destination_port": 8080}`)}},
		"a chain for a port of another listener":               {differs, []edit{istioTwin(), inAnyPort(door("7070"))}},
		"another listener":                                     {verified, []edit{istioTwin()}},
		"a chain for a port that no chain has":                 {differs, []edit{inAnyPort(door("7070"))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies", tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// inAnyPort edits the chain of any port.
func inAnyPort(e edit) edit { return func(dump any) any { return editAt(dump, anyPortTCP, e) } }

// istioTwin adds a listener for the port 7070 of another address, with the filters of the chain of
// any port.
func istioTwin() edit {
	return func(dump any) any {
		return copied(istioInbound, "0.configs.3.static_listeners[]", put("name", `"other"`), put("address.socket_address", `{"address": "10.0.0.8", "port_value": 7070}`),
			drop("use_original_dst"), drop("listener_filters.0"), drop("filter_chains.4"), drop("filter_chains.3"), drop("filter_chains.1"), drop("filter_chains.0"),
			put("filter_chains.0.filters.4.typed_config.cluster", `"other"`), put("filter_chains.0.filters.4.typed_config.stat_prefix", `"other"`), listenerOf)(add("0.configs.1.static_clusters", `{"cluster": `+static("other", "127.0.0.1", 7070)+`}`)(dump))
	}
}

const doorAction = `{"name": "a", "typed_config": {"@type": "T/envoy.config.rbac.v3.Action", "name": "door"}}`

// nested puts a matcher of its own in front of the rules of the HTTP inbound, for GET.
func nested(matcher string) edit {
	return push(rbac+".matcher.matcher_list.matchers", `{"predicate": {"single_predicate": {"input": `+typed("in", header, `"header_name": ":method"`)+`, "value_match": {"exact": "GET"}}}, "on_match": {"matcher": `+matcher+`}}`)
}
