package verify

import (
	"fmt"
	"strings"
	"testing"
)

// The parts that Kuma gives to each sidecar beside its inbounds, in the shape of its generators of version 2.14.
var (
	// kumaBootstrap is the bootstrap of its data plane proxy.
	kumaBootstrap = bootstrap(`"node": {"id": "default.dp", "cluster": "backend", "metadata": {"dataplane.admin.port": "9901", "ipv6Enabled": false}},
		"admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 9901}}, "access_log": [` + toFile + `]},
		"default_regex_engine": ` + typed("envoy.regex_engines.google_re2", "envoy.extensions.regex_engines.v3.GoogleRE2", "") + `,
		"dynamic_resources": {"ads_config": {"api_type": "DELTA_GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "system_ads"}}]}},
		"hds_config": {"api_type": "GRPC", "grpc_services": [{"envoy_grpc": {"cluster_name": "system_ads"}}]},
		"layered_runtime": {"layers": [{"name": "kuma", "static_layer": {"re2.max_program_size.error_level": 4294967295, "re2.max_program_size.warn_level": 1000}}]},
		"stats_config": {"stats_tags": [{"tag_name": "worker", "regex": "(worker_([0-9]+)\\.)"}]},
		"static_resources": {
			"secrets": [{"name": "cp_validation_ctx", "validation_context": {"trusted_ca": {"inline_string": "x"}, "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": "cp"}}]}}],
			"clusters": [{"name": "system_ads", "type": "STRICT_DNS", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "cp", "port_value": 5678}}}}]}]}}]}`)
	// kumaClusters are those of the inbounds, and its own ones.
	kumaClusters = clusters(ownCluster, redis, static("kuma:envoy:admin", "127.0.0.1", 9901), static("kuma:readiness", "127.0.0.1", 9902),
		having(`{"name": "inbound:passthrough:ipv4", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`, `"upstream_bind_config": {"source_address": {"address": "127.0.0.6", "port_value": 0}}`),
		`{"name": "outbound:passthrough:ipv4", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`, otherRedis)
	// kumaAdmin is the listener through which the control plane reaches the admin interface, and Kubernetes asks whether the
	// sidecar is ready.
	kumaAdmin = add("configs.0.dynamic_listeners", `{"name": "kuma:envoy:admin", "active_state": {"listener": {"name": "kuma:envoy:admin", "traffic_direction": "INBOUND", "enable_reuse_port": false,
		"address": {"socket_address": {"address": "10.0.0.7", "port_value": 9901}},
		"listener_filters": [`+typed("tls", "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", "")+`],
		"filter_chains": [
			{"filters": [`+kumaManager(readyRoute)+`]},
			{"filter_chain_match": {"transport_protocol": "tls"}, "filters": [`+kumaManager(readyRoute+`, {"match": {"prefix": "/"}, "route": {"cluster": "kuma:envoy:admin", "prefix_rewrite": "/"}}`)+`],
			"transport_socket": `+typed("envoy.transport_sockets.tls", "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", `"require_client_certificate": true, "common_tls_context": {
				"tls_certificates": [{"certificate_chain": {"inline_bytes": "eA=="}, "private_key": {"inline_bytes": "eA=="}}],
				"validation_context": {"trusted_ca": {"inline_bytes": "eA=="}, "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": "kuma-cp"}}]}}`)+`}]}}}`)
	// kumaConfig is a listener in the file system, with answers for Kuma's own process.
	kumaConfig = add("configs.0.dynamic_listeners", `{"name": "_kuma:dynamicconfig", "active_state": {"listener": {"name": "_kuma:dynamicconfig", "address": {"pipe": {"path": "/tmp/kuma-mesh-metric-config.sock"}},
		"filter_chains": [{"filters": [`+kumaManager(`{"match": {"path": "/dns"}, "direct_response": {"status": 200, "body": {"inline_string": "{}"}}}`)+`]}]}}}`)
)

// Places in the listener for admin.
const (
	kumaListener = "configs.0.dynamic_listeners.3.active_state.listener"
	adminTLS     = kumaListener + ".filter_chains.1.transport_socket.typed_config"
	adminCAs     = adminTLS + ".common_tls_context.validation_context.trusted_ca"
	adminSANs    = adminTLS + ".common_tls_context.validation_context.match_typed_subject_alt_names"
)

// adminBySocket gives the admin interface a socket in the file system, as Kuma 2.14 does by default, and its cluster another one or the same.
func adminBySocket(path string) edit {
	return func(dump any) any {
		dump = put("configs.1.bootstrap.admin.address", `{"pipe": {"path": "/tmp/kuma-dp-1/kuma-envoy-admin.sock", "mode": 384}}`)(dump)
		return clusters(ownCluster, redis, socketOf("kuma:envoy:admin", path), static("kuma:readiness", "127.0.0.1", 9902))(dump)
	}
}

// ofKuma has the node state a release of Kuma's process, the socket of the admin interface, and on universal a Dataplane.
func ofKuma(release, dataplane string) edit {
	more := ""
	if dataplane != "" {
		more = fmt.Sprintf(`, "dataplane.resource": %q`, dataplane)
	}
	return put(kumaNode+".metadata", fmt.Sprintf(`{"ipv6Enabled": false, "dataplane.admin.socketPath": "/tmp/kuma-dp-1/kuma-envoy-admin.sock", "version": {"kumaDp": {"version": %q}}%s}`, release, more))
}

// socketOf is a cluster whose endpoint is a socket in the file system.
func socketOf(name, path string) string {
	return fmt.Sprintf(`{"name": %q, "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"pipe": {"path": %q}}}}]}]}}`, name, path)
}

// kumaMetrics serves the metrics that Kuma's process gathers.
var kumaMetrics = add("configs.0.dynamic_listeners", `{"name": "_kuma:metrics:prometheus", "active_state": {"listener": {"name": "_kuma:metrics:prometheus", "traffic_direction": "INBOUND", "enable_reuse_port": false,
	"address": {"socket_address": {"address": "10.0.0.7", "port_value": 5670}},
	"filter_chains": [{"filters": [`+kumaManager(`{"match": {"prefix": "/metrics"}, "route": {"cluster": "metrics", "prefix_rewrite": "/meshmetric"}}`)+`]}]}}}`)

const readyRoute = `{"match": {"prefix": "/ready"}, "route": {"cluster": "kuma:readiness", "prefix_rewrite": "/ready"}}`

// kumaManager is a connection manager of one of Kuma's own listeners.
func kumaManager(routes string) string {
	return typed("envoy.filters.network.http_connection_manager", "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", `"stat_prefix": "x",
		"internal_address_config": {"cidr_ranges": [{"address_prefix": "127.0.0.1", "prefix_len": 32}]}, "http_filters": [`+httpFilter("router.v3.Router", "")+`],
		"route_config": {"validate_clusters": false, "virtual_hosts": [{"name": "x", "domains": ["*"], "routes": [`+routes+`]}]}`)
}

// redirectedBy adds a listener for redirected connections, as Kuma's transparent proxy has them.
func redirectedBy(direction, cluster, ip string, port int) edit {
	return add("configs.0.dynamic_listeners", fmt.Sprintf(`{"name": %q, "active_state": {"listener": {"name": %q, "traffic_direction": %q, "use_original_dst": true, "address": {"socket_address": {"address": %q, "port_value": %d}},
		"filter_chains": [{"filters": [%s]}]}}}`, cluster, cluster, direction, ip, port, typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", fmt.Sprintf(`"stat_prefix": "x", "cluster": %q`, cluster))))
}

// transparent adds the listener for redirected inbound connections, which hands those of inbounds over to them.
func transparent(dump any) any {
	for _, e := range []edit{kumaClusters, redirectedBy("INBOUND", "inbound:passthrough:ipv4", "0.0.0.0", 15006), put(listener+".bind_to_port", `false`)} {
		dump = e(dump)
	}
	return dump
}

// nodeRedirects has the node state what Kuma's transparent proxy redirects.
func nodeRedirects(what string) edit {
	return put(kumaNode+".metadata", `{"ipv6Enabled": false, "transparentProxy": {"ipFamilyMode": "ipv4", "redirect": {`+what+`}}}`)
}

// ipv6 adds the same for IPv6.
var ipv6 = redirectedBy("INBOUND", "inbound:passthrough:ipv4", "::", 15006)

// noEndpoints is the answer of EDS for the cluster that passes on, with an empty list.
var noEndpoints = add("configs", `{"@type": "T/envoy.admin.v3.EndpointsConfigDump", "dynamic_endpoint_configs": [{"endpoint_config": {"cluster_name": "inbound:passthrough:ipv4"}}]}`)

// Places in a dump with kumaBootstrap and transparent.
const (
	kumaNode    = "configs.1.bootstrap.node"
	kumaCluster = "configs.2.static_clusters.0.cluster"
	kumaPassing = "configs.2.static_clusters.4.cluster"
	passingOn   = "configs.0.dynamic_listeners.3.active_state.listener"
)

func TestKumaSidecar(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"with its bootstrap":                                                  {verified, []edit{kumaBootstrap, kumaClusters}},
		"beside Kuma's proxy for probes":                                      {unverified, []edit{kumaBootstrap, kumaClusters, put(kumaNode+".metadata", `{"dataplane.appProbeProxy.enabled": "true"}`)}},
		"beside Kuma's proxy for probes, as no text":                          {unverified, []edit{kumaBootstrap, kumaClusters, put(kumaNode+".metadata", `{"dataplane.appProbeProxy.enabled": true}`)}},
		"without Kuma's proxy for probes":                                     {verified, []edit{kumaBootstrap, kumaClusters, put(kumaNode+".metadata", `{"dataplane.appProbeProxy.enabled": "false"}`)}},
		"redirected connections":                                              {verified, []edit{kumaBootstrap, transparent, nodeRedirects(`"inbound": {"enabled": true, "port": 15006}, "outbound": {"enabled": true, "port": 15001}`)}},
		"redirected connections of IPv4 alone, of a pod with IPv6":            {unverified, []edit{kumaBootstrap, transparent, nodeRedirects(`"inbound": {"enabled": true, "port": 15006}, "outbound": {"enabled": true, "port": 15001}`), put(kumaNode+".metadata.ipv6Enabled", `true`)}},
		"redirected connections, to a port that no listener has":              {unverified, []edit{kumaBootstrap, transparent, nodeRedirects(`"inbound": {"enabled": true, "port": 15007}, "outbound": {"enabled": true, "port": 15001}`)}},
		"redirected connections, to a port of one address alone":              {unverified, []edit{kumaBootstrap, transparent, nodeRedirects(`"inbound": {"enabled": true, "port": 8080}, "outbound": {"enabled": true, "port": 15001}`)}},
		"redirected connections, and no listener for them":                    {unverified, []edit{kumaBootstrap, kumaClusters, nodeRedirects(`"inbound": {"enabled": true, "port": 15006}, "outbound": {"enabled": true, "port": 15001}`)}},
		"no redirected connections of others":                                 {unverified, []edit{kumaBootstrap, transparent, nodeRedirects(`"inbound": {"enabled": false}, "outbound": {"enabled": true, "port": 15001}`)}},
		"redirected connections, in a form that is not known":                 {unverified, []edit{kumaBootstrap, transparent, nodeRedirects(`"inbound": "yes"`)}},
		"no redirected connections at all, on ports of its own":               {verified, []edit{kumaBootstrap, kumaClusters, nodeRedirects(`"inbound": {"enabled": false}, "outbound": {"enabled": false}`)}},
		"with the ID of its node in a list":                                   {unverified, []edit{kumaBootstrap, kumaClusters, put("configs.1.bootstrap.node.id", `["default.other"]`)}},
		"with its listener for admin":                                         {verified, []edit{kumaBootstrap, kumaClusters, kumaAdmin}},
		"with its listener for admin, by a socket":                            {verified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/tmp/kuma-dp-1/kuma-envoy-admin.sock")}},
		"admin by the socket of something else":                               {unverified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/run/kuma-envoy-admin.sock")}},
		"admin by a socket on which a listener listens":                       {unverified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/tmp/kuma-dp-1/kuma-envoy-admin.sock"), kumaConfig, put("configs.0.dynamic_listeners.4.active_state.listener.address.pipe.path", `"/tmp/kuma-dp-1/../kuma-dp-1/kuma-envoy-admin.sock"`)}},
		"admin by a socket, for callers without a certificate":                {unverified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/tmp/kuma-dp-1/kuma-envoy-admin.sock"), put(adminTLS+".require_client_certificate", `false`)}},
		"an inbound that leads to the socket for admin":                       {unverified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/tmp/kuma-dp-1/kuma-envoy-admin.sock"), put(route+".route.cluster", `"kuma:envoy:admin"`)}},
		"admin by a socket, of a release that opens it":                       {unverified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/tmp/kuma-dp-1/kuma-envoy-admin.sock"), ofKuma("2.14.1", "")}},
		"admin by a socket, of a build of a release that opens it":            {unverified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/tmp/kuma-dp-1/kuma-envoy-admin.sock"), ofKuma("v2.14.0-preview.1", "")}},
		"admin by a socket, of a later release":                               {verified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/tmp/kuma-dp-1/kuma-envoy-admin.sock"), ofKuma("2.14.2", "")}},
		"admin by a socket, of such a release on universal":                   {verified, []edit{kumaBootstrap, kumaAdmin, adminBySocket("/tmp/kuma-dp-1/kuma-envoy-admin.sock"), ofKuma("2.14.1", registeredText)}},
		"admin for callers without a certificate":                             {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(adminTLS+".require_client_certificate", `false`)}},
		"admin for callers without TLS":                                       {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, drop(kumaListener + ".filter_chains.1.transport_socket")}},
		"admin for any name that begins as the control plane":                 {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(adminSANs+".0.matcher", `{"prefix": "kuma-cp"}`)}},
		"admin for a URI":                                                     {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(adminSANs+".0.san_type", `"URI"`)}},
		"admin for two names":                                                 {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, add(adminSANs, `{"san_type": "DNS", "matcher": {"exact": "x"}}`)}},
		"admin for no name":                                                   {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, drop(adminSANs)}},
		"admin for callers whom nothing proves":                               {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(adminTLS+".common_tls_context.validation_context.trust_chain_verification", `"ACCEPT_UNTRUSTED"`)}},
		"admin by CAs of a file":                                              {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(adminCAs, `{"filename": "/etc/ssl/certs/ca-certificates.crt"}`)}},
		"admin by CAs of a variable":                                          {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(adminCAs, `{"environment_variable": "X"}`)}},
		"admin by CAs that are empty":                                         {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(adminCAs, `{}`)}},
		"admin by the validator of SPIFFE":                                    {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(adminTLS+".common_tls_context.validation_context.custom_validator_config", typed("envoy.tls.cert_validator.spiffe", "envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig", `"trust_domains": [{"name": "x", "trust_bundle": {"inline_string": "x"}}]`))}},
		"admin by a hash alone":                                               {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, drop(adminCAs), put(adminTLS+".common_tls_context.validation_context.verify_certificate_hash", `["ab"]`)}},
		"admin without TLS by the path for readiness":                         {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(kumaListener+".filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.routes.0.route.cluster", `"kuma:envoy:admin"`)}},
		"the workload by the path for readiness":                              {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(kumaListener+".filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.routes.0.route.cluster", `"self_inbound_dp_http-port"`)}},
		"another path for readiness":                                          {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(kumaListener+".filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.routes.0.match.prefix", `"/"`)}},
		"an unknown transport in the listener for admin":                      {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(kumaListener+".filter_chains.0.transport_socket", typed("x", "acme.Socket", ""))}},
		"an unknown matcher in the listener for admin":                        {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, put(kumaListener+".filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.routes.0.match.headers", `[{"name": "x", "string_match": {"custom": `+typed("x", "acme.Matcher", "")+`}}]`)}},
		"a script in the listener for admin":                                  {unverified, []edit{kumaBootstrap, kumaClusters, kumaAdmin, push(kumaListener+".filter_chains.0.filters.0.typed_config.http_filters", lua())}},
		"a workload with the port for readiness":                              {unverified, []edit{kumaBootstrap, clusters(static("self_inbound_dp_http-port", "127.0.0.1", 9902), redis, static("kuma:envoy:admin", "127.0.0.1", 9901), static("kuma:readiness", "127.0.0.1", 9902)), kumaAdmin}},
		"another port for readiness than the node states":                     {unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, static("kuma:envoy:admin", "127.0.0.1", 9901), static("kuma:readiness", "127.0.0.1", 9999)), kumaAdmin}},
		"readiness by its socket":                                             {verified, []edit{kumaBootstrap, clusters(ownCluster, redis, static("kuma:envoy:admin", "127.0.0.1", 9901), socketOf("kuma:readiness", "/tmp/kuma-readiness-reporter.sock")), kumaAdmin}},
		"readiness by the socket of something else":                           {unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, static("kuma:envoy:admin", "127.0.0.1", 9901), socketOf("kuma:readiness", "/run/docker.sock")), kumaAdmin}},
		"a listener for processes that leads to the workload":                 {unverified, []edit{kumaBootstrap, kumaClusters, kumaConfig, put("configs.0.dynamic_listeners.3.active_state.listener.filter_chains.0.filters", overHTTP("self_inbound_dp_http-port", ""))}},
		"with its listener for metrics":                                       {verified, []edit{kumaBootstrap, clusters(ownCluster, redis, socketOf("metrics", "/tmp/kuma-mh-dp-default.sock")), kumaMetrics}},
		"metrics of an application":                                           {unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, static("metrics", "127.0.0.1", 8081)), kumaMetrics}},
		"metrics of the workload":                                             {unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, static("metrics", "127.0.0.1", 8080)), kumaMetrics}},
		"metrics, and a default chain to the workload":                        {unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, socketOf("metrics", "/tmp/kuma-mh-dp-default.sock")), kumaMetrics, put(kumaListener+".default_filter_chain", `{"filters": `+overHTTP("self_inbound_dp_http-port", "")+`}`)}},
		"metrics, and a socket and the workload in one cluster":               {unverified, []edit{kumaBootstrap, clusters(ownCluster, redis, strings.Replace(socketOf("metrics", "/tmp/kuma-mh-dp-default.sock"), `"lb_endpoints": [`, `"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}}, `, 1)), kumaMetrics}},
		"with its listener for its process":                                   {verified, []edit{kumaBootstrap, kumaClusters, kumaConfig}},
		"outbound of a transparent proxy":                                     {verified, []edit{kumaBootstrap, kumaClusters, redirectedBy("OUTBOUND", "outbound:passthrough:ipv4", "0.0.0.0", 15001)}},
		"inbound of a transparent proxy, of IPv6 too":                         {verified, []edit{kumaBootstrap, transparent, ipv6}},
		"inbound of a transparent proxy, of a pod with IPv6":                  {unverified, []edit{kumaBootstrap, transparent, ipv6, put(kumaNode+".metadata.ipv6Enabled", `true`)}},
		"inbound of a transparent proxy, of a pod that says nothing of IPv6":  {unverified, []edit{kumaBootstrap, transparent, ipv6, drop(kumaNode + ".metadata.ipv6Enabled")}},
		"a port of the workload that no inbound has":                          {unverified, []edit{kumaBootstrap, transparent, put(kumaCluster+".load_assignment.endpoints.0.lb_endpoints.0.endpoint.address.socket_address.port_value", `9999`)}},
		"passed on to the workload":                                           {unverified, []edit{kumaBootstrap, transparent, put(passingOn+".filter_chains.0.filters.0.typed_config.cluster", `"self_inbound_dp_http-port"`)}},
		"passed on to endpoints by EDS, of which there are none yet":          {unverified, []edit{kumaBootstrap, transparent, put(kumaPassing, byEDS("inbound:passthrough:ipv4", "")), noEndpoints}},
		"passed on to a name, without endpoints":                              {unverified, []edit{kumaBootstrap, transparent, put(kumaPassing, `{"name": "inbound:passthrough:ipv4", "type": "STRICT_DNS"}`)}},
		"passed on to nowhere":                                                {verified, []edit{kumaBootstrap, transparent, put(kumaPassing, `{"name": "inbound:passthrough:ipv4", "type": "STATIC"}`)}},
		"passed on with a script":                                             {unverified, []edit{kumaBootstrap, transparent, put(passingOn+".filter_chains.0.filters", overHTTP("inbound:passthrough:ipv4", lua()+", "))}},
		"passed on to where callers choose":                                   {unverified, []edit{kumaBootstrap, transparent, put(kumaPassing+".original_dst_lb_config", `{"use_http_header": true}`)}},
		"passed on on the port of an inbound, whose listener has the address": {verified, []edit{kumaBootstrap, transparent, put(passingOn+".filter_chains.0.filter_chain_match", `{"destination_port": 8080}`)}},
		"passed on on a port that no inbound has":                             {unverified, []edit{kumaBootstrap, transparent, put(passingOn+".filter_chains.0.filter_chain_match", `{"destination_port": 8081}`)}},
		"passed on for one server name":                                       {unverified, []edit{kumaBootstrap, transparent, put(passingOn+".filter_chains.0.filter_chain_match", `{"destination_port": 8080, "server_names": ["x"]}`)}},
		"passed on, where the inbound has another address":                    {unverified, []edit{kumaBootstrap, transparent, put(listener+".address.socket_address.address", `"10.0.0.8"`)}},
		"passed on by a socket of IPv6":                                       {unverified, []edit{kumaBootstrap, transparent, put(passingOn+".address.socket_address", `{"address": "::", "port_value": 15006, "ipv4_compat": true}`)}},
		"passed on, where the inbound is written as IPv6":                     {unverified, []edit{kumaBootstrap, transparent, put(listener+".address.socket_address.address", `"::ffff:10.0.0.7"`)}},
		"inbound of a transparent proxy":                                      {verified, []edit{kumaBootstrap, transparent}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matched(t, tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// guardedIn moves the HTTP inbound into the listener for redirected connections, as a chain with a match beside the chain that
// passes on, and gives it a cluster without endpoints.
func guardedIn(match string, edits ...edit) edit {
	return func(dump any) any {
		all := []edit{kumaBootstrap, transparent, add("configs.2.static_clusters", `{"cluster": {"name": "on", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}}`),
			copied(passingOn+".filter_chains.0", passingOn+".default_filter_chain"), drop(passingOn + ".filter_chains.0"),
			copied(chain, passingOn+".filter_chains[]", put("filter_chain_match", match), put("filters.0.typed_config.route_config.virtual_hosts.0.routes.0.route.cluster", `"on"`))}
		for _, e := range append(append(all, edits...), drop("configs.0.dynamic_listeners.0")) {
			dump = e(dump)
		}
		return dump
	}
}

// apart moves the chains that do not pass on into another listener of the same name and address, which binds no port.
func apart(dump any) any {
	for _, e := range []edit{copied("configs.0.dynamic_listeners.3", "configs.0.dynamic_listeners[]", put("active_state.listener.bind_to_port", `false`), drop("active_state.listener.default_filter_chain")),
		copied(passingOn+".default_filter_chain", passingOn+".filter_chains[]"), drop(passingOn + ".default_filter_chain"), drop(passingOn + ".filter_chains.0")} {
		dump = e(dump)
	}
	return dump
}

// inBlock is a match of the address of the Dataplane, with more.
func inBlock(more string) string {
	return `{"destination_port": 8080, "prefix_ranges": [{"address_prefix": "10.0.0.7", "prefix_len": 32}]` + more + `}`
}

// TestPassedOn has inbounds that take only some of the connections which a transparent proxy would pass on to the workload.
func TestPassedOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		want outcome
		edit edit
	}{
		"each connection of the port":                                          {verified, guardedIn(inBlock(``))},
		"each connection of the port, in a listener with the name of this one": {unverified, guardedIn(inBlock(``), apart)},
		"one server name":                      {unverified, guardedIn(inBlock(`, "server_names": ["x"]`))},
		"connections over TLS":                 {unverified, guardedIn(inBlock(`, "transport_protocol": "tls"`))},
		"one protocol over TLS":                {unverified, guardedIn(inBlock(`, "application_protocols": ["h2"]`))},
		"one source":                           {unverified, guardedIn(inBlock(`, "source_prefix_ranges": [{"address_prefix": "203.0.113.1", "prefix_len": 32}]`))},
		"one port of the source":               {unverified, guardedIn(inBlock(`, "source_ports": [1234]`))},
		"sources of this machine":              {unverified, guardedIn(inBlock(`, "source_type": "SAME_IP_OR_LOOPBACK"`))},
		"a block of IPv6 that has the address": {unverified, guardedIn(`{"destination_port": 8080, "prefix_ranges": [{"address_prefix": "::ffff:10.0.0.7", "prefix_len": 128}]}`)},
		"one server name, and the rest of the port is passed on": {unverified, guardedIn(inBlock(`, "server_names": ["x"]`),
			copied(passingOn+".default_filter_chain", passingOn+".filter_chains[]", put("filter_chain_match", `{"destination_port": 8080}`)), drop(passingOn+".default_filter_chain"))},
		"another listener for redirected connections": {unverified, guardedIn(inBlock(``), copied("configs.0.dynamic_listeners.3", "configs.0.dynamic_listeners[]", put("active_state.listener.name", `"other"`), put("active_state.listener.address.socket_address.port_value", `15007`), drop("active_state.listener.default_filter_chain")),
			copied(passingOn+".default_filter_chain", passingOn+".filter_chains[]"), drop(passingOn+".default_filter_chain"), drop(passingOn+".filter_chains.0"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matched(t, tt.edit)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}
