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
	// What a filter by discovery calls stands in another part of the dump than the filter.
	{"a router by discovery", verified, []edit{routerByECDS}},
	{"a router by discovery that logs to a file", verified, []edit{put(upstreamLog, `[`+toFile+`]`), routerByECDS}},
	{"a router by discovery that logs to its own workload", unverified, []edit{put(upstreamLog, `[`+toGRPC("self_inbound_dp_http-port")+`]`), routerByECDS}},
	{"a router by discovery that logs to the workload of the other inbound", unverified, []edit{put(upstreamLog, `[`+toGRPC("self_inbound_dp_6379")+`]`), routerByECDS}},
	{"a router by discovery, with an unknown logger", unverified, []edit{put(upstreamLog, `[`+typed("x", "acme.Log", "")+`]`), routerByECDS}},
	{"a router by discovery in front of RBAC", unverified, []edit{routerByECDS, push(filters, `{"name": "router", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/`+httpRouter+`"]}}`)}},

	// A certificate has several names: one tells Envoy the CAs, and filters may ask for any other.
	{"a validator of two trust domains, and filters that ask for the first name", verified, []edit{drop(sans), bundle(spiffe(ownDomain + partner))}},
	{"a validator of two trust domains, and names of one", verified, []edit{bundle(spiffe(ownDomain + partner))}},
	{"a validator of two trust domains, and a filter that asks for any name", unverified, []edit{bundle(spiffe(ownDomain + partner)), put(deniedName, `{"contains": "/ns/malicious"}`)}},
	{"a validator of two trust domains, and a principal", unverified, []edit{bundle(spiffe(ownDomain + partner)), letting(anyone, `{"authenticated": {"principal_name": {"prefix": "spiffe://default.zone-1.mesh.local/"}}}`)}},
	{"a validator of one trust domain, and a filter that asks for any name", differs, []edit{bundle(spiffe(ownDomain)), put(deniedName, `{"contains": "/ns/malicious"}`)}},
	{"a validator of one trust domain", verified, []edit{bundle(spiffe(ownDomain))}},
	// The only CAs are those of another trust domain, and give names of the mesh beside one of their own.
	{"a validator of another trust domain, and filters that ask for the first name", verified, []edit{drop(sans), bundle(spiffe(strangers))}},
	{"a validator of another trust domain, and a principal", unverified, []edit{drop(sans), bundle(spiffe(strangers)), letting(anyone, `{"authenticated": {"principal_name": {"prefix": "spiffe://default.zone-1.mesh.local/"}}}`)}},
	{"a validator of another trust domain, SANs of the mesh, and a principal", unverified, []edit{bundle(spiffe(strangers)), letting(anyone, `{"authenticated": {"principal_name": {"prefix": "spiffe://default.zone-1.mesh.local/"}}}`)}},
	// A SAN matcher takes a name behind one of the mesh, too.
	{"CAs of another trust domain, and filters that ask for the first name", unverified, []edit{put(sans+".0.matcher.prefix", `"spiffe://partner.example/"`)}},
	{"CAs of another trust domain, and a filter that asks for any name", unverified, []edit{put(sans+".0.matcher.prefix", `"spiffe://partner.example/"`), put(deniedName, `{"contains": "/ns/malicious"}`)}},
	{"a validator of the mesh's trust domain", verified, []edit{drop(sans), put(secret+".name", `"mesh_ca:secret:default.zone-1.mesh.local"`), meshBundle("mesh_ca:secret:default.zone-1.mesh.local"), bundle(spiffe(ownDomain))}},
	{"a validator of the trust domain in the secret of another mesh", unverified, []edit{drop(sans), put(secret+".name", `"mesh_ca:secret:evil"`), meshBundle("mesh_ca:secret:evil"), bundle(spiffe(ownDomain))}},
	{"sessions of two hours", verified, []edit{put(tls+".session_timeout", `"7200s"`)}},
	{"sessions of two hours, and a bit", unverified, []edit{put(tls+".session_timeout", `"7200.5s"`)}},
	{"sessions of ten years", unverified, []edit{put(tls+".session_timeout", `"315360000s"`)}},

	// What serves the admin interface has the port, or the socket, of a process that Kuma or Istio has.
	{"Kuma's readiness", verified, []edit{kumaBootstrap, kumaClusters, serving("/ready", "kuma:readiness", `, "prefix_rewrite": "/ready"`)}},
	{"the admin interface on the port for readiness", unverified, []edit{kumaBootstrap, put(adminPort, `9902`), kumaClusters, serving("/ready", "kuma:readiness", `, "prefix_rewrite": "/ready"`)}},
	{"the admin interface on the port that the node states for readiness", unverified, []edit{kumaBootstrap, put(kumaNode+".metadata", `{"dataplane.readinessReporter.port": "9901"}`), kumaClusters, serving("/ready", "kuma:envoy:admin", `, "prefix_rewrite": "/ready"`)}},
	{"Kuma's socket", verified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), kumaSocket, serving("/", "s", "")}},
	{"the admin interface on Kuma's socket", unverified, []edit{admin(`{"address": {"pipe": {"path": "/tmp/kuma-mh-x.sock"}}}`), kumaSocket, serving("/", "s", "")}},
	{"the admin interface on Kuma's socket, by another path", unverified, []edit{admin(`{"address": {"pipe": {"path": "/tmp/../tmp//kuma-mh-x.sock"}}}`), kumaSocket, serving("/", "s", "")}},
	{"the admin interface on another socket", verified, []edit{admin(`{"address": {"pipe": {"path": "/run/admin.sock"}}}`), kumaSocket, serving("/", "s", "")}},
	{"the agent of Istio", verified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), clusters(ownCluster, redis, static("agent", "127.0.0.1", 15020)), serving("/healthz/ready", "agent", "")}},
	{"the admin interface on the port of Istio's agent", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 15020) + `}`), clusters(ownCluster, redis, static("agent", "127.0.0.1", 15020)), serving("/healthz/ready", "agent", "")}},

	// A listener of the same Envoy has the port, or the socket, of such a process, and leads on.
	{"the port of Istio's agent is an outbound listener to the admin interface", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), agentClusters(static("next", "127.0.0.1", 9901)), serving("/healthz/ready", "agent", ""), answering("127.0.0.1", 15020)}},
	{"the port of Istio's agent is an outbound listener to an inbound", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), agentClusters(selfOverTLS), serving("/healthz/ready", "agent", ""), answering("127.0.0.1", 15020)}},
	{"the port of Istio's agent is an outbound listener on every address of IPv6", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), agentClusters(selfOverTLS), serving("/healthz/ready", "agent", ""), answering("::", 15020)}},
	{"the port of Istio's agent is an outbound listener in the notation of IPv6", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), agentClusters(selfOverTLS), serving("/healthz/ready", "agent", ""), answering("::ffff:127.0.0.1", 15020)}},
	{"the port of Istio's agent is a second address of an outbound listener", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), agentClusters(selfOverTLS), serving("/healthz/ready", "agent", ""), answering("127.0.0.1", 7777),
		put("configs.0.dynamic_listeners.4.active_state.listener.additional_addresses", `[{"address": {"socket_address": {"address": "127.0.0.1", "port_value": 15020}}}]`)}},
	{"another port of this machine is an outbound listener to an inbound", verified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), agentClusters(selfOverTLS), serving("/healthz/ready", "agent", ""), answering("127.0.0.1", 7777)}},
	{"the port of Istio's agent on an address for services", verified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), agentClusters(selfOverTLS), serving("/healthz/ready", "agent", ""), answering("240.0.0.9", 15020)}},
	{"the agent of Istio on an address of loopback that it has not", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), clusters(ownCluster, redis, static("agent", "127.0.0.2", 15020)), serving("/healthz/ready", "agent", "")}},
	{"the agent of Istio by IPv6", verified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), clusters(ownCluster, redis, static("agent", "::1", 15020)), serving("/healthz/ready", "agent", "")}},
	{"the port for readiness is an outbound listener to the admin interface", unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, static("kuma:readiness", "127.0.0.1", 9902), static("next", "127.0.0.1", 9901)), serving("/ready", "kuma:readiness", `, "prefix_rewrite": "/ready"`), answering("127.0.0.1", 9902)}},
	{"the port for readiness is an outbound listener to an inbound", unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, static("kuma:readiness", "127.0.0.1", 9902), selfOverTLS), serving("/ready", "kuma:readiness", `, "prefix_rewrite": "/ready"`), answering("127.0.0.1", 9902)}},
	{"the metrics of Envoy are an outbound listener to an inbound", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), clusters(ownCluster, redis, static("metrics", "::1", 9901), selfOverTLS), servingPath("/stats/prometheus", "metrics"), answering("::1", 9901)}},
	{"the metrics of Envoy", verified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), clusters(ownCluster, redis, static("metrics", "127.0.0.1", 9901)), servingPath("/stats/prometheus", "metrics")}},
	{"Kuma's socket is a listener to the admin interface", unverified, []edit{kumaBootstrap, socketClusters("/tmp/kuma-mh-x.sock", static("next", "127.0.0.1", 9901)), serving("/", "s", ""), answeringOn("/tmp/kuma-mh-x.sock")}},
	{"Kuma's socket is a listener to an inbound", unverified, []edit{kumaBootstrap, socketClusters("/tmp/kuma-mh-x.sock", selfOverTLS), serving("/", "s", ""), answeringOn("/tmp/kuma-mh-x.sock")}},
	{"Kuma's socket is a listener, by another path", unverified, []edit{kumaBootstrap, socketClusters("/tmp/kuma-mh-x.sock", selfOverTLS), serving("/", "s", ""), answeringOn("/run/../tmp//kuma-mh-x.sock")}},
	{"Kuma's socket is a listener, by another folder", unverified, []edit{kumaBootstrap, socketClusters("/tmp/kuma-mh-x.sock", selfOverTLS), serving("/", "s", ""), answeringOn("/link/kuma-mh-x.sock")}},
	{"Kuma's socket for readiness is a second address of a listener", unverified, []edit{kumaBootstrap, socketClusters("/tmp/kuma-readiness-reporter.sock", selfOverTLS), serving("/", "s", ""), answering("127.0.0.1", 7777),
		put("configs.0.dynamic_listeners.4.active_state.listener.additional_addresses", `[{"address": {"pipe": {"path": "/tmp/kuma-readiness-reporter.sock"}}}]`)}},
	{"Kuma's socket is one without a file", unverified, []edit{kumaBootstrap, socketClusters("@/tmp/kuma-mh-x.sock", selfOverTLS), serving("/", "s", "")}},
	{"another socket is a listener to an inbound", verified, []edit{kumaBootstrap, socketClusters("/tmp/kuma-mh-x.sock", selfOverTLS), serving("/", "s", ""), answeringOn("/tmp/other.sock")}},
	{"Kuma's socket has a check of health by code", unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, having(socketOf("s", "/tmp/kuma-mh-x.sock"), `"health_checks": [{"timeout": "1s", "interval": "1s", "unhealthy_threshold": 1, "healthy_threshold": 1, "custom_health_check": `+typed("x", "acme.H", "")+`}]`)), serving("/", "s", "")}},

	// A server of health checks says which requests Envoy sends: method, path, headers and endpoint.
	{"health checks by the control plane", verified, []edit{bootstrap(harmlessLayers + adsBy("system_ads") + hdsBy("system_ads"))}},
	{"health checks by another server", unverified, []edit{bootstrap(harmlessLayers + adsBy("system_ads") + hdsBy("evil"))}},
	{"health checks by a server, and no control plane", unverified, []edit{bootstrap(harmlessLayers + hdsBy("evil"))}},
	{"health checks by two servers", unverified, []edit{bootstrap(harmlessLayers + adsBy("system_ads") + `, "hds_config": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "system_ads"}}, {"envoy_grpc": {"cluster_name": "evil"}}]}`)}},
	{"health checks over REST", unverified, []edit{bootstrap(harmlessLayers + adsBy("system_ads") + `, "hds_config": {"api_type": "REST", "cluster_names": ["system_ads"]}`)}},
	{"health checks as text", unverified, []edit{bootstrap(harmlessLayers + adsBy("system_ads") + `, "hds_config": "evil"`)}},
	{"health checks with a field of later", unverified, []edit{bootstrap(harmlessLayers + adsBy("system_ads") + `, "hds_config": {"api_type": "GRPC", "later": 1, "grpc_services": [{"envoy_grpc": {"cluster_name": "system_ads"}}]}`)}},
}

// adminPort is the port of the admin interface in kumaBootstrap.
const adminPort = "configs.1.bootstrap.admin.address.socket_address.port_value"

// kumaSocket is a cluster of a process of Kuma.
var kumaSocket = clusters(ownCluster, redis, socketOf("s", "/tmp/kuma-mh-x.sock"))

// meshBundle adds a secret of a mesh, with the validator for the trust domain of the example.
func meshBundle(name string) edit {
	return secrets(fmt.Sprintf(`{"name": %[1]q, "secret": {"name": %[1]q, "validation_context": %[2]s}}`, name, spiffe(ownDomain)))
}

// serving adds a listener for others, with one route.
func serving(prefix, cluster, fields string) edit {
	return add("configs.0.dynamic_listeners", fmt.Sprintf(`{"name": "serving", "active_state": {"listener": {"name": "serving", "address": {"socket_address": {"address": "10.0.0.7", "port_value": 15021}}, "filter_chains": [{"filters": [%s]}]}}}`,
		typed("h", "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", fmt.Sprintf(`"stat_prefix": "x", "http_filters": [%s],
			"route_config": {"virtual_hosts": [{"name": "x", "domains": ["*"], "routes": [{"match": {"prefix": %q}, "route": {"cluster": %q%s}}]}]}`, httpFilter("router.v3.Router", ""), prefix, cluster, fields))))
}

// servingPath adds one for a single path.
func servingPath(path, cluster string) edit {
	return func(dump any) any {
		return put("configs.0.dynamic_listeners.3.active_state.listener.filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.routes.0.match", fmt.Sprintf(`{"path": %q}`, path))(serving(path, cluster, "")(dump))
	}
}

// selfOverTLS is a cluster that leads to the HTTP inbound, which takes this sidecar for the caller.
var selfOverTLS = having(static("next", "10.0.0.7", 8080), meshTLS(""))

// agentClusters has Istio's agent and a cluster that a listener leads on to.
func agentClusters(next string) edit {
	return clusters(ownCluster, redis, static("agent", "127.0.0.1", 15020), next)
}

// socketClusters has a process of Kuma by its socket, and such a cluster.
func socketClusters(path, next string) edit {
	return clusters(ownCluster, redis, socketOf("s", path), next)
}

// answering adds an outbound listener that leads on.
func answering(ip string, port int) edit {
	return add("configs.0.dynamic_listeners", outboundListener("answering", ip, port, "", "next"))
}

// answeringOn adds one on a socket in the file system.
func answeringOn(path string) edit {
	return func(dump any) any {
		return put("configs.0.dynamic_listeners.4.active_state.listener.address", fmt.Sprintf(`{"pipe": {"path": %q}}`, path))(answering("127.0.0.1", 7777)(dump))
	}
}

func adsBy(cluster string) string {
	return `, "dynamic_resources": {"ads_config": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "` + cluster + `"}}]}}`
}

func hdsBy(cluster string) string {
	return `, "hds_config": {"api_type": "GRPC", "transport_api_version": "V3", "grpc_services": [{"envoy_grpc": {"cluster_name": "` + cluster + `"}}]}`
}

const (
	httpRBAC    = "envoy.extensions.filters.http.rbac.v3.RBAC"
	networkRBAC = "envoy.extensions.filters.network.rbac.v3.RBAC"
	// silent is a server of configurations that is not the control plane.
	silent = `{"api_config_source": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "silent"}}]}}`
)

const (
	upstreamLog = filters + ".1.typed_config.upstream_log"
	httpRouter  = "envoy.extensions.filters.http.router.v3.Router"
)

// tcpByECDS moves the RBAC filter of the TCP inbound into a part of its own, and routerByECDS the router of the HTTP inbound.
var tcpByECDS, routerByECDS = discovered(tcpChain+".filters.0", "authz", networkRBAC), discovered(filters+".1", "router", httpRouter)

// discovered moves the configuration of a filter into a part of its own, and gives the filter a name.
func discovered(filter, name, message string) edit {
	return func(dump any) any {
		dump = copied(filter+".typed_config", "configs[]", func(part any) any {
			return map[string]any{"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", "name": name, "typed_config": part}
		}, dumpOf("envoy.admin.v3.EcdsConfigDump", "ecds_filters", "ecds_filter"))(dump)
		return put(filter, fmt.Sprintf(`{"name": %q, "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/%s"]}}`, name, message))(dump)
	}
}

// partner is another trust domain of a validator, and deniedName what the example's filter compares with the name that it denies.
const (
	partner    = `, {"name": "partner.example", "trust_bundle": {"inline_string": "y"}}`
	strangers  = `{"name": "partner.example", "trust_bundle": {"inline_string": "y"}}`
	deniedName = filters + ".0.typed_config.matcher.matcher_list.matchers.0.predicate.single_predicate.value_match"
)
