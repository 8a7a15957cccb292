package verify

import (
	"strings"
	"testing"
)

// forgedIdle are dumps with filters as they should be that meet no connection, or that are not
// the only ones.
var forgedIdle = []forged{
	{"a chain for another port than the listener's", unverified, []edit{copied(tcpChain, listener+".filter_chains[]", put("filter_chain_match", `{"destination_port": 6379}`)), drop("configs.0.dynamic_listeners.1")}},
	{"a chain for the address of the inbound, on a listener elsewhere", unverified, []edit{put(listener+".address.socket_address.address", `"10.0.0.8"`), put(chain+".filter_chain_match", `{"prefix_ranges": [{"address_prefix": "10.0.0.7", "prefix_len": 32}]}`)}},
	{"a chain for the network of the inbound, on a listener elsewhere", unverified, []edit{put(listener+".address.socket_address.address", `"10.0.1.7"`), put(chain+".filter_chain_match", `{"prefix_ranges": [{"address_prefix": "10.0.0.0", "prefix_len": 24}]}`)}},
	{"a chain for the listener's own address", verified, []edit{put(chain+".filter_chain_match", `{"destination_port": 8080, "prefix_ranges": [{"address_prefix": "10.0.0.0", "prefix_len": 24}]}`)}},
	{"a chain for the listener's own address, written as IPv6", verified, []edit{put(chain+".filter_chain_match", `{"prefix_ranges": [{"address_prefix": "::ffff:10.0.0.7", "prefix_len": 128}]}`)}},
	{"chains for ports that are redirected", verified, []edit{clusters(ownCluster, redis, otherRedis), redirecting, put(listener+".address.socket_address.port_value", `15006`), put(chain+".filter_chain_match", `{"destination_port": 8080}`)}},
	{"an open chain that no connection meets", unverified, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"destination_port": 9999}`))}},
	{"a listener that binds no port", unverified, []edit{put(listener+".bind_to_port", `false`)}},
	{"a listener that binds no port, by the old field", unverified, []edit{put(listener+".deprecated_v1", `{"bind_to_port": false}`)}},
	{"a listener that binds no port, behind one that hands over", verified, []edit{transparent}},
	// Nothing routes packets for these addresses, and a neighbour on the link may send them.
	{"an outbound listener of a service behind one that hands over, to the admin interface", unverified, []edit{transparent, leading(put("address.socket_address", `{"address": "240.0.0.9", "port_value": 7777}`), put("filter_chains.0.filters.0.typed_config.cluster", `"kuma:envoy:admin"`))}},
	{"an outbound listener of loopback behind one that hands over, to the workload", unverified, []edit{transparent, leading(put("address.socket_address", `{"address": "127.0.0.1", "port_value": 7777}`), put("filter_chains.0.filters.0.typed_config.cluster", `"self_inbound_dp_http-port"`))}},
	{"an outbound listener of a service behind one that hands over, to another machine", verified, []edit{transparent, leading(put("address.socket_address", `{"address": "240.0.0.9", "port_value": 7777}`))}},
	{"an outbound listener of a service to the admin interface, where nothing hands over", verified, []edit{kumaClusters, leading(put("address.socket_address", `{"address": "240.0.0.9", "port_value": 7777}`), put("filter_chains.0.filters.0.typed_config.cluster", `"kuma:envoy:admin"`))}},
	{"outbound to another port of this machine", unverified, []edit{leading(elsewhere, drop("bind_to_port"), put("filter_chains.0.filters.0.typed_config.cluster", `"x"`)), clusters(ownCluster, redis, static("x", "127.0.0.1", 9901))}},
	{"outbound to another port of the workload's address", unverified, []edit{leading(elsewhere, drop("bind_to_port"), put("filter_chains.0.filters.0.typed_config.cluster", `"x"`)), clusters(ownCluster, redis, static("x", "10.0.0.7", 9901))}},
	{"RBAC in a struct with a type in two spellings", unverified, []edit{put(rbac, `{"@type": "T/xds.type.v3.TypedStruct", "type_url": "T/envoy.extensions.filters.http.rbac.v3.RBAC", "typeUrl": "T/acme.Filter", "value": {"rules": {}}}`)}},
	{"a check of health by an unknown extension", unverified, []edit{clusters(having(ownCluster, `"health_checks": [{"timeout": "1s", "interval": "1s", "custom_health_check": `+typed("x", "acme.H", "")+`}]`), redis)}},
	{"a check of health", verified, []edit{clusters(having(ownCluster, `"health_checks": [{"timeout": "1s", "interval": "1s", "http_health_check": {"path": "/"}}]`), redis)}},
	{"a check of health of another path, by HEAD", verified, []edit{checked(ownCluster, `"http_health_check": {"path": "/health", "method": "HEAD", "host": "x", "expected_statuses": [{"start": 200, "end": 300}]}`)}},
	{"a check of health by POST", unverified, []edit{checked(ownCluster, `"http_health_check": {"path": "/admin", "method": "POST"}`)}},
	{"a check of health with a header", unverified, []edit{checked(ownCluster, `"http_health_check": {"path": "/", "request_headers_to_add": [{"header": {"key": "x", "value": "y"}}]}`)}},
	{"a check of health over tcp", verified, []edit{checked(ownCluster, `"tcp_health_check": {"receive": [{"text": "00"}]}`)}},
	{"a check of health over tcp, with a command", unverified, []edit{checked(ownCluster, `"tcp_health_check": {"send": {"text": "00"}}`)}},
	{"a check of health over gRPC", verified, []edit{checked(ownCluster, `"grpc_health_check": {"service_name": "x"}`)}},
	{"a check of health over gRPC, with metadata", unverified, []edit{checked(ownCluster, `"grpc_health_check": {"initial_metadata": [{"header": {"key": "x", "value": "y"}}]}`)}},
	{"a check of health by POST, of a cluster that nothing names", unverified, []edit{checked(static("x", "127.0.0.1", 8080), `"http_health_check": {"path": "/", "method": "POST"}`)}},
	{"a check of health by POST, at the address of the machine", unverified, []edit{checked(static("x", "10.0.0.7", 8080), `"http_health_check": {"path": "/", "method": "POST"}`)}},
	{"a check of health by POST, of another machine", verified, []edit{checked(static("x", "10.9.9.9", 8080), `"http_health_check": {"path": "/", "method": "POST"}`)}},
	{"a check of health by POST, of an inbound over mTLS", verified, []edit{checked(having(static("x", "10.0.0.7", 8080), meshTLS("")), `"http_health_check": {"path": "/", "method": "POST"}`)}},
	{"a check of health by POST, of another machine by the address of this one", unverified, []edit{checked(strings.Replace(static("x", "10.9.9.9", 8080), `"endpoint": {`, `"endpoint": {"health_check_config": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}, `, 1), `"http_health_check": {"path": "/", "method": "POST"}`)}},
	{"a check of health by POST, of a name", unverified, []edit{checked(retyped(static("x", "x.example", 8080), `"type": "STRICT_DNS"`), `"http_health_check": {"path": "/", "method": "POST"}`)}},
	{"a check of health by GET, of a name", verified, []edit{checked(retyped(static("x", "x.example", 8080), `"type": "STRICT_DNS"`), `"http_health_check": {"path": "/", "method": "GET"}`)}},
	{"a check of health by POST, of a socket", unverified, []edit{checked(socketOf("x", "/tmp/kuma-mh-x.sock"), `"http_health_check": {"path": "/", "method": "POST"}`)}},
	{"a check of health with events for a service", unverified, []edit{checked(static("x", "10.9.9.9", 8080), `"http_health_check": {"path": "/"}, "event_service": {"grpc_service": {"envoy_grpc": {"cluster_name": "self_inbound_dp_6379"}}}`)}},
	{"a name of Greek letters", unverified, []edit{name(`"safe_regex": {"regex": "spiffe://default.zone-1.mesh.local/\\p{Greek}"}`)}},
	{"a name in any case", differs, []edit{name(`"safe_regex": {"regex": "spiffe://default.zone-1.mesh.local/(?i:[a-z]+)"}`)}},
}

// checked adds a cluster with a check of health to those of the inbounds, or gives one to theirs.
func checked(cluster, check string) edit {
	with := having(cluster, `"health_checks": [{"timeout": "1s", "interval": "1s", "unhealthy_threshold": 1, "healthy_threshold": 1, `+check+`}]`)
	if cluster == ownCluster {
		return clusters(with, redis)
	}
	return clusters(ownCluster, redis, with)
}

// forgedHomes are dumps whose inbound has another address than callers use, so that those reach the workload itself.
var forgedHomes = []forged{
	{"an inbound on every address of IPv6", unverified, []edit{onAddress(`"::"`)}},
	{"an inbound on every address of IPv6, and the workload on the Dataplane's", unverified, []edit{onAddress(`"::"`), clusters(static("self_inbound_dp_http-port", "10.0.0.7", 8080), redis)}},
	{"an inbound on every address of both families", verified, []edit{onAddress(`"::"`), put(listener+".address.socket_address.ipv4_compat", `true`)}},
	{"an inbound on every address", verified, []edit{onAddress(`"0.0.0.0"`)}},
	{"an inbound on every address of IPv4, and on every one of IPv6", verified, []edit{onAddress(`"0.0.0.0"`), put(listener+".additional_addresses", `[{"address": {"socket_address": {"address": "::", "port_value": 8080}}}]`)}},
	{"an inbound on the address in the notation of IPv6", unverified, []edit{onAddress(`"::ffff:10.0.0.7"`)}},
	{"an inbound on the address in the notation of IPv6, for both families", verified, []edit{onAddress(`"::ffff:10.0.0.7"`), put(listener+".address.socket_address.ipv4_compat", `true`)}},
}

// onAddress gives the listener of the HTTP inbound another address.
func onAddress(ip string) edit { return put(listener+".address.socket_address.address", ip) }

// Where one inbound is chosen, another one may lead to its workload.
func TestChosenInbound(t *testing.T) {
	t.Parallel()
	const (
		to          = "dp/http-port"
		tcpListener = "configs.0.dynamic_listeners.1.active_state.listener"
	)
	for _, tt := range []forged{
		{"as it is", verified, nil},
		{"the other one is open", verified, []edit{drop(tcpChain + ".filters.0")}},
		{"the other one demands no certificate", verified, []edit{drop(tcpChain + ".transport_socket")}},
		{"the other one leads to its cluster", unverified, []edit{put(tcpProxy+".cluster", `"self_inbound_dp_http-port"`)}},
		{"the other one leads to its workload", unverified, []edit{clusters(ownCluster, static("self_inbound_dp_6379", "127.0.0.1", 8080))}},
		{"the other one leads to its listener", unverified, []edit{clusters(static("self_inbound_dp_http-port", "127.0.0.1", 80), static("self_inbound_dp_6379", "10.0.0.7", 8080))}},
		{"the other one leads anywhere", unverified, []edit{clusters(ownCluster, `{"name": "self_inbound_dp_6379", "cluster_type": {"name": "dynamic"}}`)}},
		{"the other one logs to its cluster", unverified, []edit{put(tcpProxy+".access_log", `[`+toGRPC("self_inbound_dp_http-port")+`]`)}},
		{"the other one logs by code", unverified, []edit{put(tcpProxy+".access_log", `[`+typed("x", "envoy.extensions.access_loggers.wasm.v3.WasmAccessLog", "")+`]`)}},
		{"the other one has chains that are not read", unverified, []edit{put("configs.0.dynamic_listeners.1.active_state.listener.fcds_config", `{}`)}},
		{"the other one has a field of a later API", unverified, []edit{put(tcpProxy+".lead_elsewhere", `"self_inbound_dp_http-port"`)}},
		{"the other one has a setting that is not known", unverified, []edit{put(tcpProxy+".on_demand", `{}`)}},
		{"the other one has routes that are not there", unverified, []edit{put(tcpChain+".filters.1", typed("m", "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", `"stat_prefix": "x", "rds": {"route_config_name": "x", "config_source": {"ads": {}}}, "http_filters": [`+typed("r", "envoy.extensions.filters.http.router.v3.Router", "")+`]`))}},
		{"the other one has a rule that cannot be read", verified, []edit{letting(anyone, `{"custom": `+typed("x", "acme.Principal", "")+`}`)}},
		{"the other one has an unknown filter", unverified, []edit{tcpFront("acme.v3.Filter", "")}},
		{"the other one goes where callers write", unverified, []edit{put(tcpListener+".listener_filters", `[`+proxyProtocol+`]`), clusters(ownCluster, `{"name": "self_inbound_dp_6379", "type": "ORIGINAL_DST"}`)}},
		{"the other one hands over to where callers write", unverified, []edit{put(tcpListener+".use_original_dst", `true`), put(tcpChain+".filter_chain_match", `{"destination_port": 6379}`), put(tcpListener+".listener_filters", `[`+proxyProtocol+`]`)}},
		{"the other one hands over to where callers write, in the old way", unverified, []edit{put(tcpListener+".use_original_dst", `true`), put(tcpChain+".filter_chain_match", `{"destination_port": 6379}`), put(tcpChain+".use_proxy_proto", `true`)}},
		{"the other one has an unknown listener filter", unverified, []edit{put(tcpListener+".listener_filters", `[`+typed("x", "acme.L", "")+`]`)}},
		{"the other one has a listener filter with a field of later", unverified, []edit{put(tcpListener+".listener_filters", `[{"name": "x", "typed_config": {"@type": "T/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", "later": 1}}]`)}},
		{"the other one hands over to where connections were going", verified, []edit{clusters(ownCluster, redis, otherRedis), put(tcpListener+".use_original_dst", `true`), put(tcpChain+".filter_chain_match", `{"destination_port": 6379}`)}},
		{"a version of the other one warms", unverified, []edit{put("configs.0.dynamic_listeners.1.warming_state", `{"version_info": "2"}`)}},
		{"the other one has an unknown transport", unverified, []edit{put(tcpChain+".transport_socket", typed("x", "acme.Socket", ""))}},
		{"the other one has an unknown field in its transport", unverified, []edit{put(tcpChain+".transport_socket.typed_config.common_tls_context.custom_tls_certificate_selector", typed("x", "acme.S", ""))}},
		{"the other one has CAs of its own", verified, []edit{put(tcpChain+".transport_socket.typed_config.common_tls_context.combined_validation_context.default_validation_context.trusted_ca", `{"inline_string": "x"}`)}},
		{"the other one has an RBAC filter by discovery that is not there", verified, []edit{tcpByECDS, put("configs.1.ecds_filters", `[]`)}},
		{"the other one has an RBAC filter by discovery that is not there, with a default", verified, []edit{tcpByECDS, put("configs.1.ecds_filters", `[]`), put(tcpChain+".filters.0.config_discovery.default_config", `{"@type": "T/`+networkRBAC+`", "stat_prefix": "x"}`)}},
		{"the other one has a filter that sends nothing", verified, []edit{tcpFront("connection_limit.v3.ConnectionLimit", `"stat_prefix": "x", "max_connections": 5`)}},
	} {
		testChosen(t, to, tt)
	}
}

// testChosen holds the inbound of a name alone.
func testChosen(t *testing.T, to string, tt forged) {
	t.Run(tt.name, func(t *testing.T) {
		t.Parallel()
		v := matchedTo(t, to, tt.edits...)
		if got := outcomeOf(v); got != tt.want {
			t.Errorf("%s, want %s: %q", got, tt.want, lines(v.Unverified))
		}
	})
}

// Where the TCP inbound is chosen, a script of the other one may send requests to its workload.
func TestChosenBesideScripts(t *testing.T) {
	t.Parallel()
	const (
		calls     = `{"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "source_code": {"inline_string": "function envoy_on_request(h) h:httpCall('self_inbound_dp_6379', {}, '', 5) end"}}`
		reads     = `{"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "source_code": {"inline_string": "function envoy_on_request(h) h:headers():get('x') end"}}`
		perRoute  = ".typed_per_filter_config"
		otherHost = `{"name": "x", "domains": ["x"], "routes": [{"match": {"prefix": "/"}, "route": {"weighted_clusters": {"clusters": [{"name": "self_inbound_dp_http-port", "weight": 1, "typed_per_filter_config": {"lua": ` + calls + `}}]}}}]}`
	)
	discovers := func(more string) edit {
		return behindRBAC(`{"name": "lua", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/envoy.extensions.filters.http.lua.v3.Lua"]` + more + `}}`)
	}
	for _, tt := range []forged{
		{"as it is", verified, nil},
		{"a script", unverified, []edit{behindRBAC(script("function envoy_on_request(h) h:httpCall('self_inbound_dp_6379', {}, '', 5) end"))}},
		{"a script that sends nothing", verified, []edit{behindRBAC(lua())}},
		{"a script of an upgrade", unverified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "websocket", "filters": [`+script("function envoy_on_request(h) h:httpCall('self_inbound_dp_6379', {}, '', 5) end")+`, `+httpFilter("router.v3.Router", "")+`]}]`)}},
		{"an upgrade", verified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "websocket"}]`)}},
		{"an upgrade to another protocol", verified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "x"}]`)}},
		{"a script of a route", unverified, []edit{behindRBAC(lua()), put(route+perRoute, `{"lua": `+calls+`}`)}},
		{"a script of a route that sends nothing", verified, []edit{behindRBAC(lua()), put(route+perRoute, `{"lua": `+reads+`}`)}},
		{"a script of a route, in a setting of a filter", unverified, []edit{behindRBAC(lua()), put(route+perRoute, `{"lua": {"@type": "T/envoy.config.route.v3.FilterConfig", "config": `+calls+`}}`)}},
		{"a script of a virtual host", unverified, []edit{behindRBAC(lua()), put(host+perRoute, `{"lua": `+calls+`}`)}},
		{"a script of all routes", unverified, []edit{behindRBAC(lua()), put(routes+perRoute, `{"lua": `+calls+`}`)}},
		{"a script of a weighted cluster", unverified, []edit{behindRBAC(lua()), add(routes+".virtual_hosts", otherHost)}},
		{"a script of a route by discovery", unverified, []edit{behindRBAC(lua()), byRDS(put("virtual_hosts.0.routes.0"+perRoute, `{"lua": `+calls+`}`))}},
		{"a script by discovery that is not there", unverified, []edit{discovers("")}},
		{"a script by discovery that is not there, with a default", unverified, []edit{discovers(`, "default_config": {"@type": "T/envoy.extensions.filters.http.lua.v3.Lua", "default_source_code": {"inline_string": "function envoy_on_request(h) h:httpCall('self_inbound_dp_6379', {}, '', 5) end"}}`)}},
		{"a filter of a route that is none", unverified, []edit{put(route+perRoute, `{"envoy.filters.http.rbac": {"@type": "T/acme.Filter"}}`)}},
		{"a route for any target", verified, []edit{put(route+".match", `{"path": "*"}`)}},
		{"a route by a runtime key", verified, []edit{push(host+".routes", `{"match": {"prefix": "/", "runtime_fraction": {"default_value": {"numerator": 1}}}, "route": {"cluster": "self_inbound_dp_http-port"}, "typed_per_filter_config": `+disabledRBAC+`}`)}},
	} {
		testChosen(t, "dp/6379", tt)
	}
}
