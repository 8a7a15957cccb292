package verify

import "strings"

// forgedNames are dumps in which Envoy goes by a name: of an extension, whose type is harmless, or of the inbound's
// own cluster, to which it sends requests that no caller has sent.
var forgedNames = []forged{
	// Envoy finds the validator of certificates by its name. The default one looks at no part of the configuration, and
	// takes a certificate that the caller signed where it has no CAs.
	{"CAs by the SPIFFE validator alone", verified, []edit{drop(sans), bundle(spiffe(ownDomain))}},
	{"a configuration for SPIFFE, and the default validator", unverified, []edit{drop(sans), bundle(validator("envoy.tls.cert_validator.default"))}},
	{"a configuration for SPIFFE, SANs, and the default validator", unverified, []edit{bundle(validator("envoy.tls.cert_validator.default"))}},
	{"a configuration for SPIFFE, and a validator without a name", unverified, []edit{drop(sans), bundle(validator(""))}},
	{"a configuration for SPIFFE, and a validator that is a module", unverified, []edit{bundle(validator("envoy.tls.cert_validator.dynamic_modules"))}},
	{"a configuration for SPIFFE, and the name in capitals", unverified, []edit{bundle(validator("Envoy.TLS.cert_validator.spiffe"))}},
	{"an empty configuration, and the default validator", unverified, []edit{bundle(`{"custom_validator_config": ` + typed("envoy.tls.cert_validator.default", "google.protobuf.Empty", "") + `}`)}},
	{"an empty configuration, and the SPIFFE validator", unverified, []edit{bundle(`{"custom_validator_config": ` + typed("envoy.tls.cert_validator.spiffe", "google.protobuf.Empty", "") + `}`)}},
	{"a structure, CAs, and the default validator", unverified, []edit{bundle(`{"trusted_ca": {"inline_string": "x"}, "custom_validator_config": ` + typed("envoy.tls.cert_validator.default", "google.protobuf.Struct", `"value": {}`) + `}`)}},

	// What Envoy sends to the workload by itself passes no filter.
	{"a log to the inbound's own workload", unverified, []edit{put(manager+".access_log", `[`+toGRPC("self_inbound_dp_http-port")+`]`)}},
	{"a log of the listener to the inbound's own workload", unverified, []edit{put(listener+".access_log", `[`+toGRPC("self_inbound_dp_http-port")+`]`)}},
	{"a log by OpenTelemetry to a path of the inbound's own workload", unverified, []edit{put(manager+".access_log", `[`+typed("o", "envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig", `"http_service": {"http_uri": {"uri": "http://a/admin", "cluster": "self_inbound_dp_http-port", "timeout": "1s"}}`)+`]`)}},
	{"traces to a path of the inbound's own workload", unverified, []edit{tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "self_inbound_dp_http-port", "collector_endpoint": "/admin"`)}},
	{"traces over HTTP to a path of the inbound's own workload", unverified, []edit{tracing("envoy.config.trace.v3.OpenTelemetryConfig", `"http_service": {"http_uri": {"uri": "http://a/admin", "cluster": "self_inbound_dp_http-port", "timeout": "1s"}}`)}},
	{"traces to the inbound's own workload by another cluster", unverified, []edit{clusters(ownCluster, redis, static("x", "127.0.0.1", 8080)), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "x", "collector_endpoint": "/admin"`)}},
	{"traces to the inbound's own workload by another address", unverified, []edit{clusters(ownCluster, redis, static("x", "10.0.0.7", 8080)), tracing("envoy.config.trace.v3.DatadogConfig", `"collector_cluster": "x", "service_name": "x"`)}},
	{"traces to the port of the inbound on another machine", verified, []edit{clusters(ownCluster, redis, static("x", "10.1.1.1", 8080)), tracing("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "x", "collector_endpoint": "/admin"`)}},
	{"a log of connections to the inbound's own workload", unverified, []edit{put(tcpProxy+".access_log", `[`+typed("f", "envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig", `"cluster": "self_inbound_dp_6379", "tag": "x"`)+`]`)}},
	{"traces to the workload of a chain without endpoints", unverified, []edit{holed(typed("s", "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", ""), put("filter_chains.0.filters.0.typed_config.tracing", tracer("envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "self_inbound_dp_http-port", "collector_endpoint": "/admin"`)))}},
}

// ownDomain is the trust domain of the example, with its CAs.
const ownDomain = `{"name": "default.zone-1.mesh.local", "trust_bundle": {"inline_string": "x"}}`

// validator is a configuration for the SPIFFE validator under a name.
func validator(name string) string {
	return strings.Replace(spiffe(ownDomain), "envoy.tls.cert_validator.spiffe", name, 1)
}

func tracer(message, fields string) string {
	return `{"provider": ` + typed("t", message, fields) + `}`
}

func tracing(message, fields string) edit {
	return put(manager+".tracing", tracer(message, fields))
}
