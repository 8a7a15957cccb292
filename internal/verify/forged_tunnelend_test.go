package verify

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// takesTunnels gives Istio's sidecar the two listeners by which it takes tunnels where the mesh is installed for ambient mode, as the pinned
// istiod makes them: the one that ends tunnels, after the first edits, and the one inside with the chains of the redirected inbounds, after the
// others.
func takesTunnels(t *testing.T, ends []edit, inside ...edit) edit {
	t.Helper()
	text, err := os.ReadFile("testdata/tunnelend.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(dump any) any {
		made := value(string(text)).(map[string]any)
		outer := made["listener"]
		for _, e := range ends {
			outer = e(outer)
		}
		cluster, _ := json.Marshal(made["cluster"])
		dump = istioCluster(string(cluster))(dump)
		dump = editAt(dump, "0.configs.3.static_listeners", func(old any) any { return append(old.([]any), listenerOf(outer)) })
		return copied(istioInbound, "0.configs.3.static_listeners[]", append(append([]edit{insideTunnels}, inside...), listenerOf)...)(dump)
	}
}

// insideTunnels makes the listener inside of Envoy of that for redirected connections.
func insideTunnels(l any) any {
	for _, e := range []edit{
		put("name", `"main_internal"`), put("internal_listener", `{}`), drop("address"), drop("filter_chains.0"), drop("listener_filters.1"), drop("access_log"),
		drop("max_connections_to_accept_per_socket_event"),
		put("filter_chains.0.filter_chain_match.application_protocols", `["http/1.1", "h2c"]`),
	} {
		l = e(l)
	}
	for i := range l.(map[string]any)["filter_chains"].([]any) {
		chain := l.(map[string]any)["filter_chains"].([]any)[i].(map[string]any)
		delete(chain, "transport_socket")
		match := chain["filter_chain_match"].(map[string]any)
		delete(match, "transport_protocol")
		match["prefix_ranges"] = value(`[{"address_prefix": "10.244.0.12", "prefix_len": 32}]`)
	}
	return keepingNames(l)
}

// keepingNames makes the rules ask for the name that a tunnel keeps.
func keepingNames(tree any) any {
	switch tree := tree.(type) {
	case []any:
		for i := range tree {
			tree[i] = keepingNames(tree[i])
		}
	case map[string]any:
		if of, ok := tree["authenticated"].(map[string]any); ok {
			return map[string]any{"filter_state": map[string]any{"key": "io.istio.peer_principal", "string_match": of["principal_name"]}}
		}
		for key := range tree {
			tree[key] = keepingNames(tree[key])
		}
	}
	return tree
}

// TestForgedTunnelEnds reads dumps of a sidecar of Istio that takes tunnels. It is verified where all that they lead to are the filters of the
// redirected inbounds, for callers of the same CAs.
func TestForgedTunnelEnds(t *testing.T) {
	t.Parallel()
	const (
		first    = "filter_chains.0"
		manages  = first + ".filters.0.typed_config"
		keeps    = manages + ".http_filters.1.typed_config.on_request_headers"
		route    = manages + ".route_config.virtual_hosts.0.routes.0"
		tls      = first + ".transport_socket.typed_config"
		ofMesh   = tls + ".common_tls_context.combined_validation_context"
		http     = "filter_chains.2"
		httpRBAC = http + ".filters.1.typed_config.http_filters.1.typed_config"
		tcp      = "filter_chains.3"
	)
	ends := func(edits ...edit) []edit { return []edit{takesTunnels(t, edits)} }
	inside := func(edits ...edit) []edit { return []edit{takesTunnels(t, nil, edits...)} }
	with := func(more ...edit) []edit { return append(ends(), more...) }
	const open = `{"permissions": [{"any": true}], "principals": [{"any": true}]}`
	const (
		ofCluster = "0.configs.1.static_clusters.4.cluster"
		options   = ofCluster + ".typed_extension_protocol_options"
	)
	upstreamOptions := func(more string) string {
		return `{"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {"@type": "T/envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "explicit_http_config": {"http2_protocol_options": {}}` + more + `}}`
	}
	toLogger, logger := toGRPC("logger"), istioCluster(static("logger", "10.96.0.40", 4317))
	opens := slices.Clip([]edit{tunnelsTo(`"upstream_port_override": 15008`, strings.NewReplacer("default.zone-1.mesh.local", "cluster.local", "system_trust_bundle", "ROOTCA").Replace(meshTLS(""))), tunnelsIn("connect_originate")})
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"as Istio has them": {verified, ends()},
		"as Istio's node says": {verified, with(put(istioNode+".metadata.ENABLE_HBONE", `"true"`), put(istioNode+".metadata.LABELS", `{"app": "payments", "networking.istio.io/tunnel": "http"}`),
			put(istioNode+".metadata.PROXY_CONFIG", `{"proxyMetadata": {"ISTIO_META_ENABLE_HBONE": "true"}}`))},
		"a tunnel of another kind in the label":             {unverified, with(put(istioNode+".metadata.LABELS", `{"app": "payments", "networking.istio.io/tunnel": "x"}`))},
		"the end alone":                                     {unverified, with(drop("0.configs.3.static_listeners.3"))},
		"the inside alone":                                  {unverified, with(drop("0.configs.3.static_listeners.2"))},
		"an end without a cluster":                          {unverified, with(drop(ofCluster))},
		"an end in plaintext":                               {unverified, ends(drop(first + ".transport_socket"))},
		"an end that demands no certificate":                {unverified, ends(put(tls+".require_client_certificate", `false`))},
		"an end for another trust domain":                   {unverified, ends(put(ofMesh+".default_validation_context.match_typed_subject_alt_names.0.matcher.prefix", `"spiffe://other/"`))},
		"an end for any trust domain":                       {unverified, ends(put(ofMesh+".default_validation_context.match_typed_subject_alt_names.0.matcher.prefix", `"spiffe://"`))},
		"an end with other CAs":                             {unverified, ends(put(ofMesh+".validation_context_sds_secret_config.name", `"mine"`))},
		"an end that keeps what callers say":                {unverified, ends(put(keeps+".3.format_string.text_format_source.inline_string", `"%REQ(x-caller)%"`))},
		"an end that keeps no name":                         {unverified, ends(drop(keeps + ".3"))},
		"an end that keeps a name for all connections":      {unverified, ends(put(keeps+".3.factory_key", `"envoy.string"`))},
		"an end that keeps another destination":             {unverified, ends(put(keeps+".0.format_string.text_format_source.inline_string", `"%REQ(x-to)%"`))},
		"an end that keeps more":                            {unverified, ends(add(keeps, `{"object_key": "envoy.network.transport_socket.original_dst_address", "format_string": {"text_format_source": {"inline_string": "%REQ(x-to)%"}}, "shared_with_upstream": "ONCE"}`))},
		"an end that keeps a name twice":                    {unverified, ends(add(manages+".http_filters", typed("x", httpStateOf, `"on_request_headers": [{"object_key": "io.istio.peer_principal", "factory_key": "istio.hashable_string", "format_string": {"text_format_source": {"inline_string": "spiffe://cluster.local/ns/shop/sa/frontend"}}, "shared_with_upstream": "ONCE"}]`)))},
		"an end with a filter that says nothing":            {unverified, ends(push(manages+".http_filters", `{"name": "envoy.filters.http.lua"}`))},
		"an end with a filter that is none":                 {unverified, ends(push(manages+".http_filters", typed("x", "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer", "")))},
		"an end with a router of no kind":                   {unverified, ends(drop(manages + ".http_filters.2.typed_config"))},
		"an end with a script":                              {unverified, ends(push(manages+".http_filters", lua()))},
		"an end with metadata by baggage":                   {unverified, ends(put(manages+".http_filters.0.typed_config.value.downstream_discovery", `[{"baggage": {}}]`))},
		"an end that leads to the workload":                 {unverified, ends(put(route+".route.cluster", `"inbound|8080||"`))},
		"an end with a second route":                        {unverified, ends(add(manages+".route_config.virtual_hosts.0.routes", `{"match": {"connect_matcher": {}}, "route": {"cluster": "inbound|8080||"}}`))},
		"an end with a second host":                         {unverified, ends(add(manages+".route_config.virtual_hosts", `{"name": "x", "domains": ["x"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "inbound|8080||"}}]}`))},
		"an end that takes requests":                        {unverified, ends(put(route+".match", `{"prefix": "/"}`))},
		"an end that takes POST":                            {unverified, ends(put(route+".route.upgrade_configs.0.connect_config.allow_post", `true`))},
		"an end that passes CONNECT on":                     {unverified, ends(drop(route + ".route.upgrade_configs.0.connect_config"))},
		"an end for websockets":                             {unverified, ends(put(route+".route.upgrade_configs.0.upgrade_type", `"websocket"`))},
		"an end with filters of an upgrade":                 {unverified, ends(put(manages+".upgrade_configs.0.filters", `[`+lua()+`]`))},
		"an end with a new field":                           {unverified, ends(put(manages+".trusts", `true`))},
		"an end with a second chain":                        {unverified, ends(copied(first, "filter_chains[]", put("filter_chain_match", `{"source_ports": [7]}`)))},
		"an end with a default":                             {unverified, ends(copied(first, "default_filter_chain"))},
		"an end with a PROXY header":                        {unverified, ends(put("listener_filters", `[`+typed("x", "envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol", "")+`]`))},
		"an end with a filter in front":                     {unverified, ends(push(first+".filters", typed("x", "envoy.extensions.filters.network.set_filter_state.v3.Config", "")))},
		"an end that logs to a file":                        {verified, ends(put("access_log", `[`+toFile+`]`), put(manages+".access_log", `[`+toFile+`]`))},
		"an end that logs to the workload":                  {unverified, ends(put(manages+".access_log", `[`+toGRPC("inbound|8080||")+`]`))},
		"an end that logs to a service":                     {unverified, ends(put(manages+".access_log", `[`+toGRPC("outbound|443||kubernetes.default.svc.cluster.local")+`]`))},
		"an end that logs where the inbounds do":            {verified, append([]edit{put(shopHTTP+".filters.1.typed_config.access_log", `[`+toLogger+`]`)}, takesTunnels(t, []edit{put("access_log", `[`+toLogger+`]`), put(manages+".access_log", `[`+toLogger+`]`)}, put("access_log", `[`+toLogger+`]`)), logger)},
		"an end that logs where no inbound does":            {unverified, append(ends(put("access_log", `[`+toLogger+`]`)), logger)},
		"an end on another port":                            {unverified, ends(put("address.socket_address.port_value", `15009`))},
		"an end on one more port":                           {verified, ends(put("additional_addresses", `[{"address": {"socket_address": {"address": "::", "port_value": 15008}}}]`))},
		"an end on the address of an inbound":               {unverified, ends(put("additional_addresses", `[{"address": {"socket_address": {"address": "10.244.0.12", "port_value": 8080}}}]`))},
		"an end on a socket of the machine":                 {unverified, ends(put("additional_addresses", `[{"address": {"pipe": {"path": "/tmp/x"}}}]`))},
		"an end with a certificate that the workload gives": {unverified, ends(put(tls+".common_tls_context.tls_certificate_sds_secret_configs.0.sds_config.api_config_source.grpc_services.0.envoy_grpc.cluster_name", `"inbound|8080||"`))},
		"an end with a certificate from any server":         {unverified, ends(put(tls+".common_tls_context.tls_certificate_sds_secret_configs.0.sds_config.api_config_source.grpc_services.0", `{"google_grpc": {"target_uri": "127.0.0.1:8080", "stat_prefix": "x"}}`))},
		"two ends":                                             {unverified, append(ends(), copied("0.configs.3.static_listeners.2", "0.configs.3.static_listeners[]", put("listener.name", `"more"`)))},
		"the workload has the port of the end":                 {unverified, with(put(shopTCP+".filter_chain_match.destination_port", `15008`))},
		"a cluster with a second endpoint":                     {unverified, with(add(ofCluster+".load_assignment.endpoints.0.lb_endpoints", `{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}}`))},
		"a cluster to another listener":                        {unverified, with(put(ofCluster+".load_assignment.endpoints.0.lb_endpoints.0.endpoint.address.envoy_internal_address.server_listener_name", `"connect_originate"`))},
		"a cluster with metadata of the tunnel":                {unverified, with(put(ofCluster+".transport_socket.typed_config.passthrough_metadata", `[{"kind": {"host": {}}, "name": "x"}]`))},
		"a cluster that takes nothing of the tunnel along":     {unverified, with(put(ofCluster+".transport_socket", typed("x", "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer", "")))},
		"a cluster with a name for its transport alone":        {unverified, with(put(ofCluster+".transport_socket", `{"name": "envoy.transport_sockets.tls"}`))},
		"a cluster with a name for the transport inside":       {unverified, with(put(ofCluster+".transport_socket.typed_config.transport_socket", `{"name": "envoy.transport_sockets.tls"}`))},
		"a cluster over TLS":                                   {unverified, with(put(ofCluster+".transport_socket", typed("envoy.transport_sockets.tls", "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "")))},
		"a cluster with filters of its own":                    {unverified, with(put(options, upstreamOptions(`, "http_filters": [`+lua()+`, `+typed("c", "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec", "")+`]`)))},
		"a cluster with a mirror":                              {unverified, with(put(options, upstreamOptions(`, "request_mirror_policies": [{"cluster": "inbound|8080||"}]`)))},
		"a cluster with options of another kind":               {unverified, with(put(options, `{"x": {"@type": "T/envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions"}}`))},
		"a cluster that is explicit about HTTP/2":              {verified, with(put(options, upstreamOptions("")))},
		"a second cluster to the inside":                       {unverified, with(istioCluster(internalCluster("more", "main_internal")))},
		"an outbound listener that leads inside":               {unverified, with(istioOutbound(`{"socket_address": {"address": "10.244.0.99", "port_value": 7777}}`, "main_internal"))},
		"an outbound listener of loopback leads inside":        {unverified, with(istioOutbound(`{"socket_address": {"address": "127.0.0.1", "port_value": 7777}}`, "main_internal"))},
		"an inbound that leads inside":                         {unverified, with(put(shopTCP+".filters.4.typed_config.cluster", `"main_internal"`))},
		"an inbound that logs inside":                          {unverified, with(put(shopHTTP+".filters.1.typed_config.access_log", `[`+toGRPC("main_internal")+`]`))},
		"an inside with an open rule":                          {unverified, inside(put(httpRBAC+".rules.policies.more", open))},
		"an inside without RBAC":                               {unverified, inside(drop(http+".filters.1.typed_config.http_filters.2"), drop(http+".filters.1.typed_config.http_filters.1"))},
		"an inside without RBAC on tcp":                        {unverified, inside(drop(tcp+".filters.2"), drop(tcp+".filters.1"))},
		"an inside that asks for the certificate":              {unverified, inside(refielded("filter_state", "authenticated", "string_match", "principal_name"))},
		"an inside that asks for another name":                 {unverified, inside(replaced("io.istio.peer_principal", "io.istio.local_principal"))},
		"an inside that leads to another workload":             {unverified, inside(put(tcp+".filters.4.typed_config.cluster", `"inbound|8080||"`))},
		"an inside for any address":                            {unverified, inside(drop(tcp + ".filter_chain_match.prefix_ranges"))},
		"an inside for all addresses":                          {unverified, inside(put(tcp+".filter_chain_match.prefix_ranges.0", `{"address_prefix": "10.244.0.12", "prefix_len": 24}`))},
		"an inside for loopback":                               {unverified, inside(put(tcp+".filter_chain_match.prefix_ranges.0.address_prefix", `"127.0.0.1"`))},
		"an inside for another machine":                        {unverified, inside(put(tcp+".filter_chain_match.prefix_ranges.0.address_prefix", `"10.244.0.13"`))},
		"an inside for some callers":                           {unverified, inside(put(tcp+".filter_chain_match.source_prefix_ranges", `[{"address_prefix": "10.244.0.13", "prefix_len": 32}]`))},
		"an inside without a port that has a chain":            {unverified, inside(drop(tcp))},
		"an inside with a port that has none":                  {unverified, inside(put(tcp+".filter_chain_match.destination_port", `7777`))},
		"an inside where ports exchange their chains":          {unverified, inside(put(tcp+".filter_chain_match.destination_port", `8080`), put(http+".filter_chain_match.destination_port", `6379`))},
		"an inside with a default":                             {unverified, inside(copied(tcp, "default_filter_chain"))},
		"an inside that hands over":                            {unverified, inside(put("use_original_dst", `true`))},
		"an inside that has an address, too":                   {unverified, inside(put("address", `{"socket_address": {"address": "10.244.0.12", "port_value": 7777}}`))},
		"an inside that gives no destination back":             {unverified, inside(drop("listener_filters.0"))},
		"an inside that gives it back for some":                {unverified, inside(put("listener_filters.0.filter_disabled", `{"any_match": true}`))},
		"an inside with a filter of the listener":              {unverified, inside(push("listener_filters", typed("x", "envoy.extensions.filters.listener.set_filter_state.v3.Config", "")))},
		"an inside with a filter that says nothing":            {unverified, inside(drop("listener_filters.1.typed_config"))},
		"an inside with an authorizer":                         {unverified, inside(push(http+".filters.1.typed_config.http_filters", typed("x", "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz", "")))},
		"an inside with a route of its own":                    {unverified, inside(put(http+".filters.1.typed_config.route_config.virtual_hosts.0.typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"}}`))},
		"an inside that sets a name":                           {unverified, inside(push(tcp+".filters", typed("x", "envoy.extensions.filters.network.set_filter_state.v3.Config", `"on_new_connection": [{"object_key": "io.istio.peer_principal", "format_string": {"text_format_source": {"inline_string": "x"}}}]`)))},
		"a node of IPv6 beside":                                {unverified, with(put(istioNode+".id", `"sidecar~10.244.0.13~payments-5d4f.shop~shop.svc.cluster.local"`))},
		"no node":                                              {unverified, with(drop("0.configs.0"))},
		"the redirected inbound is open":                       {differs, append([]edit{put(shopHTTP+".filters.1.typed_config.http_filters.1.typed_config.rules.policies.more", open), put(shopHTTP+".filters.1.typed_config.http_filters.2.typed_config.rules.policies.more", open)}, ends()...)},
		"the redirected inbound hands over":                    {unverified, append([]edit{handingOver}, ends()...)},
		"a node with two addresses":                            {verified, []edit{bothFamilies, takesTunnels(t, nil, eachChain(add("filter_chain_match.prefix_ranges", `{"address_prefix": "fd00::12", "prefix_len": 128}`)), drop("additional_addresses"))}},
		"a node with two addresses, and an inside for a third": {unverified, []edit{bothFamilies, takesTunnels(t, nil, eachChain(add("filter_chain_match.prefix_ranges", `{"address_prefix": "fd00::13", "prefix_len": 128}`)), drop("additional_addresses"))}},
		"an inside for loopback, which the node states":        {unverified, []edit{put(istioNode+".id", `"sidecar~127.0.0.1~payments-5d4f.shop~shop.svc.cluster.local"`), drop(instanceIPs), takesTunnels(t, nil, eachChain(put("filter_chain_match.prefix_ranges.0.address_prefix", `"127.0.0.1"`)))}},
		"a rule for an address, in both":                       {unverified, append([]edit{put(shopHTTP+".filters.1.typed_config.http_filters.1.typed_config.rules.policies.more", `{"permissions": [{"any": true}], "principals": [{"direct_remote_ip": {"address_prefix": "10.244.0.99", "prefix_len": 32}}]}`)}, ends()...)},
		"a route with filters of its own, in both":             {unverified, append([]edit{put(shopHTTP+".filters.1.typed_config.route_config.virtual_hosts.0.typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"}}`)}, ends()...)},
		"a waypoint that it calls":                             {verified, with(toWaypoint(`"bind_to_port": false,`))},
		"a waypoint whose port it binds":                       {unverified, with(toWaypoint(""))},
		"tunnels that it opens, and a waypoint that it calls":  {verified, append(opens, toWaypoint(`"bind_to_port": false,`))},
		"tunnels that it opens, and a waypoint's port bound":   {unverified, append(opens, toWaypoint(""))},
		"tunnels that it opens, too":                           {verified, with(opens...)},
		"tunnels that it opens, and an outbound listener":      {unverified, with(append(opens, istioCluster(internalCluster("tunneled", "connect_originate")), istioOutbound(`{"socket_address": {"address": "10.244.0.99", "port_value": 7777}}`, "tunneled"))...)},
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

// TestForgedTunnelEndsTell reads dumps of such sidecars that are not verified, and looks for the reason.
func TestForgedTunnelEndsTell(t *testing.T) {
	t.Parallel()
	const tcp = "filter_chains.3"
	inside := func(e edit) []edit { return []edit{takesTunnels(t, nil, e)} }
	left := matchedSidecar(t, "", "../../examples/istio/policies", takesTunnels(t, nil)).skipped()
	for _, name := range []string{"connect_terminate", "main_internal"} {
		if !slices.ContainsFunc(left, func(line string) bool {
			return strings.HasPrefix(line, "listener "+name+": ") && strings.Contains(line, "was held against an inbound for its port, and judges the same callers alike, where a certificate has one name")
		}) {
			t.Errorf("nothing tells what the chains behind %s were held against: %q", name, left)
		}
	}
	for want, edits := range map[string][]edit{
		"it is not as Istio has it since 1.29.2":                                                        {takesTunnels(t, []edit{drop("filter_chains.0.transport_socket.typed_config.require_client_certificate"), drop("filter_chains.0.filters.0.typed_config.http_filters.1")})},
		`"main_internal", to which they lead, is not as Istio has it`:                                   inside(drop("listener_filters.0")),
		`something else leads to "main_internal", too`:                                                  {takesTunnels(t, nil), istioCluster(internalCluster("more", "main_internal"))},
		"it does not demand a certificate of the mesh":                                                  {takesTunnels(t, []edit{drop("filter_chains.0.transport_socket.typed_config.require_client_certificate")})},
		`the chain "0.0.0.0_6379" of "main_internal" takes more than tunnels to the addresses`:          inside(drop(tcp + ".filter_chain_match.prefix_ranges")),
		`no chain of "virtualInbound" over mTLS is known to judge as the chain "0.0.0.0_6379" of "main`: inside(drop(tcp + ".filters.1")),
		`"main_internal" has no chain for port 6379, as "virtualInbound" has`:                           inside(drop(tcp)),
	} {
		v := matchedSidecar(t, "", "../../examples/istio/policies", edits...)
		if got := strings.Join(lines(v.Unverified), "\n"); !strings.Contains(got, "listener connect_terminate (0.0.0.0:15008): ") || !strings.Contains(got, "tunnels (HBONE) of other machines end there, and "+want) {
			t.Errorf("want %q: %s", want, got)
		}
	}
}

// toWaypoint adds the listener by which a sidecar calls the Service of a waypoint. Others open tunnels to its port, and no sidecar has it.
func toWaypoint(binds string) edit {
	return add("0.configs.3.static_listeners", fmt.Sprintf(`{"listener": {"name": "10.96.0.30_15008", "traffic_direction": "OUTBOUND", %s "address": {"socket_address": {"address": "10.96.0.30", "port_value": 15008}}, "filter_chains": [{"filters": [%s]}]}}`,
		binds, typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", `"stat_prefix": "x", "cluster": "BlackHoleCluster"`)))
}

// eachChain edits each chain of a listener.
func eachChain(edits ...edit) edit {
	return func(l any) any {
		for _, chain := range l.(map[string]any)["filter_chains"].([]any) {
			for _, e := range edits {
				e(chain)
			}
		}
		return l
	}
}

const httpStateOf = "envoy.extensions.filters.http.set_filter_state.v3.Config"

// replaced replaces texts in a listener, and refielded gives its fields other names.
func replaced(pairs ...string) edit {
	return func(l any) any {
		text, _ := json.Marshal(l)
		return value(strings.NewReplacer(pairs...).Replace(string(text)))
	}
}

func refielded(pairs ...string) edit {
	quoted := make([]string, len(pairs))
	for i, name := range pairs {
		quoted[i] = `"` + name + `":`
	}
	return func(l any) any {
		return replaced(`"key":"io.istio.peer_principal",`, "")(replaced(quoted...)(l))
	}
}
