package verify

import "testing"

// mirrored copies the requests of the HTTP inbound.
func mirrored(ip string, port int) []edit {
	return []edit{clusters(ownCluster, redis, static("m", ip, port)), put(route+".route.request_mirror_policies", `[{"cluster": "m"}]`)}
}

// deadEnd is an inbound that answers by itself.
var deadEnd = put(host+".routes", `[{"match": {"prefix": "/"}, "direct_response": {"status": 200}}]`)

// forgedWorkloads are dumps whose inbounds lead to something else than the workload of the policies.
var forgedWorkloads = []forged{
	{"two inbounds that exchange their workloads", unverified, []edit{clusters(static("self_inbound_dp_http-port", "127.0.0.1", 6379), static("self_inbound_dp_6379", "127.0.0.1", 8080))}},
	{"another port of the workload", unverified, []edit{clusters(static("self_inbound_dp_http-port", "127.0.0.1", 9999), redis)}},
	{"the workload of another machine", unverified, []edit{clusters(static("self_inbound_dp_http-port", "10.0.0.99", 8080), redis)}},
	{"the workload, and another port of it", unverified, []edit{clusters(ownCluster, redis, static("x", "127.0.0.1", 9999)), push(host+".routes", `{"match": {"prefix": "/debug"}, "route": {"cluster": "x"}}`)}},
	{"the workload, and another machine", unverified, []edit{clusters(ownCluster, redis, static("x", "10.0.0.99", 80)), push(host+".routes", `{"match": {"prefix": "/debug"}, "route": {"cluster": "x"}}`)}},
	{"a share for another port of the workload", unverified, []edit{clusters(ownCluster, redis, static("x", "127.0.0.1", 9999)), drop(route + ".route.cluster"), put(route+".route.weighted_clusters", `{"clusters": [{"name": "self_inbound_dp_http-port", "weight": 99}, {"name": "x", "weight": 1}]}`)}},
	{"copies for another port of the workload", unverified, mirrored("127.0.0.1", 9999)},
	{"copies for another machine", verified, mirrored("10.1.1.1", 9999)},
	{"the workload by the address of the sidecar", verified, []edit{clusters(static("self_inbound_dp_http-port", "10.0.0.7", 8080), redis)}},
	{"the name of an Envoy", verified, []edit{bootstrap(harmlessLayers + `, "node": {"id": "x", "user_agent_name": "envoy", "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40}}}`)}},
	{"the dump of another Dataplane", unverified, []edit{bootstrap(harmlessLayers + `, "node": {"id": "default.other"}`)}},
	{"the dump of a Dataplane of another mesh", unverified, []edit{bootstrap(harmlessLayers + `, "node": {"id": "prod.dp"}`)}},
	{"the dump of the Dataplane", verified, []edit{bootstrap(harmlessLayers + `, "node": {"id": "default.dp"}`)}},
	{"the dump of the Dataplane on Kubernetes", verified, []edit{bootstrap(harmlessLayers + `, "node": {"id": "default.dp.ns-1"}`)}},
	{"the name of another proxy", unverified, []edit{bootstrap(harmlessLayers + `, "node": {"user_agent_name": "acme", "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40}}}`)}},
	{"two versions of one build", unverified, []edit{bootstrap(harmlessLayers + `, "node": {"user_agent_version": "1.36.4", "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40}}}`)}},
	{"a version in two spellings", unverified, []edit{bootstrap(harmlessLayers + `, "node": {"userAgentBuildVersion": {"version": {"minor_number": 36}}, "user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40}}}`)}},
	{"a number of a version in two spellings", unverified, []edit{bootstrap(harmlessLayers + `, "node": {"user_agent_build_version": {"version": {"major_number": 1, "minor_number": 40, "minorNumber": 36}}}`)}},
	// What leads nowhere guards no workload, so that requests of Envoy's own to it were none past an inbound.
	{"answers in the place of the workload", unverified, []edit{deadEnd}},
	{"answers in the place of the workload, and a log to it", unverified, []edit{deadEnd, logging("logs"), clusters(ownCluster, redis, static("logs", "127.0.0.1", 8080))}},
	{"answers for a path, and the workload", verified, []edit{push(host+".routes", `{"match": {"prefix": "/x"}, "direct_response": {"status": 200}}`)}},
	{"copies for the workload alone", unverified, []edit{clusters(ownCluster, redis, `{"name": "nobody", "type": "STATIC"}`), put(route+".route", `{"cluster": "nobody", "request_mirror_policies": [{"cluster": "self_inbound_dp_http-port"}]}`)}},
	{"another port of the workload on tcp", unverified, []edit{clusters(ownCluster, static("self_inbound_dp_6379", "127.0.0.1", 6380))}},
}

// TestStatedWorkload holds dumps against a Dataplane that says where its workload is.
func TestStatedWorkload(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, states, ip string
		port             int
		want             outcome
		more             []edit
	}{
		{"the service port", "servicePort: 9090", "127.0.0.1", 9090, verified, nil},
		{"the port of the listener, where another one is stated", "servicePort: 9090", "127.0.0.1", 8080, unverified, nil},
		{"the service address", "serviceAddress: 10.0.0.99", "10.0.0.99", 8080, verified, nil},
		{"another port of the service address", "serviceAddress: 10.0.0.99", "10.0.0.99", 9090, unverified, nil},
		{"another service address", "serviceAddress: 10.0.0.99", "10.0.0.98", 8080, unverified, nil},
		{"the service port, to which a transparent proxy passes connections on", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{redirectedBy("INBOUND", "on", "0.0.0.0", 15006)}},
		{"the service port, which is that of Istio's agent", "servicePort: 15020", "127.0.0.1", 15020, verified, nil},
		{"the service port, which is that of Istio's agent, with its listener", "servicePort: 15020", "127.0.0.1", 15020, unverified, []edit{serving("/healthz/ready", "agent", ""), clusters(static("agent", "127.0.0.1", 15020))}},
		{"the service address, to which an outbound listener leads", "serviceAddress: 10.0.0.99", "10.0.0.99", 8080, unverified, []edit{sending("10.0.0.9", "", "x"), clusters(static("x", "10.0.0.99", 8080))}},
		{"the service address, to which an outbound listener leads over mTLS", "serviceAddress: 10.0.0.99", "10.0.0.99", 8080, verified, []edit{sending("10.0.0.9", "", "x"), clusters(having(static("x", "10.0.0.99", 8080), meshTLS("")))}},
		{"the service address, to which an outbound listener of this machine alone leads", "serviceAddress: 10.0.0.99", "10.0.0.99", 8080, verified, []edit{sending("127.0.0.1", "", "x"), clusters(static("x", "10.0.0.99", 8080))}},
		{"another port of the service address, to which an outbound listener leads", "serviceAddress: 10.0.0.99", "10.0.0.99", 8080, verified, []edit{sending("10.0.0.9", "", "x"), clusters(static("x", "10.0.0.99", 8081))}},
		{"the service address, to which an outbound listener logs", "serviceAddress: 10.0.0.99", "10.0.0.99", 8080, unverified, []edit{sending("10.0.0.9", `"access_log": [`+toGRPC("x")+`]`, "far"), clusters(static("x", "10.0.0.99", 8080), static("far", "10.9.9.9", 80))}},
		{"the service address, to which an outbound listener copies", "serviceAddress: 10.0.0.99", "10.0.0.99", 8080, unverified, []edit{sending("10.0.0.9", "", "far"), put(sent+".filters", overHTTP("far", "")), put(sent+".filters.0.typed_config.route_config.virtual_hosts.0.routes.0.route.request_mirror_policies", `[{"cluster": "x"}]`), clusters(static("x", "10.0.0.99", 8080), static("far", "10.9.9.9", 80))}},
		{"the service address, to which another inbound logs", "serviceAddress: 10.0.0.99", "10.0.0.99", 8080, unverified, []edit{put(tcpProxy+".access_log", `[`+toGRPC("x")+`]`), clusters(static("x", "10.0.0.99", 8080))}},
		{"the service port, and a log to its inbound over mTLS", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{logging("self"), clusters(self)}},
		{"the service port, and a log to a name with the port of its inbound over mTLS", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{logging("logs"), clusters(having(retyped(static("logs", "logs.example", 8080), `"type": "STRICT_DNS"`), meshTLS("")))}},
		{"the service port, and a log to endpoints that are not there over mTLS", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{logging("logs"), clusters(having(byEDS("logs", ""), meshTLS("")))}},
		{"the service port, and a log to a cluster of clusters", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{logging("logs"), clusters(self, `{"name": "logs", "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": {"@type": "T/envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": ["self"]}}}`)}},
		{"the service port, and a log to a name with a certificate for nobody in particular", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{logging("logs"), clusters(having(retyped(static("logs", "logs.example", 8080), `"type": "STRICT_DNS"`), upstreamTLS(`"tls_certificate_sds_secret_configs": [{"name": "default", "sds_config": {"ads": {}}}]`)))}},
		{"the service port, and a log over an unknown transport", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{logging("logs"), clusters(having(retyped(static("logs", "logs.example", 8080), `"type": "STRICT_DNS"`), `"transport_socket": `+typed("x", "acme.Socket", "")))}},
		{"the service port, and a log to endpoints that are not there with a certificate", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{logging("logs"), clusters(having(byEDS("logs", ""), `"transport_socket_matches": [{"name": "tls", `+upstreamTLS(`"tls_certificates": [{}]`)+`}]`))}},
		{"the service port, and a log to a name over TLS without a certificate", "servicePort: 9090", "127.0.0.1", 9090, verified, []edit{logging("logs"), clusters(having(retyped(static("logs", "logs.example", 8080), `"type": "STRICT_DNS"`), upstreamTLS(`"validation_context": {"trusted_ca": {"inline_string": "x"}}, "alpn_protocols": ["h2"]`)))}},
		{"the service port, and a log to another port of a name with a certificate", "servicePort: 9090", "127.0.0.1", 9090, verified, []edit{logging("logs"), clusters(having(retyped(static("logs", "logs.example", 4317), `"type": "STRICT_DNS"`), upstreamTLS(`"tls_certificates": [{}]`)))}},
		{"the service port, and a control plane by a name with a certificate", "servicePort: 9090", "127.0.0.1", 9090, verified, []edit{bootstrap(harmlessLayers + adsBy("plane")), clusters(having(retyped(static("plane", "plane.example", 8080), `"type": "STRICT_DNS"`), upstreamTLS(`"tls_certificates": [{}]`)))}},
		{"the service port, and statistics to a name with a certificate", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("s", "envoy.config.metrics.v3.MetricsServiceConfig", `"grpc_service": {"envoy_grpc": {"cluster_name": "logs"}}`) + `]`), clusters(having(retyped(static("logs", "logs.example", 8080), `"type": "STRICT_DNS"`), upstreamTLS(`"tls_certificates": [{}]`)))}},
		{"the service port, and a log to a sidecar of another machine", "servicePort: 9090", "127.0.0.1", 9090, verified, []edit{logging("logs"), clusters(having(static("logs", "10.9.9.9", 8080), meshTLS("")))}},
		{"the service port, and a log to another port of the machine over mTLS", "servicePort: 9090", "127.0.0.1", 9090, verified, []edit{logging("logs"), clusters(having(static("logs", "10.0.0.7", 4317), meshTLS("")))}},
		{"the service port, and an outbound listener that logs to its inbound over mTLS", "servicePort: 9090", "127.0.0.1", 9090, unverified, []edit{sending("10.0.0.9", `"access_log": [`+toGRPC("self")+`]`, "far"), clusters(self, static("far", "10.9.9.9", 80))}},
		{"the service port, and an outbound listener of this machine that logs to its inbound over mTLS", "servicePort: 9090", "127.0.0.1", 9090, verified, []edit{sending("127.0.0.1", `"access_log": [`+toGRPC("self")+`]`, "far"), clusters(self, static("far", "10.9.9.9", 80))}},
		{"an address to which requests are copied, and an outbound listener leads", "servicePort: 8080", "127.0.0.1", 8080, verified, []edit{sending("10.0.0.9", "", "x"), clusters(static("m", "10.1.1.1", 80), static("x", "10.1.1.1", 80)), put(route+".route.request_mirror_policies", `[{"cluster": "m"}]`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first := []edit{clusters(static("self_inbound_dp_http-port", tt.ip, tt.port), redis, `{"name": "on", "type": "ORIGINAL_DST"}`)}
			v := matchedStating(t, "port: 8080,", "port: 8080, "+tt.states+",", append(first, tt.more...)...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q", got, tt.want, lines(v.Unverified))
			}
		})
	}
}

// sent is the chain of the listener that sending adds.
const sent = "configs.0.dynamic_listeners.3.active_state.listener.filter_chains.0"
