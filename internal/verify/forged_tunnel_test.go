package verify

import (
	"fmt"
	"strings"
	"testing"
)

// Parts of a tunnel by CONNECT (HBONE), as Istio's waypoint has them.
const (
	// connects is a route that ends a tunnel.
	connects = `{"match": {"connect_matcher": {}}, "route": {"cluster": %q, "upgrade_configs": [{"upgrade_type": "CONNECT", "connect_config": {}}]}}`
	// relays is one that passes CONNECT on as a request.
	relays   = `{"match": {"connect_matcher": {}}, "route": {"cluster": %q}}`
	upgrades = `[{"upgrade_type": "CONNECT"}]`
)

// internalCluster is a cluster whose endpoint is an internal listener.
func internalCluster(name, listener string) string {
	return fmt.Sprintf(`{"name": %q, "type": "STATIC", "load_assignment": {"cluster_name": %[1]q, "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"envoy_internal_address": {"server_listener_name": %q}}}}]}]},
		"transport_socket": %s}`, name, listener, typed("envoy.transport_sockets.internal_upstream", "envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport", `"transport_socket": {"name": "envoy.transport_sockets.raw_buffer", "typed_config": {"@type": "T/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"}}`))
}

// terminating adds a copy of the chain for port 8080 as a listener of its own that ends tunnels.
func terminating(name, address string, port int, cluster string, edits ...edit) edit {
	return func(dump any) any {
		all := []edit{put("name", `"tunnel"`), drop("filter_chain_match"), put("filters.1.typed_config.upgrade_configs", upgrades),
			put("filters.1.typed_config.http2_protocol_options", `{"allow_connect": true}`),
			put("filters.1.typed_config.route_config.virtual_hosts.0.routes", `[`+fmt.Sprintf(connects, cluster)+`]`)}
		wrap := func(chain any) any {
			return map[string]any{"listener": map[string]any{"name": name, "traffic_direction": "INBOUND", "filter_chains": []any{chain},
				"address": value(fmt.Sprintf(`{"socket_address": {"address": %q, "port_value": %d}}`, address, port))}}
		}
		return copied(shopHTTP, "0.configs.3.static_listeners[]", append(append(all, wrap), edits...)...)(dump)
	}
}

// mainInternal adds an internal listener that leads to a cluster.
func mainInternal(cluster, direction string) edit {
	return add("0.configs.3.static_listeners", fmt.Sprintf(`{"listener": {"name": "main_internal", "traffic_direction": %q, "internal_listener": {}, "filter_chains": [{"filters": [%s]}]}}`, direction,
		typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", fmt.Sprintf(`"stat_prefix": "x", "cluster": %q`, cluster))))
}

// TestForgedTunnels reads dumps of Istio's sidecar with tunnels by CONNECT, internal listeners, and other protocols than HTTP and TCP: what they
// carry passes no RBAC that is asked.
func TestForgedTunnels(t *testing.T) {
	t.Parallel()
	const routesOfShop = shopHTTP + ".filters.1.typed_config.route_config.virtual_hosts.0.routes"
	const manages = shopHTTP + ".filters.1.typed_config"
	ofWorkload := istioCluster(static("w", "127.0.0.1", 8080))
	outboundTo := func(filter string) edit {
		return add("0.configs.3.static_listeners", `{"listener": {"name": "outbound|9999||x", "traffic_direction": "OUTBOUND", "address": {"socket_address": {"address": "10.244.0.99", "port_value": 9999}}, "filter_chains": [{"filters": [`+filter+`]}]}}`)
	}
	thrift := typed("envoy.filters.network.thrift_proxy", "envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy", `"stat_prefix": "x", "route_config": {"routes": [{"match": {"method_name": ""}, "route": {"cluster": "w"}}]}`)
	redisProxy := typed("envoy.filters.network.redis_proxy", "envoy.extensions.filters.network.redis_proxy.v3.RedisProxy", `"stat_prefix": "x", "settings": {"op_timeout": "1s"}, "prefix_routes": {"catch_all_route": {"cluster": "w"}}`)
	mongo := typed("envoy.filters.network.mongo_proxy", "envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy", `"stat_prefix": "x"`)
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"a tunnel that ends in an internal listener, to the workload": {unverified, []edit{terminating("connect_terminate", "0.0.0.0", 15008, "main_internal"), istioCluster(internalCluster("main_internal", "main_internal")), mainInternal("inbound|8080||", "INBOUND")}},
		"a tunnel that ends in an outbound internal listener":         {unverified, []edit{terminating("connect_terminate", "0.0.0.0", 15008, "main_internal"), istioCluster(internalCluster("main_internal", "main_internal")), mainInternal("inbound|8080||", "OUTBOUND")}},
		"a tunnel of an outbound listener":                            {unverified, []edit{terminating("outbound|15008||x", "10.244.0.99", 15008, "w", put("listener.traffic_direction", `"OUTBOUND"`)), ofWorkload}},
		"a tunnel to the workload":                                    {unverified, []edit{terminating("connect_terminate", "0.0.0.0", 15008, "inbound|8080||")}},
		"a tunnel to where it was going":                              {unverified, []edit{terminating("connect_terminate", "0.0.0.0", 15008, "InboundPassthroughCluster")}},
		"a tunnel on loopback":                                        {unverified, []edit{terminating("connect_terminate", "127.0.0.1", 15008, "inbound|8080||")}},
		"an internal listener that leads to the workload":             {unverified, []edit{mainInternal("inbound|8080||", "INBOUND")}},
		"an outbound internal listener that leads nowhere":            {unverified, []edit{mainInternal("BlackHoleCluster", "OUTBOUND")}},
		"a tunnel in the inbound":                                     {unverified, []edit{put(manages+".upgrade_configs", upgrades), push(routesOfShop, fmt.Sprintf(connects, "inbound|8080||"))}},
		"a tunnel in the inbound, without an upgrade of the manager":  {unverified, []edit{push(routesOfShop, fmt.Sprintf(connects, "inbound|8080||"))}},
		"a tunnel in the inbound that takes POST":                     {unverified, []edit{push(routesOfShop, `{"match": {"prefix": "/"}, "route": {"cluster": "inbound|8080||", "upgrade_configs": [{"upgrade_type": "CONNECT", "connect_config": {"allow_post": true}}]}}`)}},
		"a tunnel in the inbound for UDP":                             {unverified, []edit{put(manages+".upgrade_configs", `[{"upgrade_type": "CONNECT-UDP"}]`), push(routesOfShop, `{"match": {"connect_matcher": {}}, "route": {"cluster": "inbound|8080||", "upgrade_configs": [{"upgrade_type": "CONNECT-UDP", "connect_config": {}}]}}`)}},
		"CONNECT as a request":                                        {unverified, []edit{put(manages+".upgrade_configs", upgrades), push(routesOfShop, fmt.Sprintf(relays, "inbound|8080||"))}},
		"CONNECT as a request, past RBAC":                             {unverified, []edit{put(manages+".upgrade_configs", upgrades), push(routesOfShop, `{"match": {"connect_matcher": {}}, "route": {"cluster": "inbound|8080||"}, "typed_per_filter_config": `+disabledRBAC+`}`)}},
		"an inbound that leads into an internal listener":             {unverified, []edit{istioCluster(internalCluster("main_internal", "main_internal")), put(routesOfShop+".0.route.cluster", `"main_internal"`)}},
		"an inbound on tcp that tunnels":                              {unverified, []edit{put(shopTCP+".filters.4.typed_config.tunneling_config", `{"hostname": "127.0.0.1:8080"}`)}},
		"an address that a filter of the listener writes":             {unverified, []edit{push(istioInbound+".listener_filters", typed("set_dst_address", "envoy.extensions.filters.listener.set_filter_state.v3.Config", ""))}},
		"an address that a network filter writes":                     {unverified, []edit{push(anyPortTCP+".filters", typed("set_dst_address", "envoy.extensions.filters.network.set_filter_state.v3.Config", `"on_new_connection": [{"object_key": "envoy.network.transport_socket.original_dst_address", "format_string": {"text_format_source": {"inline_string": "127.0.0.1:6379"}}}]`))}},
		"an address that a network filter writes, behind RBAC": {unverified, []edit{func(dump any) any {
			return editAt(dump, anyPortTCP+".filters", func(old any) any {
				all := old.([]any)
				last := len(all) - 1
				return append(append(append([]any{}, all[:last]...), value(typed("set_dst_address", "envoy.extensions.filters.network.set_filter_state.v3.Config", `"on_downstream_data": [{"object_key": "envoy.network.transport_socket.original_dst_address", "format_string": {"text_format_source": {"inline_string": "127.0.0.1:6379"}}}]`))), all[last])
			})
		}}},
		"thrift in the place of tcp":                               {unverified, []edit{ofWorkload, put(shopTCP+".filters.4", thrift)}},
		"thrift of an outbound listener that others reach":         {unverified, []edit{ofWorkload, outboundTo(thrift)}},
		"redis in the place of tcp":                                {unverified, []edit{ofWorkload, put(shopTCP+".filters.4", redisProxy)}},
		"redis of an outbound listener that others reach":          {unverified, []edit{ofWorkload, outboundTo(redisProxy)}},
		"mongo in front of tcp":                                    {unverified, []edit{push(shopTCP+".filters", mongo)}},
		"mongo and tcp of an outbound listener":                    {unverified, []edit{ofWorkload, outboundTo(mongo + `, ` + typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", `"stat_prefix": "x", "cluster": "w"`))}},
		"QUIC on the port of an inbound":                           {unverified, []edit{copied(istioInbound, "0.configs.3.static_listeners[]", put("name", `"quic"`), put("address.socket_address", `{"protocol": "UDP", "address": "0.0.0.0", "port_value": 8080}`), put("udp_listener_config", `{"quic_options": {}}`), drop("listener_filters"), listenerOf)}},
		"QUIC of an outbound listener that others reach":           {unverified, []edit{ofWorkload, outboundTo(strings.Trim(overHTTP("w", ""), "[]")), put("0.configs.3.static_listeners.2.listener.address.socket_address.protocol", `"UDP"`), put("0.configs.3.static_listeners.2.listener.udp_listener_config", `{"quic_options": {}}`)}},
		"QUIC on a further address of the inbound":                 {unverified, []edit{put(istioInbound+".additional_addresses", `[{"address": {"socket_address": {"protocol": "UDP", "address": "0.0.0.0", "port_value": 8443}}}]`)}},
		"the node of a waypoint":                                   {unverified, []edit{put(istioNode+".id", `"waypoint~10.244.0.12~payments-5d4f.shop~shop.svc.cluster.local"`)}},
		"a pod in ambient mode":                                    {unverified, []edit{put(istioNode+".metadata.LABELS", `{"app": "payments", "istio.io/dataplane-mode": "ambient"}`)}},
		"a pod that ztunnel redirects":                             {unverified, []edit{put(istioNode+".metadata.ANNOTATIONS", `{"ambient.istio.io/redirection": "enabled"}`)}},
		"a pod that may take tunnels, without a listener for them": {verified, []edit{put(istioNode+".metadata.ENABLE_HBONE", `"true"`)}},
		"a destination by metadata":                                {unverified, []edit{put("0.configs.1.dynamic_active_clusters.1.cluster.original_dst_lb_config", `{"metadata_key": {"key": "tunnel", "path": [{"key": "destination"}]}}`)}},
		"a destination by an endpoint of an internal listener": {unverified, []edit{func(dump any) any {
			return put("0.configs.1.dynamic_active_clusters.3.cluster", internalCluster("inbound|8080||", "main_internal"))(dump)
		}}},
		"an outbound listener with an address inside of Envoy": {unverified, []edit{add("0.configs.3.static_listeners", `{"listener": {"name": "outbound|1||x", "traffic_direction": "OUTBOUND", "address": {"envoy_internal_address": {"server_listener_name": "main_internal"}}, "filter_chains": [{"filters": [`+typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", `"stat_prefix": "x", "cluster": "inbound|8080||"`)+`]}]}}`)}},
		"a cluster of reverse connections":                     {unverified, []edit{istioCluster(`{"name": "back", "cluster_type": {"name": "envoy.clusters.reverse_connection"}}`), put(routesOfShop+".0.route.cluster", `"back"`)}},
		"a listener of reverse connections":                    {unverified, []edit{terminating("outbound|1||x", "rc://a:b:c@back:1", 0, "inbound|8080||", put("listener.traffic_direction", `"OUTBOUND"`))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies", tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}
