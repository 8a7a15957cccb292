package verify

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds/lift"
)

// outcome is what becomes of a dump before an Envoy is asked.
type outcome string

const (
	verified outcome = "verified"
	// unverified is a dump with something that could not be proven: exit status 1.
	unverified outcome = "unverified"
	// differs is a dump whose filters decide a class otherwise than the policies.
	differs outcome = "differs"
)

// edit changes a dump.
type edit func(dump any) any

// forged is a row: the example's dump after some edits.
type forged struct {
	name  string
	want  outcome
	edits []edit
}

// forgeries are dumps that let callers past the policies, and honest dumps beside them.
var forgeries = []forged{
	{"as it is", verified, nil},

	// Listeners.
	{"chains by discovery", unverified, []edit{put(listener+".fcds_config", `{}`)}},
	{"a matcher of chains", unverified, []edit{put(listener+".filter_chain_matcher", `{}`)}},
	{"one more port", unverified, []edit{add(listener+".additional_addresses", `{"address": {"socket_address": {"address": "10.0.0.7", "port_value": 9999}}}`)}},
	{"one more address", verified, []edit{add(listener+".additional_addresses", `{"address": {"socket_address": {"address": "10.0.0.8", "port_value": 8080}}}`)}},
	{"options of one more address", unverified, []edit{add(listener+".additional_addresses", `{"address": {"socket_address": {"address": "10.0.0.8", "port_value": 8080}}, "socket_options": {}}`)}},
	{"an internal listener", unverified, []edit{twin(drop("address"), put("internal_listener", `{}`))}},
	{"an outbound internal listener", unverified, []edit{twin(drop("address"), put("internal_listener", `{}`), put("traffic_direction", `"OUTBOUND"`))}},
	{"an API listener", unverified, []edit{put(listener+".api_listener", `{}`)}},
	{"UDP", unverified, []edit{put(listener+".address.socket_address.protocol", `"UDP"`)}},
	{"a twin on QUIC", unverified, []edit{twin(put("address.socket_address.protocol", `"UDP"`), put("udp_listener_config", `{"quic_options": {}}`), put("traffic_direction", `"OUTBOUND"`))}},
	{"a UDP proxy", unverified, []edit{leading(put("udp_listener_config", `{}`), drop("traffic_direction"), drop("filter_chains"), put("listener_filters", `[`+typed("p", "envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig", "")+`]`), put("filter_chains", `[{}]`))}},
	{"DNS", verified, []edit{leading(put("udp_listener_config", `{}`), drop("traffic_direction"), drop("filter_chains"), put("listener_filters", `[`+typed("d", "envoy.extensions.filters.udp.dns_filter.v3.DnsFilterConfig", "")+`]`))}},
	{"a PROXY header", unverified, []edit{add(listener+".listener_filters", typed("p", "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol", ""))}},
	{"a PROXY header, in the old way", unverified, []edit{put(chain+".use_proxy_proto", `true`)}},
	{"original source", unverified, []edit{add(listener+".listener_filters", typed("o", "envoy.extensions.filters.listener.original_src.v3.OriginalSrc", ""))}},
	{"an unknown listener filter", unverified, []edit{add(listener+".listener_filters", typed("x", "acme.Filter", ""))}},
	{"a listener filter by discovery", unverified, []edit{add(listener+".listener_filters", `{"name": "x", "config_discovery": {"config_source": {"ads": {}}}}`)}},
	{"an inspector of TLS", verified, []edit{add(listener+".listener_filters", typed("t", "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", ""))}},
	{"socket options", unverified, []edit{put(listener+".socket_options", `[{"level": 1, "name": 2, "int_value": 3}]`)}},
	{"another network namespace", unverified, []edit{put(listener+".address.socket_address.network_namespace_filepath", `"/proc/1/ns/net"`)}},
	{"a resolver", unverified, []edit{put(listener+".address.socket_address.resolver_name", `"x"`)}},
	{"a backlog and an access log", verified, []edit{put(listener+".tcp_backlog_size", `5`), put(listener+".access_log", `[`+toFile+`]`)}},
	{"an access log of a listener of an unknown kind", unverified, []edit{put(listener+".access_log", `[`+typed("x", "acme.Log", "")+`]`)}},
	{"a pipe", unverified, []edit{twin(put("address", `{"pipe": {"path": "/run/x"}}`))}},
	{"a twin on every IPv6 address", differs, []edit{twin(put("address.socket_address.address", `"::"`))}},
	{"an outbound twin", unverified, []edit{twin(put("traffic_direction", `"OUTBOUND"`))}},
	{"a twin without a direction", differs, []edit{twin(drop("traffic_direction"))}},
	{"a twin on another port", unverified, []edit{twin(put("address.socket_address.port_value", `9999`))}},
	{"outbound on the workload's address", unverified, []edit{leading(put("address.socket_address", `{"address": "10.0.0.7", "port_value": 9999}`))}},
	{"outbound on every address", unverified, []edit{leading(put("address.socket_address", `{"address": "0.0.0.0", "port_value": 9999}`))}},
	{"outbound to the inbound's cluster", unverified, []edit{leading(put("address.socket_address.port_value", `1`), put("filter_chains.0.filters.0.typed_config.cluster", `"self_inbound_dp_http-port"`))}},
	{"outbound to the inbound's cluster, now and then", unverified, []edit{leading(put("address.socket_address.port_value", `1`), drop("filter_chains.0.filters.0.typed_config.cluster"),
		put("filter_chains.0.filters.0.typed_config.weighted_clusters", `{"clusters": [{"name": "x", "weight": 9}, {"name": "self_inbound_dp_6379", "weight": 1}]}`))}},
	{"outbound HTTP to the inbound's cluster", unverified, []edit{twin(put("address.socket_address.address", `"240.0.0.9"`), put("traffic_direction", `"OUTBOUND"`))}},
	{"outbound to a cluster of the caller's choice", unverified, []edit{twin(put("address.socket_address.address", `"240.0.0.9"`), put("traffic_direction", `"OUTBOUND"`),
		put("filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.routes.0.route", `{"cluster_header": "x-to"}`))}},
	{"outbound by RDS to the inbound's cluster", unverified, []edit{twin(put("address.socket_address.address", `"240.0.0.9"`), put("traffic_direction", `"OUTBOUND"`),
		drop("filter_chains.0.filters.0.typed_config.route_config"), put("filter_chains.0.filters.0.typed_config.rds", `{"route_config_name": "r", "config_source": {"ads": {}}}`)),
		copied(routes, "configs[]", put("name", `"r"`), dumpOf("envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs", "route_config"))}},
	{"outbound to another cluster with the workload's address", unverified, []edit{leading(put("address.socket_address.port_value", `1`)), clusters(static("self_inbound_dp_http-port", "127.0.0.1", 8080), static("kri_msvc_default_zone-1_ns-1_redis_6379", "127.0.0.1", 8080))}},
	{"outbound for connections that are redirected", verified, []edit{passing, clusters(`{"name": "passthrough", "type": "ORIGINAL_DST"}`, static("self_inbound_dp_http-port", "10.0.0.7", 8080), static("self_inbound_dp_6379", "127.0.0.1", 6379))}},
	{"outbound for connections that are redirected, to a cluster of its own", unverified, []edit{passing, clusters(static("passthrough", "127.0.0.1", 8080))}},
	{"outbound for connections that are redirected, to an unknown cluster", unverified, []edit{passing}},
	{"a listener that cannot be read", unverified, []edit{twin(put("address.socket_address.port_value", `"many"`))}},
	{"a field of a later API", unverified, []edit{put(listener+".open_for", `["everybody"]`)}},
	{"a later state of listeners", unverified, []edit{put("configs.0.paused_listeners", `[]`)}},
	{"a later state of a listener", unverified, []edit{put(states+".paused_state", `{}`)}},
	{"a later part of a dump", unverified, []edit{add("configs", `{"@type": "T/envoy.admin.v3.FilterChainsConfigDump"}`)}},
	{"it drains, open", differs, []edit{copied(listener, states+".draining_state", open, listenerOf)}},
	{"it drains, as it is", verified, []edit{copied(listener, states+".draining_state", listenerOf)}},
	{"a removed one drains, open", differs, []edit{copied(listener, "configs.0.dynamic_listeners[]", open, func(part any) any {
		return map[string]any{"name": "old", "draining_state": listenerOf(part)}
	})}},
	{"it warms, open", unverified, []edit{copied(listener, states+".warming_state", open, listenerOf)}},
	{"an update was refused", verified, []edit{put(states+".error_state", `{"details": "x"}`)}},
	{"a default chain", differs, []edit{copied(chain, listener+".default_filter_chain", drop("filters.0.typed_config.http_filters.0"))}},
	{"a chain for a source port", differs, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("filter_chain_match", `{"source_ports": [4444]}`))}},
	{"a canary that leads somewhere", unverified, []edit{copied(chain, listener+".filter_chains[]", drop("filters.0.typed_config.http_filters.0"), put("name", `"canary"`),
		put("filter_chain_match", `{"prefix_ranges": [{"address_prefix": "240.0.0.1", "prefix_len": 32}], "destination_port": 9}`))}},

	{"a cluster whose endpoint callers choose", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "ORIGINAL_DST", "original_dst_lb_config": {"use_http_header": true}}`)}},
	{"a proxy to anywhere", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "cluster_type": {"name": "dynamic"}}`)}},
	{"a cluster by DNS", unverified, []edit{put(route+".route.cluster", `"x"`), clusters(strings.Replace(static("x", "localhost", 6379), "STATIC", "STRICT_DNS", 1), static("self_inbound_dp_6379", "127.0.0.1", 6379))}},
	{"a cluster that is not in the dump", unverified, []edit{put(route+".route.cluster", `"x"`), clusters(static("self_inbound_dp_6379", "127.0.0.1", 6379))}},
	{"another workload's port on another address", unverified, []edit{put(route+".route.cluster", `"x"`), clusters(static("x", "10.0.0.8", 6379), static("self_inbound_dp_6379", "127.0.0.1", 6379))}},
	{"another workload's address, written as IPv6", unverified, []edit{put(route+".route.cluster", `"x"`), clusters(static("x", "::ffff:10.0.0.7", 6379), static("self_inbound_dp_6379", "127.0.0.1", 6379))}},
	{"two clusters of one name", unverified, []edit{clusters(static("self_inbound_dp_http-port", "10.0.0.7", 8080), static("self_inbound_dp_6379", "127.0.0.1", 6379), static("self_inbound_dp_http-port", "127.0.0.1", 6379))}},
	{"the validator's CAs stand in the listener", unverified, []edit{put(validation+".custom_validator_config", typed("v", "envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig", `"trust_domains": [{"name": "default.zone-1.mesh.local", "trust_bundle": {"inline_string": "EVIL"}}]`))}},
	{"the CAs of another mesh", unverified, []edit{put(secret+".name", `"mesh_ca:secret:evil"`)}},
	{"a filter that chooses the cluster by SNI", unverified, []edit{leading(put("address.socket_address", `{"address": "10.0.0.8", "port_value": 9999}`), drop("bind_to_port"),
		put("filter_chains.0.filters", `[`+typed("s", "envoy.extensions.filters.network.sni_cluster.v3.SniCluster", "")+`]`))}},
	{"a proxy of another protocol to an inbound's cluster", unverified, []edit{leading(put("address.socket_address", `{"address": "10.0.0.8", "port_value": 9999}`), drop("bind_to_port"),
		put("filter_chains.0.filters", `[`+typed("r", "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy", `"prefix_routes": {"catch_all_route": {"cluster": "self_inbound_dp_6379"}}`)+`]`))}},
	{"outbound with chains by discovery", unverified, []edit{leading(put("fcds_config", `{}`))}},
	{"a passing cluster with another port", unverified, []edit{passing, clusters(`{"name": "passthrough", "type": "ORIGINAL_DST", "original_dst_lb_config": {"upstream_port_override": 8080}}`)}},
	{"an active state in two spellings", unverified, []edit{copied(listener, states+".activeState", listenerOf)}},
	{"the workloads of a sidecar", verified, []edit{clusters(static("self_inbound_dp_http-port", "10.0.0.7", 8080), static("self_inbound_dp_6379", "127.0.0.1", 6379))}},
	{"another name of another workload", unverified, []edit{put(route+".route.cluster", `"x"`), clusters(static("x", "10.0.0.7", 6379), static("self_inbound_dp_6379", "127.0.0.1", 6379))}},
	{"an honest bootstrap", verified, []edit{add("configs", `{"@type": "T/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"node": {}, "admin": {}, "layered_runtime": {"layers": [{"static_layer": {"re2.max_program_size.error_level": 4294967295}}]}}}`)}},
	{"an old behaviour by runtime key", unverified, []edit{add("configs", `{"@type": "T/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"layered_runtime": {"layers": [{"static_layer": {"envoy": {"reloadable_features": {"http_reject_path_with_fragment": false}}}}]}}}`)}},
	{"an old behaviour since the start", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {"envoy.restart_features.anything": false}}]}`)}},
	{"an older client of DNS", verified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {"envoy.restart_features.use_apple_api_for_dns_lookups": false}}]}`)}},
	{"runtime keys of the admin", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {}}, {"name": "a", "admin_layer": {}}]}`)}},
	{"runtime keys of a later kind", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"name": "a", "git_layer": {}}]}`)}},
	{"runtime keys in a later way", unverified, []edit{bootstrap(`"layered_runtime": {"layers": [{"static_layer": {}}], "override": {}}`)}},
	{"a network namespace for all clusters", unverified, []edit{bootstrap(harmlessLayers + `, "cluster_manager": {"upstream_bind_config": {"source_address": {"address": "127.0.0.6", "network_namespace_filepath": "/x"}}}`)}},
	{"a cluster in the bootstrap alone", unverified, []edit{clusters(redis), bootstrap(harmlessLayers + `, "static_resources": {"clusters": [` + static("self_inbound_dp_http-port", "127.0.0.1", 6379) + `]}`)}},
	{"static resources of a later kind", unverified, []edit{bootstrap(harmlessLayers + `, "static_resources": {"filters": []}`)}},
	{"an extension of the bootstrap", unverified, []edit{bootstrap(harmlessLayers + `, "bootstrap_extensions": []`)}},
	{"another socket interface", unverified, []edit{bootstrap(harmlessLayers + `, "default_socket_interface": "x"`)}},
	{"other prefixes of headers", unverified, []edit{bootstrap(harmlessLayers + `, "header_prefix": "x"`)}},
	{"sinks, overload and an admin", verified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [], "overload_manager": {}, "admin": {"address": {}}`)}},
	{"no runtime layers", unverified, []edit{bootstrap(`"node": {}`)}},
	{"runtime keys by discovery", unverified, []edit{add("configs", `{"@type": "T/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"layered_runtime": {"layers": [{"rtds_layer": {}}]}}}`)}},
	{"another engine for regular expressions", unverified, []edit{add("configs", `{"@type": "T/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"default_regex_engine": {}}}`)}},

	{"a twin in the bootstrap alone", differs, []edit{copied(listener, "configs[]", open, func(part any) any {
		return map[string]any{"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": map[string]any{
			"static_resources": map[string]any{"listeners": []any{part}}, "layered_runtime": value(`{"layers": [{"static_layer": {}}]}`)}}
	})}},
	{"a destination from before a redirection", unverified, []edit{add(listener+".listener_filters", typed("o", "envoy.extensions.filters.listener.original_dst.v3.OriginalDst", ""))}},
	{"a transparent socket", unverified, []edit{put(listener+".transparent", `true`)}},
	{"outbound on another address of the machine", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`), drop("bind_to_port"))}},
	{"outbound on another address, to a known cluster", verified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`), drop("bind_to_port")), clusters(static("kri_msvc_default_zone-1_ns-1_redis_6379", "10.1.1.1", 6379), static("self_inbound_dp_http-port", "10.0.0.7", 8080), static("self_inbound_dp_6379", "127.0.0.1", 6379))}},
	{"an outbound listener with a field of a later API", unverified, []edit{put(outbound+".also_listen_on", `["10.0.0.7:9999"]`)}},
	{"an outbound listener with a filter of a later API", verified, []edit{put(outbound+".filter_chains.0.filters.0.typed_config.mood", `1`)}},

	{"outbound behind a redirection, to an unknown cluster", unverified, []edit{redirecting, leading(put("address.socket_address.address", `"10.0.0.8"`))}},
	{"outbound behind a redirection, to sidecars of the mesh", verified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", meshTLS("")), own, redis)}},
	{"outbound behind a redirection, to sidecars by a fingerprint", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", strings.Replace(meshTLS(""), "system_trust_bundle", "another", 1)), own, redis)}},
	{"outbound behind a redirection, to sidecars and to a mirror", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", meshTLS("")+`, "typed_extension_protocol_options": {"x": {"@type": "T/envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "request_mirror_policies": [{"cluster": "self_inbound_dp_http-port"}]}}`), own, redis)}},
	{"outbound behind a redirection, to sidecars of an unknown validator", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", meshTLS(`, "custom_validator_config": `+typed("x", "acme.V", ""))), own, redis)}},
	{"outbound behind a redirection, to sidecars with expired certificates", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", meshTLS(`, "allow_expired_certificate": true`)), own, redis)}},
	{"outbound behind a redirection, to sidecars of every trust domain", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", strings.Replace(meshTLS(""), "spiffe://default.zone-1.mesh.local/", "spiffe://", 1)), own, redis)}},
	{"outbound behind a redirection, to sidecars in a way of a later API", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", meshTLS("")+`, "later": 1`), own, redis)}},
	{"outbound behind a redirection, in plaintext for some", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", `"transport_socket_matches": [{`+meshTLS("")+`}]`), own, redis)}},
	{"outbound behind a redirection, to known endpoints", verified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", ""), own, redis), endpoints("kri_msvc_default_zone-1_ns-1_redis_6379", "10.1.1.1", 6379)}},
	{"outbound behind a redirection, to the workload's endpoint", unverified, []edit{leading(put("address.socket_address.address", `"10.0.0.8"`)), clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", ""), own, redis), endpoints("kri_msvc_default_zone-1_ns-1_redis_6379", "127.0.0.1", 6379)}},
	{"outbound to its own service", verified, []edit{clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", meshTLS("")), own, redis), endpoints("kri_msvc_default_zone-1_ns-1_redis_6379", "10.0.0.7", 6379)}},
	{"outbound to its own service in plaintext", unverified, []edit{clusters(byEDS("kri_msvc_default_zone-1_ns-1_redis_6379", ""), own, redis), endpoints("kri_msvc_default_zone-1_ns-1_redis_6379", "10.0.0.7", 6379)}},

	// Clusters.
	{"an inbound's endpoints by EDS", verified, []edit{clusters(byEDS("self_inbound_dp_http-port", ""), redis), endpoints("self_inbound_dp_http-port", "127.0.0.1", 8080)}},
	{"an inbound's endpoints by EDS, those of another", unverified, []edit{clusters(byEDS("self_inbound_dp_http-port", ""), redis), endpoints("self_inbound_dp_http-port", "127.0.0.1", 6379)}},
	{"an inbound's endpoints by EDS, in no dump", unverified, []edit{clusters(byEDS("self_inbound_dp_http-port", ""), redis)}},
	{"endpoints of another service", unverified, []edit{clusters(byEDS("self_inbound_dp_http-port", `"eds_cluster_config": {"service_name": "s"}`), redis), endpoints("self_inbound_dp_http-port", "127.0.0.1", 8080)}},
	{"a static cluster by extension", verified, []edit{clusters(retyped(own, `"cluster_type": {"name": "envoy.cluster.static"}`), redis)}},
	{"a static cluster by extension, of another inbound", unverified, []edit{clusters(retyped(static("self_inbound_dp_http-port", "127.0.0.1", 6379), `"cluster_type": {"name": "envoy.cluster.static"}`), redis)}},
	{"a static cluster by extension that does more", unverified, []edit{clusters(retyped(own, `"cluster_type": `+typed("envoy.cluster.static", "acme.Cluster", "")), redis)}},
	{"DNS by extension for this machine", verified, []edit{clusters(retyped(static("self_inbound_dp_http-port", "localhost", 8080), `"cluster_type": `+typed("envoy.clusters.dns", "envoy.extensions.clusters.dns.v3.DnsCluster", "")), redis)}},
	{"strict DNS by extension for addresses", verified, []edit{clusters(retyped(own, `"cluster_type": {"name": "envoy.cluster.strict_dns"}`), redis)}},
	{"logical DNS for this machine", verified, []edit{clusters(retyped(static("self_inbound_dp_http-port", "localhost", 8080), `"type": "LOGICAL_DNS"`), redis)}},
	{"DNS by extension for another inbound", unverified, []edit{clusters(retyped(static("self_inbound_dp_http-port", "localhost", 6379), `"cluster_type": `+typed("envoy.clusters.dns", "envoy.extensions.clusters.dns.v3.DnsCluster", "")), redis)}},
	{"DNS by extension for a name", unverified, []edit{clusters(retyped(static("self_inbound_dp_http-port", "redis", 8080), `"cluster_type": `+typed("envoy.clusters.dns", "envoy.extensions.clusters.dns.v3.DnsCluster", "")), redis)}},
	{"a name in a static cluster", unverified, []edit{clusters(static("self_inbound_dp_http-port", "localhost", 8080), redis)}},
	{"an aggregate", unverified, []edit{clusters(retyped(own, `"cluster_type": {"name": "envoy.clusters.aggregate"}`), redis)}},
	{"a mirror of a cluster", unverified, []edit{clusters(having(own, `"typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {"@type": "T/envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "request_mirror_policies": [{"cluster": "self_inbound_dp_6379"}]}}`), redis)}},
	{"a script of a cluster", unverified, []edit{clusters(having(own, `"typed_extension_protocol_options": {"x": {"@type": "T/envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "http_filters": [`+lua()+`]}}`), redis)}},
	{"filters of a cluster", unverified, []edit{clusters(having(own, `"filters": [`+typed("x", "acme.Filter", "")+`]`), redis)}},
	{"a pool of its own", unverified, []edit{clusters(having(own, `"upstream_config": `+typed("x", "envoy.extensions.upstreams.http.udp.v3.UdpConnectionPoolProto", "")), redis)}},
	{"a balancer of its own", unverified, []edit{clusters(having(own, `"load_balancing_policy": {"policies": [{"typed_extension_config": `+typed("x", "acme.Policy", "")+`}]}`), redis)}},
	{"a proxy between", unverified, []edit{clusters(having(own, `"transport_socket": `+typed("p", "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport", "")), redis)}},
	{"a proxy between, for some endpoints", unverified, []edit{clusters(having(own, `"transport_socket_matches": [{"name": "x", "match": {}, "transport_socket": `+typed("p", "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport", "")+`}]`), redis)}},
	{"endpoints in another network namespace", unverified, []edit{clusters(having(own, `"upstream_bind_config": {"source_address": {"address": "127.0.0.6", "network_namespace_filepath": "/proc/1/ns/net"}}`), redis)}},
	{"a source address, HTTP/2 and circuit breakers", verified, []edit{clusters(having(own, `"upstream_bind_config": {"source_address": {"address": "127.0.0.6"}}, "circuit_breakers": {}, "connect_timeout": "1s",
		"typed_extension_protocol_options": {"x": {"@type": "T/envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "explicit_http_config": {"http2_protocol_options": {}}}}`), redis)}},
	{"a cluster of a later API", unverified, []edit{clusters(having(own, `"redirect": "x"`), redis)}},
	{"a cluster that warms to lead elsewhere", unverified, []edit{clusters(own, redis), add("configs", `{"@type": "T/envoy.admin.v3.ClustersConfigDump", "dynamic_warming_clusters": [{"cluster": `+static("self_inbound_dp_http-port", "127.0.0.1", 6379)+`}]}`)}},
	{"clusters of a later kind", unverified, []edit{add("configs", `{"@type": "T/envoy.admin.v3.ClustersConfigDump", "paused_clusters": []}`)}},
	{"one of two endpoints is another inbound's", unverified, []edit{clusters(own, redis, static("x", "10.0.0.7", 6379)), put(route+".route", `{"weighted_clusters": {"clusters": [{"name": "self_inbound_dp_http-port", "weight": 9}, {"name": "x", "weight": 1}]}}`)}},
	{"a service for a name on this machine", unverified, []edit{clusters(retyped(static("kri_msvc_default_zone-1_ns-1_redis_6379", "localhost", 6379), `"type": "STRICT_DNS"`), own, redis)}},

	// What stands between RBAC and the workload.
	{"RBAC by structure, of a later API", unverified, []edit{put(rbac, structured("envoy.extensions.filters.http.rbac.v3.RBAC", `{"rules": {}, "x": 1}`))}},
	{"an override by structure", differs, []edit{put(host+".typed_per_filter_config", `{"envoy.filters.http.rbac": `+structured("envoy.config.route.v3.FilterConfig", `{"disabled": true}`)+`}`)}},
	{"a script behind by structure calls", unverified, []edit{behind(`{"name": "lua", "typed_config": ` + structured("envoy.extensions.filters.http.lua.v3.Lua", `{"default_source_code": {"inline_string": "x:httpCall()"}}`) + `}`)}},
	{"a script behind by discovery calls", unverified, []edit{behind(`{"name": "lua", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["x"]}}`), add("configs", `{"@type": "T/envoy.admin.v3.EcdsConfigDump", "ecds_filters": [{"ecds_filter": {"@type": "T/envoy.config.core.v3.TypedExtensionConfig", "name": "lua", "typed_config": {"@type": "T/envoy.extensions.filters.http.lua.v3.Lua", "default_source_code": {"inline_string": "x:httpCall()"}}}}]}`)}},
	{"an inbound that leads where the connection was going", verified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`, redis)}},
	{"a second priority leads to another inbound", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}}]}, {"priority": 1, "lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 6379}}}}]}]}}`, redis)}},
	{"outbound to an address of its own", unverified, []edit{leading(elsewhere, drop("bind_to_port"), put("filter_chains.0.filters.0.typed_config.cluster", `"x"`)), clusters(own, redis, static("x", "10.0.0.8", 6379))}},
	{"outbound to an inbound's port, with inbounds on every address", unverified, []edit{put(listener+".address.socket_address.address", `"0.0.0.0"`), put("configs.0.dynamic_listeners.1.active_state.listener.address.socket_address.address", `"0.0.0.0"`), alone(elsewhere, drop("bind_to_port"), put("filter_chains.0.filters.0.typed_config.cluster", `"x"`)), clusters(own, redis, static("x", "10.0.0.7", 6379))}},
	{"outbound to another port, with inbounds on every address", verified, []edit{put(listener+".address.socket_address.address", `"0.0.0.0"`), put("configs.0.dynamic_listeners.1.active_state.listener.address.socket_address.address", `"0.0.0.0"`), alone(elsewhere, drop("bind_to_port"), put("filter_chains.0.filters.0.typed_config.cluster", `"x"`)), clusters(own, redis, static("x", "10.0.0.7", 6380))}},
	{"an inbound on another address", unverified, []edit{put(listener+".address.socket_address.address", `"10.0.0.99"`)}},
	{"a mirror of a host to another inbound", unverified, []edit{put(host+".request_mirror_policies", `[{"cluster": "self_inbound_dp_6379"}]`)}},
	{"a mirror of all routes to another inbound", unverified, []edit{put(routes+".request_mirror_policies", `[{"cluster": "self_inbound_dp_6379"}]`)}},
	{"a mirror of the caller's choice", unverified, []edit{put(routes+".request_mirror_policies", `[{"cluster_header": "x"}]`)}},
	{"a mirror to a name", unverified, []edit{clusters(own, redis, retyped(static("m", "evil.example", 6379), `"type": "STRICT_DNS"`)), put(routes+".request_mirror_policies", `[{"cluster": "m"}]`)}},
	{"a weighted cluster by header", unverified, []edit{put(route+".route", `{"weighted_clusters": {"clusters": [{"name": "self_inbound_dp_http-port", "weight": 1}], "header_name": "x"}}`)}},
	{"retries past endpoints that failed", verified, []edit{put(route+".route.retry_policy", `{"retry_on": "5xx", "retry_host_predicate": [`+typed("x", "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate", "")+`]}`)}},
	{"a matcher of a route runs code", unverified, []edit{put(route+".match.headers", `[{"name": "x", "string_match": {"custom": `+typed("x", "envoy.extensions.string_matcher.lua.v3.Lua", "")+`}}]`)}},
	{"a matcher of a log runs code", unverified, []edit{put(manager+".access_log", `[`+strings.Replace(toFile, "{", `{"filter": {"extension_filter": `+typed("x", "acme.Filter", "")+`}, `, 1)+`]`)}},
	{"a rewrite of paths by code", unverified, []edit{put(route+".route.path_rewrite_policy", typed("x", "acme.Rewrite", ""))}},
	{"metadata of an unknown kind", verified, []edit{put(route+".metadata", `{"typed_filter_metadata": {"x": {"@type": "T/acme.M"}}}`)}},
	{"routes by discovery run code", unverified, []edit{byRDS(put("virtual_hosts.0.routes.0.match.headers", `[{"name": "x", "string_match": {"custom": `+typed("x", "acme.Matcher", "")+`}}]`))}},
	{"retries by an extension", unverified, []edit{put(route+".route.retry_policy", `{"retry_on": "5xx", "retry_host_predicate": [`+typed("x", "acme.P", "")+`]}`)}},
	{"answers of another status", verified, []edit{put(manager+".local_reply_config", `{"mappers": [{"filter": {"status_code_filter": {"comparison": {"op": "EQ", "value": {"default_value": 403}}}}, "status_code": 200}]}`)}},
	{"CONNECT-UDP", unverified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "CONNECT-UDP"}]`)}},
	{"a chain for another port", unverified, []edit{copied(chain, listener+".filter_chains[]", put("filter_chain_match", `{"destination_port": 9999}`))}},
	{"an inbound that leads to an outbound listener", unverified, []edit{leading(put("address.socket_address", `{"address": "127.0.0.1", "port_value": 10001}`), drop("bind_to_port"), put("filter_chains.0.filters.0.typed_config.cluster", `"x"`)), clusters(static("self_inbound_dp_http-port", "127.0.0.1", 10001), redis, retyped(static("x", "evil", 6379), `"type": "STRICT_DNS"`))}},
	{"an audit by an unknown logger", unverified, []edit{put(rbac, `{"@type": "T/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": {"action": "DENY", "audit_logging_options": {"audit_condition": "ON_DENY", "logger_configs": [{"audit_logger": `+typed("x", "acme.Logger", "")+`}]}}}`)}},
	{"a rate limit by another service in front", unverified, []edit{push(tcpChain+".filters", typed("x", "envoy.extensions.filters.network.ratelimit.v3.RateLimit", ""))}},
	{"health checks", verified, []edit{clusters(having(own, `"health_checks": [{"http_health_check": {"path": "/"}}]`), redis)}},
	{"an endpoint of two addresses", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}, "additional_addresses": [{"address": {"socket_address": {"address": "127.0.0.1", "port_value": 6379}}}]}}]}]}}`, redis)}},
	{"an endpoint inside of Envoy", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"envoy_internal_address": {"server_listener_name": "x"}}}}]}]}}`, redis)}},
	{"an endpoint by name", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "type": "STATIC", "load_assignment": {"endpoints": [{"lb_endpoints": [{"endpoint_name": "a"}]}], "named_endpoints": {"a": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 6379}}}}}}`, redis)}},
	{"metadata for other filters behind", unverified, []edit{behind(typed("m", "envoy.extensions.filters.http.set_metadata.v3.Config", ""))}},
	{"sessions behind", unverified, []edit{behind(typed("m", "envoy.extensions.filters.http.stateful_session.v3.StatefulSession", ""))}},
	{"tokens behind", unverified, []edit{behind(typed("m", "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication", ""))}},
	{"an endpoint of the caller's choice, by extension", unverified, []edit{clusters(`{"name": "self_inbound_dp_http-port", "cluster_type": {"name": "envoy.cluster.original_dst"}, "original_dst_lb_config": {"use_http_header": true}}`, redis)}},
	{"an inspector of TLS of a later API", unverified, []edit{add(listener+".listener_filters", typed("t", "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", `"x": 1`))}},

	// TLS.
	{"plaintext", unverified, []edit{drop(chain + ".transport_socket")}},
	{"a chain for plaintext", unverified, []edit{copied(chain, listener+".filter_chains[]", drop("transport_socket"), put("filter_chain_match", `{"transport_protocol": "raw_buffer"}`))}},
	{"a buffer", unverified, []edit{put(chain+".transport_socket", typed("raw", "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer", ""))}},
	{"STARTTLS", unverified, []edit{put(chain+".transport_socket", typed("s", "envoy.extensions.transport_sockets.starttls.v3.StartTlsConfig", ""))}},
	{"a tap", unverified, []edit{put(chain+".transport_socket", typed("tap", "envoy.extensions.transport_sockets.tap.v3.Tap", ""))}},
	{"certificates are optional", unverified, []edit{put(tls+".require_client_certificate", `false`)}},
	{"certificates are not asked for", unverified, []edit{drop(tls + ".require_client_certificate")}},
	{"nothing to verify by", unverified, []edit{drop(combined)}},
	{"an empty validation", unverified, []edit{drop(combined), put(common+".validation_context", `{}`)}},
	{"untrusted", unverified, []edit{put(validation+".trust_chain_verification", `"ACCEPT_UNTRUSTED"`)}},
	{"expired", unverified, []edit{put(validation+".allow_expired_certificate", `true`)}},
	{"no SANs", unverified, []edit{drop(sans)}},
	{"SANs are DNS", unverified, []edit{put(sans+".0.san_type", `"DNS"`)}},
	{"another name", unverified, []edit{put(sans+".0.san_type", `"OTHER_NAME"`), put(sans+".0.oid", `"1.2.3"`)}},
	{"SANs of no type", unverified, []edit{drop(sans + ".0.san_type")}},
	{"half a trust domain", unverified, []edit{put(sans+".0.matcher.prefix", `"spiffe://default.zone-1.mesh.local"`)}},
	{"every trust domain", unverified, []edit{put(sans+".0.matcher.prefix", `"spiffe://"`)}},
	{"every URI", unverified, []edit{put(sans+".0.matcher", `{"safe_regex": {"regex": ".*"}}`)}},
	{"the end of a URI", unverified, []edit{put(sans+".0.matcher", `{"suffix": "/sa/web"}`)}},
	{"a part of a URI", unverified, []edit{put(sans+".0.matcher", `{"contains": "spiffe://td/"}`)}},
	{"any case of a URI", unverified, []edit{put(sans+".0.matcher.ignore_case", `true`)}},
	{"one SAN more", unverified, []edit{add(sans, `{"san_type": "DNS", "matcher": {"suffix": "evil"}}`)}},
	{"one trust domain more", verified, []edit{add(sans, `{"san_type": "URI", "matcher": {"prefix": "spiffe://other.mesh/"}}`)}},
	{"SANs in the old way", unverified, []edit{drop(sans), put(validation+".match_subject_alt_names", `[{"prefix": "spiffe://default.zone-1.mesh.local/"}]`)}},
	{"a CA of its own", unverified, []edit{drop(secret), put(validation+".trusted_ca", `{"filename": "/tmp/ca.pem"}`)}},
	{"one CA more", unverified, []edit{put(validation+".trusted_ca", `{"inline_string": "x"}`)}},
	{"CAs of the system", unverified, []edit{put(validation+".system_root_certs", `{}`)}},
	{"CAs of a provider", unverified, []edit{put(combined+".validation_context_certificate_provider_instance", `{"instance_name": "x"}`)}},
	{"CAs of a provider, in the context", unverified, []edit{put(validation+".ca_certificate_provider_instance", `{"instance_name": "x"}`)}},
	{"CAs of another name", unverified, []edit{put(secret+".name", `"another"`)}},
	{"CAs of a file", unverified, []edit{put(secret+".sds_config", `{"path_config_source": {"path": "/tmp/sds.yaml"}}`)}},
	{"CAs of another server", unverified, []edit{put(secret+".sds_config", `{"api_config_source": {"api_type": "GRPC"}}`)}},
	{"CAs of the bootstrap", unverified, []edit{drop(secret + ".sds_config")}},
	{"a fingerprint alone", unverified, []edit{drop(secret), put(validation+".verify_certificate_hash", `["00"]`)}},
	{"an unknown validator", unverified, []edit{put(validation+".custom_validator_config", typed("x", "acme.Validator", ""))}},
	{"a validator that is none", unverified, []edit{put(validation+".custom_validator_config", typed("x", "envoy.extensions.filters.network.rbac.v3.RBAC", ""))}},
	{"an unknown handshaker", unverified, []edit{put(common+".custom_handshaker", typed("x", "acme.Handshaker", ""))}},
	{"a selector of certificates", unverified, []edit{put(common+".custom_tls_certificate_selector", typed("x", "acme.Selector", ""))}},
	{"a log of keys", unverified, []edit{put(common+".key_log", `{"path": "/tmp/keys"}`)}},
	{"keys of tickets", unverified, []edit{put(tls+".session_ticket_keys", `{"keys": [{"inline_string": "x"}]}`)}},
	{"revocation", verified, []edit{put(validation+".crl", `{"inline_string": "x"}`)}},
	{"short chains and no resumption", verified, []edit{put(validation+".max_verify_depth", `1`), put(tls+".disable_stateless_session_resumption", `true`)}},
	{"another way to verify later", unverified, []edit{put(validation+".verify_loosely", `true`)}},
	{"the bundle trusts everybody", unverified, []edit{bundle(`{"trusted_ca": {"inline_string": "x"}, "trust_chain_verification": "ACCEPT_UNTRUSTED"}`)}},
	{"the bundle is empty", unverified, []edit{bundle(`{}`)}},
	{"the bundle has an unknown validator", unverified, []edit{bundle(`{"custom_validator_config": ` + typed("x", "acme.Validator", "") + `}`)}},
	{"the bundle has SANs of its own", unverified, []edit{bundle(`{"trusted_ca": {"inline_string": "x"}, "match_typed_subject_alt_names": [{"san_type": "DNS", "matcher": {"exact": "evil"}}]}`)}},
	{"the bundle has no trust domain", unverified, []edit{drop(sans), bundle(spiffe(""))}},
	{"the bundle has a trust domain without CAs", unverified, []edit{drop(sans), bundle(spiffe(`{"name": "td"}`))}},
	{"the bundle has a trust domain", verified, []edit{drop(sans), bundle(spiffe(`{"name": "td", "trust_bundle": {"inline_string": "x"}}`))}},
	{"one bundle for two trust domains", unverified, []edit{add(sans, `{"san_type": "URI", "matcher": {"prefix": "spiffe://other.mesh/"}}`), bundle(`{"trusted_ca": {"inline_string": "x"}}`)}},
	{"two bundles of one name", unverified, []edit{bundle(spiffe(`{"name": "td", "trust_bundle": {"inline_string": "x"}}`)), bundle(spiffe(`{"name": "td", "trust_bundle": {"inline_string": "y"}}`))}},

	// The connection manager.
	{"early mutation of headers", unverified, []edit{put(manager+".early_header_mutation_extensions", `[{}]`)}},
	{"detection of addresses", unverified, []edit{put(manager+".original_ip_detection_extensions", `[{}]`)}},
	{"other normalization", unverified, []edit{put(manager+".path_normalization_options", `{}`)}},
	{"another validation of headers", unverified, []edit{put(manager+".typed_header_validation_config", `{}`)}},
	{"request IDs of an extension", unverified, []edit{put(manager+".request_id_extension", `{}`)}},
	{"whole URLs for paths", unverified, []edit{put(manager+".http_protocol_options.allow_absolute_url", `false`)}},
	{"absolute URLs", verified, []edit{put(manager+".http_protocol_options.allow_absolute_url", `true`)}},
	{"chunks beside a length", unverified, []edit{put(manager+".http_protocol_options.allow_chunked_length", `true`)}},
	{"extended CONNECT", unverified, []edit{put(manager+".http2_protocol_options.allow_connect", `true`)}},
	{"METADATA frames", unverified, []edit{put(manager+".http2_protocol_options.allow_metadata", `true`)}},
	{"HTTP/3", unverified, []edit{put(manager+".codec_type", `"HTTP3"`)}},
	{"an upgrade to WebSocket", verified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "websocket"}]`)}},
	{"an upgrade to HTTP/2", unverified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "h2c"}]`)}},
	{"CONNECT", unverified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "CONNECT"}]`)}},
	{"an upgrade past the filters", unverified, []edit{put(manager+".upgrade_configs", `[{"upgrade_type": "websocket", "filters": [`+typed("r", "envoy.extensions.filters.http.router.v3.Router", "")+`]}]`)}},
	{"local replies, addresses and underscores", verified, []edit{put(manager+".local_reply_config", `{}`), put(manager+".xff_num_trusted_hops", `1`), put(manager+".common_http_protocol_options.headers_with_underscores_action", `"DROP_HEADER"`)}},
	{"an access log in a file", verified, []edit{put(manager+".access_log", `[`+toFile+`]`)}},
	{"an access log of an unknown kind", unverified, []edit{put(manager+".access_log", `[`+typed("x", "acme.Log", "")+`]`)}},
	{"an access log of code", unverified, []edit{put(manager+".access_log", `[`+typed("x", "envoy.extensions.access_loggers.wasm.v3.WasmAccessLog", "")+`]`)}},
	{"an access log of a proxy, of code", unverified, []edit{put(tcpProxy+".access_log", `[`+typed("x", "envoy.extensions.access_loggers.wasm.v3.WasmAccessLog", "")+`]`)}},
	{"an access log of the router, of code", unverified, []edit{put(filters+".1.typed_config.upstream_log", `[`+typed("x", "envoy.extensions.access_loggers.wasm.v3.WasmAccessLog", "")+`]`)}},
	{"an access log by gRPC", verified, []edit{clusters(own, redis, static("log", "10.1.1.1", 8080)), put(manager+".access_log", `[`+toGRPC("log")+`]`)}},
	{"an access log by gRPC to another inbound's cluster", unverified, []edit{put(manager+".access_log", `[`+toGRPC("self_inbound_dp_6379")+`]`)}},
	{"an access log by gRPC to another inbound's workload", unverified, []edit{clusters(own, redis, static("log", "127.0.0.1", 6379)), put(manager+".access_log", `[`+toGRPC("log")+`]`)}},
	{"traces of another inbound's workload", unverified, []edit{put(manager+".tracing.provider", typed("z", "envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "self_inbound_dp_6379"`))}},
	{"traces by an unknown library", unverified, []edit{put(manager+".tracing.provider", typed("z", "envoy.config.trace.v3.DynamicOtConfig", `"library": "/x.so"`))}},
	{"traces", verified, []edit{put(manager+".tracing.provider", typed("z", "envoy.config.trace.v3.ZipkinConfig", `"collector_cluster": "zipkin"`))}},
	{"an access log by a gRPC of its own", unverified, []edit{put(manager+".access_log", `[`+typed("x", "envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig", `"common_config": {"grpc_service": {"google_grpc": {"target_uri": "127.0.0.1:6379"}}}`)+`]`)}},
	{"normalization", verified, []edit{put(manager+".normalize_path", `true`), put(manager+".path_with_escaped_slashes_action", `"UNESCAPE_AND_REDIRECT"`)}},
	{"a setting of a later API", unverified, []edit{put(manager+".judge_later", `true`)}},

	// Filters.
	{"no RBAC", differs, []edit{drop(filters + ".0")}},
	{"RBAC that is disabled", differs, []edit{put(filters+".0.disabled", `true`)}},
	{"RBAC that is optional", verified, []edit{put(filters+".0.is_optional", `true`)}},
	{"RBAC by discovery", unverified, []edit{drop(rbac), put(filters+".0.config_discovery", `{"config_source": {"ads": {}}}`)}},
	{"RBAC of a later version", unverified, []edit{put(rbac, `{"@type": "T/envoy.extensions.filters.http.rbac.v9.RBAC"}`), put(filters+".0.is_optional", `true`)}},
	{"RBAC that only observes", differs, []edit{drop(rbac + ".matcher")}},
	{"RBAC that feeds ext_authz", unverified, []edit{drop(rbac + ".matcher"), behind(typed("authz", "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", ""))}},
	{"RBAC that feeds a script", unverified, []edit{drop(rbac + ".matcher"), behind(lua())}},
	{"RBAC that only logs", differs, []edit{drop(rbac + ".matcher"), put(rbac+".rules", `{"action": "LOG"}`)}},
	{"RBAC that logs in front, by a header", verified, []edit{push(filters, typed("log", "envoy.extensions.filters.http.rbac.v3.RBAC", `"rules": {"action": "LOG", "policies": {"p": {"permissions": [{"header": {"name": "x", "present_match": true}}], "principals": [{"any": true}]}}}`))}},
	{"RBAC that logs in front, by an unknown matcher", verified, []edit{push(filters, typed("log", "envoy.extensions.filters.http.rbac.v3.RBAC", `"rules": {"action": "LOG", "policies": {"p": {"permissions": [{"matcher": `+typed("x", "acme.Matcher", "")+`}], "principals": [{"any": true}]}}}`))}},
	{"ext_authz behind", unverified, []edit{behind(typed("authz", "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", ""))}},
	{"a script behind", verified, []edit{behind(lua())}},
	{"a script behind that answers", verified, []edit{behind(script("-- httpCall\nfunction envoy_on_request(h) local x = h:headers():get('x') .. [[io]]; if #x > 3 then h:respond({[':status'] = '403'}, x) end end"))}},
	{"a script behind that calls", unverified, []edit{behind(script("function envoy_on_request(h) h:httpCall('self_inbound_dp_6379', {}, '', 1) end"))}},
	{"a script behind that computes the name of its target", unverified, []edit{behind(script("function envoy_on_request(h) h['http' .. 'Call'](h, 'self_inbound_dp_6379', {}, '', 1) end"))}},
	{"a script behind that loads another", unverified, []edit{behind(script("function envoy_on_request(h) loadstring(h:headers():get('x'))() end"))}},
	{"a script behind with the libraries of the machine", unverified, []edit{behind(script("local os = os; function envoy_on_request(h) os.execute('curl 127.0.0.1:6379') end"))}},
	{"a script behind that chooses an endpoint", unverified, []edit{behind(script("function envoy_on_request(h) h:setUpstreamOverrideHost('127.0.0.1:6379', true) end"))}},
	{"a script behind, in a file", unverified, []edit{behind(typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", `"default_source_code": {"filename": "/x.lua"}`))}},
	{"a script behind, as bytecode", unverified, []edit{behind(typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", `"default_source_code": {"inline_bytes": "G0xK"}`))}},
	{"a script behind, in the old way", unverified, []edit{behind(typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", `"inline_code": "-- nothing"`))}},
	{"one of two scripts behind calls", unverified, []edit{behind(typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", `"source_codes": {"a": {"inline_string": ""}, "b": {"inline_string": "x.httpCall()"}}`))}},
	{"a script behind shares its machine", unverified, []edit{behind(typed("lua", "envoy.extensions.filters.http.lua.v3.Lua", `"shared_vm_id": "x"`))}},
	{"a script of a route calls", unverified, []edit{behind(lua()), put(route+".typed_per_filter_config", `{"lua": {"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "source_code": {"inline_string": "x:httpCall()"}}}`)}},
	{"a script of a route, wrapped, calls", unverified, []edit{behind(lua()), put(host+".typed_per_filter_config", `{"lua": {"@type": "T/envoy.config.route.v3.FilterConfig", "config": {"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "source_code": {"filename": "/x"}}}}`)}},
	{"a script of a route", verified, []edit{behind(lua()), put(route+".typed_per_filter_config", `{"lua": {"@type": "T/envoy.extensions.filters.http.lua.v3.LuaPerRoute", "disabled": true}}`)}},
	{"another service behind", unverified, []edit{behind(typed("p", "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", ""))}},
	{"code behind", unverified, []edit{behind(typed("w", "envoy.extensions.filters.http.wasm.v3.Wasm", ""))}},
	{"a rate limit behind", verified, []edit{behind(typed("l", "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit", ""))}},
	{"faults behind", verified, []edit{behind(typed("f", "envoy.extensions.filters.http.fault.v3.HTTPFault", ""))}},
	{"an unknown filter behind", unverified, []edit{behind(typed("x", "acme.Filter", ""))}},
	{"filters of the router", unverified, []edit{put(filters+".1.typed_config.upstream_http_filters", `[`+lua()+`]`)}},
	{"a router that measures", verified, []edit{put(filters+".1.typed_config.start_child_span", `true`)}},
	{"a proxy that asks for its cluster", unverified, []edit{put(tcpProxy+".on_demand", `{"odcds_config": {"ads": {}}}`)}},
	{"a proxy through a tunnel", unverified, []edit{put(tcpProxy+".tunneling_config", `{"hostname": "x"}`)}},
	{"a proxy with early data", unverified, []edit{put(tcpProxy+".max_early_data_bytes", `9`)}},
	{"a proxy of a later API", unverified, []edit{put(tcpProxy+".also", `"x"`)}},
	{"a proxy with bounds of time", verified, []edit{put(tcpProxy+".idle_timeout", `"1s"`)}},
	{"a script behind the RBAC of routes", unverified, []edit{behind(lua()), push(host+".routes", `{"name": "admin", "match": {"path_separated_prefix": "/admin"}, "typed_per_filter_config": {"envoy.filters.http.rbac": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBACPerRoute", "rbac": {"rules": {}}}}}`)}},
	{"a script in front", unverified, []edit{push(filters, lua())}},
	{"a mutation of headers in front", unverified, []edit{push(filters, typed("m", "envoy.extensions.filters.http.header_mutation.v3.HeaderMutation", ""))}},
	{"another service in front", unverified, []edit{push(filters, typed("p", "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", ""))}},
	{"code in front", unverified, []edit{push(filters, typed("w", "envoy.extensions.filters.http.wasm.v3.Wasm", ""))}},
	{"CORS in front", unverified, []edit{push(filters, typed("c", "envoy.extensions.filters.http.cors.v3.Cors", ""))}},
	{"an optional unknown filter in front", unverified, []edit{push(filters, `{"is_optional": true, `+typed("x", "acme.Filter", "")[1:])}},
	{"statistics in front", verified, []edit{push(filters, typed("s", "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", ""))}},
	{"a composite", unverified, []edit{behind(typed("c", "envoy.extensions.filters.http.composite.v3.Composite", ""))}},
	{"a chain of filters", unverified, []edit{push(filters, typed("c", "envoy.extensions.filters.http.filter_chain.v3.FilterChainConfig", ""))}},
	{"a network filter in front", unverified, []edit{push(chain+".filters", typed("x", "acme.Filter", ""))}},
	{"RBAC behind the router", unverified, []edit{push(filters, typed("r", "envoy.extensions.filters.http.router.v3.Router", ""))}},
	{"RBAC behind the proxy", unverified, []edit{push(tcpChain+".filters", typed("p", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", ""))}},
	{"a cluster by the state of a filter behind", unverified, []edit{at1(tcpChain+".filters", typed("s", "envoy.extensions.filters.network.set_filter_state.v3.Config", ""))}},
	{"a host of the caller's choice behind", unverified, []edit{behind(typed("d", "envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig", ""))}},
	{"an unknown network filter behind", unverified, []edit{at1(tcpChain+".filters", typed("x", "acme.Filter", ""))}},
	{"a filter of a later API", unverified, []edit{put(filters+".0.skip_if", `{}`)}},

	// Routes.
	{"a matcher of routes", unverified, []edit{put(host+".matcher", `{}`)}},
	{"a header names the virtual host", unverified, []edit{put(routes+".vhost_header", `"x-host"`)}},
	{"parameters of paths are ignored", unverified, []edit{put(routes+".ignore_path_parameters_in_path_matching", `true`)}},
	{"plugins that choose clusters", unverified, []edit{put(routes+".cluster_specifier_plugins", `[{}]`)}},
	{"virtual hosts by discovery", unverified, []edit{put(routes+".vhds", `{}`)}},
	{"routes by discovery, not there", unverified, []edit{drop(routes), put(manager+".rds", `{"route_config_name": "r"}`)}},
	{"routes by discovery", verified, []edit{byRDS()}},
	{"routes by discovery, with an override", differs, []edit{byRDS(put("virtual_hosts.0.typed_per_filter_config", off))}},
	{"routes by discovery, with a matcher", unverified, []edit{byRDS(put("virtual_hosts.0.matcher", `{}`))}},
	{"two routes by discovery of one name", unverified, []edit{byRDS(put("virtual_hosts.0.typed_per_filter_config", off)), copied("configs.1", "configs[]", drop("dynamic_route_configs.0.route_config.virtual_hosts.0.typed_per_filter_config"))}},
	{"scopes that are not there", unverified, []edit{drop(routes), put(manager+".scoped_routes", `{"name": "s", "scoped_rds": {}}`)}},
	{"an override by path", differs, []edit{override(`"path_separated_prefix": "/admin"`)}},
	{"an override by path in any case", differs, []edit{override(`"prefix": "/admin", "case_sensitive": false`)}},
	{"an override by a regular expression", differs, []edit{override(`"safe_regex": {"regex": "/.*/admin"}`)}},
	{"an override by a template", unverified, []edit{override(`"path_match_policy": ` + typed("t", "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", `"path_template": "/a/*"`))}},
	{"an override by header", unverified, []edit{override(`"prefix": "/", "headers": [{"name": "x-debug", "present_match": true}]`)}},
	{"an override by the header of a later API", unverified, []edit{override(`"prefix": "/", "headers": [{"name": ":method", "string_match": {"exact": "GET"}, "treat_missing_header_as_empty": true}]`)}},
	{"an override by query", unverified, []edit{override(`"prefix": "/", "query_parameters": [{"name": "debug", "present_match": true}]`)}},
	{"an override by cookie", unverified, []edit{override(`"prefix": "/", "cookies": [{"name": "debug", "string_match": {"exact": "1"}}]`)}},
	{"an override by chance", unverified, []edit{override(`"prefix": "/", "runtime_fraction": {"default_value": {"numerator": 1}}`)}},
	{"an override for gRPC", unverified, []edit{override(`"prefix": "/", "grpc": {}`)}},
	{"an override for certificates", unverified, []edit{override(`"prefix": "/", "tls_context": {"presented": true}`)}},
	{"an override by metadata", unverified, []edit{override(`"prefix": "/", "dynamic_metadata": [{"filter": "x"}]`)}},
	{"an override by filter state", unverified, []edit{override(`"prefix": "/", "filter_state": [{"key": "x"}]`)}},
	{"an override of the host", differs, []edit{put(host+".typed_per_filter_config", off)}},
	{"an override of all routes", differs, []edit{put(routes+".typed_per_filter_config", off)}},
	{"an override of an authority", unverified, []edit{copied(host, routes+".virtual_hosts[]", put("name", `"e"`), put("domains", `["evil.example"]`), put("typed_per_filter_config", off))}},
	{"an override of a cluster", unverified, []edit{put(route+".route", `{"weighted_clusters": {"clusters": [{"name": "c", "weight": 1, "typed_per_filter_config": `+off+`}]}}`)}},
	{"an override of another kind", unverified, []edit{put(route+".typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/acme.PerRoute"}}`)}},
	{"an override of a filter that is not there", verified, []edit{put(route+".typed_per_filter_config", strings.Replace(off, "envoy.filters.http.rbac", "another", 1))}},
	{"a cluster of the caller's choice", unverified, []edit{put(route+".route", `{"cluster_header": "x-to"}`)}},
	{"a weighted cluster of the caller's choice", unverified, []edit{put(route+".route", `{"weighted_clusters": {"clusters": [{"cluster_header": "x-to", "weight": 1}]}}`)}},
	{"a cluster of an extension's choice", unverified, []edit{put(route+".route", `{"inline_cluster_specifier_plugin": {}}`)}},
	{"the cluster of another inbound", unverified, []edit{put(route+".route.cluster", `"self_inbound_dp_6379"`)}},
	{"a route that upgrades", unverified, []edit{put(route+".route.upgrade_configs", `[{"upgrade_type": "CONNECT", "connect_config": {}}]`)}},
	{"a route for filters", unverified, []edit{drop(route + ".route"), put(route+".filter_action", `{}`)}},
	{"early data", unverified, []edit{put(route+".route.early_data_policy", typed("x", "acme.Early", ""))}},
	{"a route of a later API", unverified, []edit{put(route+".match.mood", `"good"`)}},
	{"redirects inside, mirrors and rewrites", verified, []edit{put(route+".route.internal_redirect_policy", `{}`), put(route+".route.request_mirror_policies", `[{"cluster": "m"}]`), put(route+".route.prefix_rewrite", `"/x"`)}},
	{"an answer of its own", verified, []edit{push(host+".routes", `{"match": {"prefix": "/health"}, "direct_response": {"status": 200}}`)}},
	{"a mirror to another inbound", unverified, []edit{put(route+".route.request_mirror_policies", `[{"cluster": "self_inbound_dp_6379"}]`)}},
	{"headers on the way on", verified, []edit{put(route+".request_headers_to_add", `[{"header": {"key": "x", "value": "y"}}]`)}},

	// RBAC by matchers.
	{"by header", unverified, []edit{allowing(header, `"header_name": "x-debug"`, inList(`"exact": "1"`))}},
	{"by authority", unverified, []edit{allowing(header, `"header_name": ":authority"`, inList(`"exact": "evil"`))}},
	{"by a path of other letters", unverified, []edit{allowing(header, `"header_name": ":path"`, inList(`"safe_regex": {"regex": "/[é]"}`))}},
	{"by method", differs, []edit{allowing(header, `"header_name": ":method"`, inList(`"exact": "PROPFIND"`))}},
	{"by query", unverified, []edit{allowing(header, `"header_name": ":path"`, inList(`"exact": "/a?debug"`))}},
	{"by the end of a path", unverified, []edit{allowing(header, `"header_name": ":path"`, inList(`"suffix": ".css"`))}},
	{"by the beginning of a segment", differs, []edit{allowing(header, `"header_name": ":path"`, inList(`"prefix": "/ad"`))}},
	{"by source address", unverified, []edit{allowing(network+"SourceIPInput", "", inList(`"exact": "10.9.9.9"`))}},
	{"by connection address", unverified, []edit{allowing(network+"DirectSourceIPInput", "", inList(`"prefix": "10."`))}},
	{"by source port", unverified, []edit{allowing(network+"SourcePortInput", "", inList(`"exact": "4444"`))}},
	{"by source type", unverified, []edit{allowing(network+"SourceTypeInput", "", inList(`"exact": "local"`))}},
	{"by destination address", unverified, []edit{allowing(network+"DestinationIPInput", "", inList(`"exact": "10.0.0.8"`))}},
	{"by server name", unverified, []edit{allowing(network+"ServerNameInput", "", inList(`"exact": "evil"`))}},
	{"by protocol of the transport", unverified, []edit{allowing(network+"TransportProtocolInput", "", inList(`"exact": "tls"`))}},
	{"by protocol of the application", unverified, []edit{allowing(network+"ApplicationProtocolInput", "", inList(`"exact": "'evil'"`))}},
	{"by filter state", unverified, []edit{allowing(network+"FilterStateInput", `"key": "x"`, inList(`"exact": "1"`))}},
	{"by dynamic metadata", unverified, []edit{allowing(network+"DynamicMetadataInput", `"filter": "x"`, inList(`"exact": "1"`))}},
	{"by subject", unverified, []edit{allowing("envoy.extensions.matching.common_inputs.ssl.v3.SubjectInput", "", inList(`"exact": "CN=evil"`))}},
	{"by DNS SAN", differs, []edit{allowing("envoy.extensions.matching.common_inputs.ssl.v3.DnsSanInput", "", inList(`"exact": "evil"`))}},
	{"by another identity", differs, []edit{allowing(uriSAN, "", inList(`"exact": "spiffe://default.zone-1.mesh.local/ns/evil/sa/x"`))}},
	{"by a part of an identity", differs, []edit{allowing(uriSAN, "", inList(`"contains": "evil"`))}},
	{"by the end of an identity", differs, []edit{allowing(uriSAN, "", inList(`"suffix": "/root"`))}},
	{"by a regular expression", differs, []edit{allowing(uriSAN, "", inList(`"safe_regex": {"regex": ".*/x[0-9]{7}"}`))}},
	{"by an identity in any case", differs, []edit{allowing(uriSAN, "", inList(`"exact": "spiffe://default.zone-1.mesh.local/ns/evil", "ignore_case": true`))}},
	{"by a regular expression beyond ASCII", unverified, []edit{allowing(uriSAN, "", inList(`"safe_regex": {"regex": ".*/é?vil"}`))}},
	{"by the end of a path with its query", unverified, []edit{allowing(header, `"header_name": ":path"`, inList(`"suffix": "/x"`))}},
	{"by a matcher of its own", unverified, []edit{allowing(uriSAN, "", `"custom_match": `+typed("x", "acme.Matcher", ""))}},
	{"by a string matcher of its own", unverified, []edit{allowing(uriSAN, "", inList(`"custom": `+typed("x", "acme.Matcher", "")))}},
	{"by chance", unverified, []edit{allowing(uriSAN, "", `"custom_match": `+typed("r", "envoy.extensions.matching.input_matchers.runtime_fraction.v3.RuntimeFraction", `"runtime_fraction": {"default_value": {"numerator": 1}}`))}},
	{"by hash", unverified, []edit{allowing(uriSAN, "", `"custom_match": `+typed("h", "envoy.extensions.matching.input_matchers.consistent_hashing.v3.ConsistentHashing", `"modulo": 9`))}},
	{"by address block", unverified, []edit{allowing(network+"SourceIPInput", "", `"custom_match": `+typed("i", "envoy.extensions.matching.input_matchers.ip.v3.Ip", `"cidr_ranges": [{"address_prefix": "10.0.0.0"}]`))}},
	{"by CEL", unverified, []edit{allowing("xds.type.matcher.v3.HttpAttributesCelMatchInput", "", `"custom_match": `+typed("c", "xds.type.matcher.v3.CelMatcher", ""))}},
	{"by the environment", unverified, []edit{allowing("envoy.extensions.matching.common_inputs.environment_variable.v3.Config", `"name": "X"`, inList(`"exact": "1"`))}},
	{"by an input of a later API", unverified, []edit{allowing("acme.Input", "", inList(`"exact": "1"`))}},
	{"by a part of an input of a later API", unverified, []edit{allowing(uriSAN, `"index": 2`, inList(`"exact": "1"`))}},
	{"by a tree of address blocks", unverified, []edit{put(rbac+".matcher", `{"matcher_tree": {"input": `+typed("in", network+"SourceIPInput", "")+`, "custom_match": `+typed("m", "xds.type.matcher.v3.IPMatcher", "")+`}}`)}},
	{"and goes on", unverified, []edit{put(rbac+".matcher.matcher_list.matchers.0.on_match.keep_matching", `true`)}},
	{"an action of a later API", unverified, []edit{put(rbac+".matcher.on_no_match.action.typed_config.unless", `"admin"`)}},
	{"rules beside the matcher", unverified, []edit{put(rbac+".rules", `{}`)}},
	{"an exemption of a later API", unverified, []edit{put(rbac+".exempt", `{"any": true}`)}},
	{"counters by rule", verified, []edit{put(rbac+".track_per_rule_stats", `true`)}},

	// RBAC by rules.
	{"nobody", differs, []edit{letting(anyone, anyone)}},
	{"a server name", unverified, []edit{letting(`{"requested_server_name": {"exact": "evil"}}`, anyone)}},
	{"a destination", unverified, []edit{letting(`{"destination_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}`, anyone)}},
	{"another port", verified, []edit{letting(`{"destination_port": 9999}`, anyone)}},
	{"a header of a connection", unverified, []edit{letting(`{"header": {"name": "x", "present_match": true}}`, anyone)}},
	{"metadata", unverified, []edit{letting(`{"metadata": {"filter": "x", "path": [{"key": "x"}], "value": {"present_match": true}}}`, anyone)}},
	{"metadata of a source", unverified, []edit{letting(`{"sourced_metadata": {"metadata_matcher": {"filter": "x"}}}`, anyone)}},
	{"a matcher of the upstream", unverified, []edit{letting(`{"matcher": `+typed("u", "envoy.extensions.rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher", "")+`}`, anyone)}},
	{"the address of a caller", unverified, []edit{letting(anyone, `{"remote_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}`)}},
	{"the address of a connection", unverified, []edit{letting(anyone, `{"direct_remote_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}`)}},
	{"not an address", unverified, []edit{letting(anyone, `{"not_id": {"direct_remote_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}}`)}},
	{"the state of a filter", unverified, []edit{letting(anyone, `{"filter_state": {"key": "x", "string_match": {"exact": "1"}}}`)}},
	{"any sound certificate", unverified, []edit{letting(anyone, `{"custom": `+typed("m", "envoy.extensions.rbac.principals.mtls_authenticated.v3.Config", `"any_validated_client_certificate": true`)+`}`)}},
	{"an unknown principal", unverified, []edit{letting(anyone, `{"custom": `+typed("x", "acme.Principal", "")+`}`)}},
	{"a condition", unverified, []edit{rules(`, "condition": {"const_expr": {"bool_value": true}}`, anyone, anyone)}},
	{"a principal of a later API", unverified, []edit{letting(anyone, `{"mood": "good"}`)}},
	{"the way it refuses", verified, []edit{put(tcpRBAC+".delay_deny", `"1s"`), put(tcpRBAC+".enforcement_type", `"CONTINUOUS"`)}},
}

// TestForgedDumps reads each dump and says what becomes of it, with package policy in the
// place of an Envoy: the filters that are read whole decide as their program does.
func TestForgedDumps(t *testing.T) {
	t.Parallel()
	files, err := lab.Open(lab.Choice{}, "../../examples/sidecar/policies")
	if err != nil {
		t.Fatal(err)
	}
	all, err := files.CasesFor(lab.Surroundings{}, files.Inbounds())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, tt := range forgeries {
		if seen[tt.name] {
			t.Fatalf("two rows %q", tt.name)
		}
		seen[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dump := exampleDump(t)
			for _, e := range tt.edits {
				dump = e(dump)
			}
			text, err := json.Marshal(dump)
			if err != nil {
				t.Fatal(err)
			}
			found, err := sidecar.Dump(text)
			if err != nil {
				t.Fatal(err)
			}
			v, err := Match(t.Context(), all, files, false, "", found)
			if err != nil {
				t.Fatal(err)
			}
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(found.Unknown))
			}
		})
	}
}

func exampleDump(t *testing.T) any {
	t.Helper()
	text, err := os.ReadFile("../../examples/sidecar/config_dump.json")
	if err != nil {
		t.Fatal(err)
	}
	return value(string(text))
}

func outcomeOf(v *Verification) outcome {
	if len(v.Unverified) > 0 {
		return unverified
	}
	for _, replay := range v.Replays {
		enforced, _ := lift.Program(replay.Filters, replay.Proof.Inbounds[0].Port)
		for _, asked := range replay.Proof.Asked() {
			if policy.Decide(enforced, asked.Seen).Effect != policy.Decide(replay.Proof.Inbounds[0].Program, asked.Seen).Effect {
				return differs
			}
		}
	}
	return verified
}
