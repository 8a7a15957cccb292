package verify

import "fmt"

// forgedTrusted are dumps in which something that is known by its name, its port or its place is something else.
var forgedTrusted = []forged{
	// Envoy keys the discovery of a filter by source and name, and a dump shows the name alone.
	{"RBAC by discovery, with a default of the same", verified, []edit{byECDS(httpRBAC), copied("configs.1.ecds_filters.0.ecds_filter.typed_config", filters+".0.config_discovery.default_config")}},
	{"RBAC by discovery, with an open default", unverified, []edit{byECDS(httpRBAC), put(filters+".0.config_discovery.default_config", `{"@type": "T/`+httpRBAC+`"}`)}},
	{"RBAC by discovery, with a default that cannot be read", unverified, []edit{byECDS(httpRBAC), put(filters+".0.config_discovery.default_config", `{"@type": "T/`+httpRBAC+`", "later": 1}`)}},
	{"RBAC by discovery from another server", unverified, []edit{byECDS(httpRBAC), put(filters+".0.config_discovery.config_source", silent)}},
	{"RBAC by discovery from another server, with an open default", unverified, []edit{byECDS(httpRBAC), put(filters+".0.config_discovery.config_source", silent), put(filters+".0.config_discovery.default_config", `{"@type": "T/`+httpRBAC+`"}`)}},
	{"RBAC by discovery from a file", unverified, []edit{byECDS(httpRBAC), put(filters+".0.config_discovery.config_source", `{"path_config_source": {"path": "/x"}}`)}},
	{"RBAC by discovery, and the same name from another server", unverified, []edit{byECDS(httpRBAC), leading(put("filter_chains.0.filters", overHTTP("far", `{"name": "envoy.filters.http.rbac", "config_discovery": {"config_source": `+silent+`, "type_urls": ["T/`+httpRBAC+`"]}}, `)))}},
	{"RBAC by discovery, and the same name from the same server", verified, []edit{byECDS(httpRBAC), leading(put("filter_chains.0.filters", overHTTP("far", `{"name": "envoy.filters.http.rbac", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/`+httpRBAC+`"]}}, `)))}},
	{"RBAC by discovery, and another name from another server", verified, []edit{byECDS(httpRBAC), leading(put("filter_chains.0.filters", overHTTP("far", `{"name": "x", "config_discovery": {"config_source": `+silent+`, "type_urls": ["T/`+httpRBAC+`"]}}, `)))}},
	{"RBAC of TCP by discovery from another server", unverified, []edit{tcpByECDS, put(tcpChain+".filters.0.config_discovery.config_source", silent)}},
	{"RBAC of TCP by discovery, with an open default", unverified, []edit{tcpByECDS, put(tcpChain+".filters.0.config_discovery.default_config", `{"@type": "T/`+networkRBAC+`", "stat_prefix": "x"}`)}},
	{"RBAC of TCP by discovery", verified, []edit{tcpByECDS}},
}

const (
	httpRBAC    = "envoy.extensions.filters.http.rbac.v3.RBAC"
	networkRBAC = "envoy.extensions.filters.network.rbac.v3.RBAC"
	// silent is a server of configurations that is not the control plane.
	silent = `{"api_config_source": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "silent"}}]}}`
)

// tcpByECDS moves the RBAC filter of the TCP inbound into a part of its own.
func tcpByECDS(dump any) any {
	dump = copied(tcpRBAC, "configs[]", func(part any) any {
		return map[string]any{"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", "name": "authz", "typed_config": part}
	}, dumpOf("envoy.admin.v3.EcdsConfigDump", "ecds_filters", "ecds_filter"))(dump)
	return put(tcpChain+".filters.0", fmt.Sprintf(`{"name": "authz", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/%s"]}}`, networkRBAC))(dump)
}
