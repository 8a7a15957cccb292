package verify

import "fmt"

// forgedMet are dumps with an outbound listener that others reach: it gives connections another destination, or meets the inbounds of
// its own sidecar.
var forgedMet = []forged{
	{"redirected connections whose callers write their destination", unverified, []edit{passing, ownAndPassing, put(passingListener+".listener_filters", `[`+proxyProtocol+`]`)}},
	{"redirected connections whose callers write their destination, in the old way", unverified, []edit{passing, ownAndPassing, put(passingListener+".filter_chains.0.use_proxy_proto", `true`)}},
	{"redirected connections, and a listener filter by discovery", unverified, []edit{passing, ownAndPassing, put(passingListener+".listener_filters", `[{"name": "x", "config_discovery": {"config_source": {"ads": {}}, "type_urls": ["T/x"]}}]`)}},
	{"redirected connections, and inspectors", verified, []edit{passing, ownAndPassing, put(passingListener+".listener_filters", `[`+originalDst+`, `+listenerFilter("tls_inspector.v3.TlsInspector")+`, `+listenerFilter("http_inspector.v3.HttpInspector")+`]`)}},
	{"redirected connections, and an inspector with a field of a later API", unverified, []edit{passing, ownAndPassing, put(passingListener+".listener_filters", `[{"name": "x", "typed_config": {"@type": "T/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", "later": 1}}]`)}},
	{"outbound to where its callers write", unverified, []edit{sending("10.0.0.8", `"listener_filters": [`+proxyProtocol+`]`, "passthrough"), ownAndPassing}},
	{"outbound on this machine alone, to where its callers write", verified, []edit{sending("127.0.0.1", `"listener_filters": [`+proxyProtocol+`]`, "passthrough"), ownAndPassing}},
	{"outbound that hands over to where its callers write, and a listener there that binds no port", unverified, []edit{sending("10.0.0.8", `"use_original_dst": true, "listener_filters": [`+proxyProtocol+`]`, "far"), unbound, farAndNear}},
	// The kernel says where connections were going, and redirects none of others to an outbound listener.
	{"outbound that hands over to where connections were going, and a listener there that binds no port", verified, []edit{sending("0.0.0.0", `"use_original_dst": true, "listener_filters": [`+originalDst+`]`, "passthrough"), unbound, clusters(ownCluster, redis, passingCluster, static("near", "127.0.0.1", 7777))}},
	{"outbound with code in front", unverified, []edit{sending("10.0.0.8", `"listener_filters": [`+typed("d", "envoy.extensions.filters.listener.dynamic_modules.v3.DynamicModuleListenerFilter", "")+`]`, "far"), farAndNear}},
	{"outbound on UDP to the workload", unverified, []edit{add("configs.0.dynamic_listeners", `{"name": "u", "active_state": {"listener": {"name": "u", "traffic_direction": "OUTBOUND", "address": {"socket_address": {"protocol": "UDP", "address": "10.0.0.8", "port_value": 5353}},
		"udp_listener_config": {}, "listener_filters": [`+typed("u", "envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig", `"stat_prefix": "x", "cluster": "self_inbound_dp_http-port"`)+`]}}}`)}},
	{"outbound over mTLS to an inbound of its own", unverified, []edit{sending("10.0.0.8", "", "self"), clusters(ownCluster, redis, having(static("self", "10.0.0.7", 8080), meshTLS("")))}},
	{"outbound over mTLS to an inbound of its own, by discovery", unverified, []edit{sending("10.0.0.8", "", "self"), clusters(ownCluster, redis, having(byEDS("self", `"eds_cluster_config": {"eds_config": {"ads": {}}}`), meshTLS(""))), endpoints("self", "10.0.0.7", 8080)}},
	{"outbound over mTLS to a name", unverified, []edit{sending("10.0.0.8", "", "self"), clusters(ownCluster, redis, having(retyped(static("self", "web.shop.svc", 8080), `"type": "STRICT_DNS"`), meshTLS("")))}},
	{"outbound over mTLS to endpoints that the dump does not have", unverified, []edit{sending("10.0.0.8", "", "self"), clusters(ownCluster, redis, having(byEDS("self", `"eds_cluster_config": {"eds_config": {"ads": {}}}`), meshTLS("")))}},
	{"outbound over mTLS to an inbound of its own, on this machine alone", verified, []edit{sending("127.0.0.1", "", "self"), clusters(ownCluster, redis, having(static("self", "10.0.0.7", 8080), meshTLS("")))}},
	{"outbound over mTLS to an inbound of another machine", verified, []edit{sending("10.0.0.8", "", "other"), clusters(ownCluster, redis, having(static("other", "10.9.9.9", 8080), meshTLS("")))}},

	// A caller who is refused sets off a log, and the log comes to an inbound as this sidecar's own.
	{"a log to an outbound listener of this machine, which leads to an inbound", unverified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "127.0.0.1", 9999), self), sending("127.0.0.1", "", "self")}},
	{"a log to an outbound listener of this machine, on every address of the log", unverified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "0.0.0.0", 9999), self), sending("127.0.0.1", "", "self")}},
	{"a log to an outbound listener of this machine, in the notation of IPv6", unverified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "127.0.0.1", 9999), self), sending("::ffff:127.0.0.1", "", "self")}},
	// Envoy takes ::1 for this name, unless dns_lookup_family says otherwise.
	{"a log to localhost, which is an outbound listener by IPv6", unverified, []edit{logging("logs"), clusters(ownCluster, redis, retyped(static("logs", "localhost", 9999), `"type": "STRICT_DNS"`), self), sending("::1", "", "self")}},
	{"a log to localhost, beside an outbound listener on another port", verified, []edit{logging("logs"), clusters(ownCluster, redis, retyped(static("logs", "localhost", 9998), `"type": "STRICT_DNS"`), self), sending("::1", "", "self")}},
	{"an inbound that leads to localhost", verified, []edit{clusters(ownByName, redis)}},
	{"an inbound that leads to localhost, which is an outbound listener by IPv6", unverified, []edit{clusters(ownByName, redis, self), add("configs.0.dynamic_listeners", outboundListener("out", "::1", 8080, "", "self"))}},
	{"an inbound that leads to localhost, which is an outbound listener by IPv4", unverified, []edit{clusters(ownByName, redis, self), add("configs.0.dynamic_listeners", outboundListener("out", "127.0.0.1", 8080, "", "self"))}},
	{"a log to a name, which may be an outbound listener of this machine", unverified, []edit{logging("logs"), clusters(ownCluster, redis, retyped(static("logs", "logs.example", 9999), `"type": "STRICT_DNS"`), self), sending("127.0.0.1", "", "self")}},
	{"a log to endpoints that are not there, which may be an outbound listener of this machine", unverified, []edit{logging("logs"), clusters(ownCluster, redis, byEDS("logs", ""), self), sending("127.0.0.1", "", "self")}},
	{"a log to an outbound listener on an address for services", unverified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "240.0.0.9", 9999), self), sending("240.0.0.9", "", "self")}},
	{"a log to a listener on a socket, which leads to an inbound", unverified, []edit{logging("logs"), clusters(ownCluster, redis, socketOf("logs", "/tmp/logs.sock"), self), sending("127.0.0.1", "", "self"), put(sendingListener+".address", `{"pipe": {"path": "/run//logs.sock"}}`)}},
	{"a log to a listener on a second address, which leads to an inbound", unverified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "127.0.0.1", 7777), self), sending("127.0.0.1", "", "self"), put(sendingListener+".additional_addresses", `[{"address": {"socket_address": {"address": "127.0.0.1", "port_value": 7777}}}]`)}},
	{"a log to an outbound listener of this machine, which leads to another one", unverified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "127.0.0.1", 9999), static("next", "127.0.0.1", 7777), self), sending("127.0.0.1", "", "next"),
		add("configs.0.dynamic_listeners", outboundListener("third", "127.0.0.1", 7777, "", "self"))}},
	{"a log to an outbound listener of this machine, which leads to a socket", unverified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "127.0.0.1", 9999), socketOf("next", "/tmp/next.sock")), sending("127.0.0.1", "", "next")}},
	{"a log by an outbound listener that others reach to one of this machine", unverified, []edit{clusters(ownCluster, redis, static("logs", "127.0.0.1", 7777), static("far", "10.9.9.9", 80), self), sending("10.0.0.8", `"access_log": [`+toGRPC("logs")+`]`, "far"),
		add("configs.0.dynamic_listeners", outboundListener("third", "127.0.0.1", 7777, "", "self"))}},
	{"a log to an outbound listener of this machine, which leads to a collector and logs to another one", unverified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "127.0.0.1", 9999), static("next", "127.0.0.1", 7777), static("far", "10.9.9.9", 80), self),
		sending("127.0.0.1", `"access_log": [`+toGRPC("next")+`]`, "far"), add("configs.0.dynamic_listeners", outboundListener("third", "127.0.0.1", 7777, "", "self"))}},
	{"outbound to an address of IPv6 with a zone", unverified, []edit{clusters(ownCluster, redis, static("zoned", "fd00::7%eth0", 8080)), sending("10.0.0.8", "", "zoned")}},
	{"outbound on an address of IPv6 with a zone", unverified, []edit{clusters(ownCluster, redis, static("far", "10.9.9.9", 80)), sending("::%lo", "", "far")}},
	{"statistics to an outbound listener of this machine, which leads to an inbound", unverified, []edit{bootstrap(harmlessLayers + `, "stats_sinks": [` + typed("s", "envoy.config.metrics.v3.MetricsServiceConfig", `"grpc_service": {"envoy_grpc": {"cluster_name": "logs"}}`) + `]`),
		clusters(ownCluster, redis, static("logs", "127.0.0.1", 9999), self), sending("127.0.0.1", "", "self")}},
	{"a log to an outbound listener of this machine, which leads to a collector", verified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "127.0.0.1", 9999), having(static("far", "10.9.9.9", 4317), meshTLS(""))), sending("127.0.0.1", "", "far")}},
	{"a log to another machine, beside an outbound listener of its port", verified, []edit{logging("logs"), clusters(ownCluster, redis, static("logs", "10.9.9.9", 9999), self), sending("127.0.0.1", "", "self")}},
	{"a log to a process by its socket, beside an outbound listener", verified, []edit{logging("logs"), clusters(ownCluster, redis, socketOf("logs", "/tmp/kuma-al-x.sock"), self), sending("127.0.0.1", "", "self")}},
}

// sendingListener is the listener that sending adds to the example.
const sendingListener = "configs.0.dynamic_listeners.3.active_state.listener"

// ownByName is the cluster of the HTTP inbound, with a name for its endpoint.
var ownByName = retyped(static("self_inbound_dp_http-port", "localhost", 8080), `"type": "STRICT_DNS"`)

// self is a cluster that leads to the HTTP inbound, which takes this sidecar for the caller.
var self = having(static("self", "10.0.0.7", 8080), meshTLS(""))

// logging makes the TCP inbound log to a cluster.
func logging(cluster string) edit { return put(tcpProxy+".access_log", `[`+toGRPC(cluster)+`]`) }

// passingListener is the listener that passing adds.
const passingListener = "configs.0.static_listeners.0.listener"

const passingCluster = `{"name": "passthrough", "type": "ORIGINAL_DST", "lb_policy": "CLUSTER_PROVIDED"}`

var (
	proxyProtocol = listenerFilter("proxy_protocol.v3.ProxyProtocol")
	originalDst   = listenerFilter("original_dst.v3.OriginalDst")
	ownAndPassing = clusters(ownCluster, redis, passingCluster)
	farAndNear    = clusters(ownCluster, redis, static("far", "10.9.9.9", 80), static("near", "127.0.0.1", 7777))
	// unbound is an outbound listener that binds no port, and leads to a port of this machine.
	unbound = add("configs.0.dynamic_listeners", outboundListener("unbound", "127.0.0.1", 7000, `, "bind_to_port": false`, "near"))
)

func listenerFilter(message string) string {
	return typed("f", "envoy.extensions.filters.listener."+message, "")
}

// sending adds an outbound listener that sends connections to a cluster.
func sending(ip, fields, cluster string) edit {
	if fields != "" {
		fields = ", " + fields
	}
	return add("configs.0.dynamic_listeners", outboundListener("sending", ip, 9999, fields, cluster))
}

func outboundListener(name, ip string, port int, fields, cluster string) string {
	return fmt.Sprintf(`{"name": %[1]q, "active_state": {"listener": {"name": %[1]q, "traffic_direction": "OUTBOUND", "address": {"socket_address": {"address": %[2]q, "port_value": %[3]d}}%[4]s,
		"filter_chains": [{"filters": [%[5]s]}]}}}`, name, ip, port, fields, typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", fmt.Sprintf(`"stat_prefix": "x", "cluster": %q`, cluster)))
}
