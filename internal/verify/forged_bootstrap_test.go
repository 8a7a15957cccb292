package verify

import "fmt"

// forgedBootstraps are dumps whose bootstrap stands in a form that no Envoy prints, stands there twice, or lets Envoy send
// requests without a cluster.
var forgedBootstraps = []forged{
	{"the admin interface in a list", unverified, []edit{admin(`[{` + adminOn("0.0.0.0", 9901) + `}]`)}},
	{"the admin interface as text", unverified, []edit{admin(`"0.0.0.0:9901"`)}},
	{"the admin interface with a misspelt address", unverified, []edit{admin(`{"adress": {"socket_address": {"address": "0.0.0.0", "port_value": 9901}}}`)}},
	{"the admin interface with a field of later", unverified, []edit{admin(`{"later": 1, ` + adminOn("127.0.0.1", 9901) + `}`)}},
	{"the admin interface on a port with a name", unverified, []edit{admin(`{"address": {"socket_address": {"address": "127.0.0.1", "named_port": "x"}}}`)}},
	{"the admin interface on any port", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 0) + `}`)}},
	{"two bootstraps, and the workload is the admin interface of one", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 8080) + `}`), admin(`{` + adminOn("127.0.0.1", 9901) + `}`)}},
	{"one bootstrap twice", verified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), admin(`{` + adminOn("127.0.0.1", 9901) + `}`)}},
	{"no admin interface", verified, []edit{admin(`{}`)}},
	{"a layer of the runtime of two kinds", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"name": "a", "static_layer": {}, "rtds_layer": {"name": "x"}}]}`)}},

	{"an authorizer's cluster that takes no request (maintenance)", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {"upstream": {"maintenance_mode": {"opa": 100}}}}]}`)}},
	{"no cluster asks endpoints that are ill", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {"upstream.healthy_panic_threshold": 0}}]}`)}},
	{"endpoints by their weights", verified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {"upstream.weight_enabled": 100}}]}`)}},

	// A tracer may ask any path.
	{"traces to the admin interface", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), clusters(ownCluster, redis, static("a", "127.0.0.1", 9901)), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "a", "collector_endpoint": "/runtime_modify?x=y"`)}},
	{"traces to the admin interface by its socket", unverified, []edit{admin(`{"address": {"pipe": {"path": "/run/admin.sock"}}}`), clusters(ownCluster, redis, `{"name": "a", "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"pipe": {"path": "/run/admin.sock"}}}}]}]}}`), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "a", "collector_endpoint": "/runtime_modify?x=y"`)}},
	{"traces to the admin interface by a name", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), clusters(ownCluster, redis, retyped(static("a", "localhost.localdomain", 9901), `"type": "STRICT_DNS"`)), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "a", "collector_endpoint": "/runtime_modify?x=y"`)}},
	{"an outbound listener that logs to the admin interface", unverified, []edit{admin(`{` + adminOn("127.0.0.1", 9901) + `}`), clusters(ownCluster, redis, static("a", "127.0.0.1", 9901), static("far", "10.9.9.9", 80)), sending("10.0.0.9", `"access_log": [`+toGRPC("a")+`]`, "far")}},
	{"traces to the admin interface by another path of its socket", unverified, []edit{admin(`{"address": {"pipe": {"path": "/run/admin.sock"}}}`), clusters(ownCluster, redis, socketOf("a", "/var/run/./admin.sock")), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "a", "collector_endpoint": "/runtime_modify?x=y"`)}},
	{"traces to the admin interface by the listener for metrics", unverified, []edit{metricsOnLoopback, clusters(ownCluster, redis, static("metrics", "127.0.0.1", 9901), static("a", "127.0.0.1", 15090)), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "a", "collector_endpoint": "/stats/prometheus/../../runtime_modify?x=y"`)}},
	{"traces beside the listener for metrics", verified, []edit{metricsOnLoopback, clusters(ownCluster, redis, static("metrics", "127.0.0.1", 9901), static("a", "127.0.0.1", 15091)), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "a", "collector_endpoint": "/spans"`)}},
	{"traces to another socket", verified, []edit{admin(`{"address": {"pipe": {"path": "/run/admin.sock"}}}`), clusters(ownCluster, redis, `{"name": "a", "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"pipe": {"path": "/run/traces.sock"}}}}]}]}}`), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "a", "collector_endpoint": "/spans"`)}},

	// A client of gRPC opens connections by itself.
	{"statistics to the workload past every cluster", unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("m", "envoy.config.metrics.v3.MetricsServiceConfig", byItself) + `]`)}},
	{"statistics by structure to the workload past every cluster", unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [{"name": "m", "typed_config": ` + structured("envoy.config.metrics.v3.MetricsServiceConfig", `{`+byItself+`}`) + `}]`)}},
	{"statistics of OpenTelemetry to the workload past every cluster", unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("m", "envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig", byItself) + `]`)}},
	{"traces of the bootstrap to the workload past every cluster", unverified, []edit{bootstrap(harmlessLayers + `, "tracing": {"http": ` + typed("t", "envoy.config.trace.v3.OpenTelemetryConfig", byItself) + `}`), put(manager+".tracing", `{}`)}},
	{"health checks by a server past every cluster", unverified, []edit{bootstrap(harmlessLayers + `, "hds_config": {"api_type": "GRPC", "grpc_services": [{"google_grpc": {"target_uri": "127.0.0.1:8080", "stat_prefix": "x"}}]}`)}},
	{"health checks by a server past every cluster, in two spellings", unverified, []edit{bootstrap(harmlessLayers + `, "hds_config": {"api_type": "GRPC", "grpc_services": [{"google_grpc": null, "googleGrpc": {"target_uri": "127.0.0.1:8080", "stat_prefix": "x"}}]}`)}},
	{"health checks by a server past every cluster, in two spellings, the other way round", unverified, []edit{bootstrap(harmlessLayers + `, "hds_config": {"api_type": "GRPC", "grpc_services": [{"googleGrpc": null, "google_grpc": {"target_uri": "127.0.0.1:8080", "stat_prefix": "x"}}]}`)}},
	{"the admin interface in two spellings, one of null", unverified, []edit{admin(`{"address": {"socket_address": null, "socketAddress": {"address": "0.0.0.0", "portValue": 9901}}}`)}},
	{"static listeners in two spellings, one of null", unverified, []edit{bootstrap(harmlessLayers + `, "static_resources": null, "staticResources": {"listeners": [{"name": "l", "address": {"socket_address": {"address": "10.0.0.7", "port_value": 7777}}}]}`)}},
	{"a control plane past every cluster", verified, []edit{bootstrap(harmlessLayers + `, "dynamic_resources": {"ads_config": {"api_type": "GRPC", "grpc_services": [{"google_grpc": {"target_uri": "cp:5678", "stat_prefix": "x"}}]}}`)}},

	// A server of configuration that is the workload.
	{"routes that the workload gives", unverified, []edit{byRDS(), put(manager+".rds.config_source", `{"api_config_source": {"api_type": "REST", "cluster_names": ["self_inbound_dp_http-port"]}}`)}},
	{"a certificate that the workload gives", unverified, []edit{put(common+".tls_certificate_sds_secret_configs.0.sds_config", `{"api_config_source": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "self_inbound_dp_http-port"}}]}}`)}},
	{"a certificate that another workload gives", unverified, []edit{put(common+".tls_certificate_sds_secret_configs.0.sds_config", `{"api_config_source": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "self_inbound_dp_6379"}}]}}`)}},
	{"a certificate of a server past every cluster", unverified, []edit{put(common+".tls_certificate_sds_secret_configs.0.sds_config", `{"api_config_source": {"api_type": "GRPC", "grpc_services": [{"google_grpc": {"target_uri": "127.0.0.1:8080", "stat_prefix": "x"}}]}}`)}},
}

const byItself = `"grpc_service": {"google_grpc": {"target_uri": "127.0.0.1:8080", "stat_prefix": "x"}}`

// metricsOnLoopback is Istio's listener for metrics, where it listens on this machine alone. It leads to the cluster metrics.
func metricsOnLoopback(dump any) any {
	const socket = "configs.0.dynamic_listeners.3.active_state.listener.address.socket_address"
	served := serving("/stats/prometheus", "metrics", "")(admin(`{` + adminOn("127.0.0.1", 9901) + `}`)(dump))
	return put(socket, `{"address": "127.0.0.1", "port_value": 15090}`)(served)
}

// admin adds a bootstrap with an admin interface.
func admin(of string) edit { return bootstrap(harmlessLayers + `, "admin": ` + of) }

func adminOn(ip string, port int) string {
	return fmt.Sprintf(`"address": {"socket_address": {"address": %q, "port_value": %d}}`, ip, port)
}
