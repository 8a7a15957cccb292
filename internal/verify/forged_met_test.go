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
}

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
