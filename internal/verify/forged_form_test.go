package verify

// forgedForms are dumps that say something twice, in another form, or in a place where no dump
// has it.
var forgedForms = []forged{
	{"listeners beside the parts of a dump", unverified, []edit{copied(listener, "static_listeners[]", withoutRBAC, listenerOf)}},
	{"an unknown part beside the others", unverified, []edit{put("more_configs", `[]`)}},
	{"listeners that are no list", unverified, []edit{put("configs.0.static_listeners", `{"0": {"listener": {}}}`)}},
	{"a listener that is no object", unverified, []edit{put("configs.0.static_listeners", `["x"]`)}},
	{"a state that is a list", unverified, []edit{add("configs.0.dynamic_listeners", `{"name": "x", "active_state": [{"listener": {}}]}`)}},
	{"more listeners in one state", unverified, []edit{put(states+".active_state.listeners", `[{}]`)}},
	{"a static listener of a later API", unverified, []edit{copied(listener, "configs.0.static_listeners[]", listenerOf, put("also", `{}`))}},
	{"routes in two spellings", unverified, []edit{byRDS(), put("configs.1.dynamic_route_configs.0.routeConfig", `{"name": "self_inbound_dp_http-port", "virtual_hosts": [{"domains": ["*"], "typed_per_filter_config": `+disabledRBAC+`}]}`)}},
	{"routes of a later API", unverified, []edit{byRDS(), put("configs.1.dynamic_route_configs.0.next_route_config", `{}`)}},
	{"a cluster in two spellings", unverified, []edit{clusters(ownCluster, redis), put("configs.1.staticClusters", `[]`)}},
	{"a later state of a cluster", unverified, []edit{clusters(ownCluster, redis), put("configs.1.static_clusters.0.next_cluster", `{}`)}},
	{"layers that are no list", unverified, []edit{bootstrap(`"layered_runtime": {"layers": {"static_layer": {}}}`)}},
	{"a static layer that is no object", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": [{"envoy.reloadable_features.x": false}]}]}`)}},
	{"a listener of the bootstrap that is no object", unverified, []edit{bootstrap(harmlessLayers + `, "static_resources": {"listeners": ["x"]}`)}},
	{"bootstraps of two versions", unverified, []edit{bootstrap(harmlessLayers + `, ` + version("36")), bootstrap(harmlessLayers + `, ` + version("40"))}},
	{"bootstraps of one version", verified, []edit{bootstrap(harmlessLayers + `, ` + version("40")), bootstrap(harmlessLayers + `, ` + version("40"))}},
	{"a bundle of another name inside", unverified, []edit{secrets(`{"name": "system_trust_bundle", "secret": {"name": "other", "validation_context": {"trusted_ca": {"inline_string": "x"}, "trust_chain_verification": "ACCEPT_UNTRUSTED"}}}`)}},
	{"a bundle without a name inside", unverified, []edit{secrets(`{"name": "system_trust_bundle", "secret": {"validation_context": {"trusted_ca": {"inline_string": "x"}}}}`)}},
	{"a secret of a later API", unverified, []edit{secrets(`{"name": "system_trust_bundle", "secret": {"name": "system_trust_bundle", "other_context": {}}}`)}},
	{"a certificate and its key", verified, []edit{secrets(`{"name": "x", "version_info": "1", "last_updated": "2026-01-01T00:00:00Z", "secret": {"name": "x", "tls_certificate": {"certificate_chain": {"inline_string": "x"}}}}`), bundle(`{"trusted_ca": {"inline_string": "x"}}`)}},
	{"RBAC by discovery, in the dump", verified, []edit{byECDS("envoy.extensions.filters.http.rbac.v3.RBAC")}},
	{"RBAC by discovery, of a type that the filter does not take", unverified, []edit{byECDS("envoy.extensions.filters.http.lua.v3.Lua")}},
	{"RBAC by discovery, of no type", unverified, []edit{byECDS("envoy.extensions.filters.http.rbac.v3.RBAC"), put(filters+".0.config_discovery.type_urls", `[]`)}},
	{"RBAC by discovery in two spellings", unverified, []edit{byECDS("envoy.extensions.filters.http.rbac.v3.RBAC"), put("configs.1.ecds_filters.0.ecdsFilter", `{}`)}},
	{"a chain on no address", unverified, []edit{put(chain+".name", `"dp/http-port"`), drop(chain + ".transport_socket"), put(listener+".address.socket_address.address", `"eth0"`)}},
	{"a chain on no port", unverified, []edit{put(chain+".name", `"dp/http-port"`), drop(chain + ".transport_socket"), put(chain+".filter_chain_match", `{"destination_port": 70000}`)}},
	{"a listener on no port", unverified, []edit{put(chain+".name", `"dp/http-port"`), put(listener+".address.socket_address.port_value", `70000`)}},
}

func version(minor string) string {
	return `"node": {"user_agent_build_version": {"version": {"major_number": 1, "minor_number": ` + minor + `}}}`
}

func secrets(entry string) edit {
	return add("configs", `{"@type": "T/envoy.admin.v3.SecretsConfigDump", "dynamic_active_secrets": [`+entry+`]}`)
}

// byECDS moves the RBAC filter of the HTTP inbound into a part of its own. The filter takes
// configurations of one type.
func byECDS(message string) edit {
	return func(dump any) any {
		dump = copied(rbac, "configs[]", func(part any) any {
			return map[string]any{"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", "name": "envoy.filters.http.rbac", "typed_config": part}
		}, dumpOf("envoy.admin.v3.EcdsConfigDump", "ecds_filters", "ecds_filter"))(dump)
		return put(filters+".0.config_discovery", `{"config_source": {"ads": {}}, "type_urls": ["T/`+message+`"]}`)(drop(rbac)(dump))
	}
}
