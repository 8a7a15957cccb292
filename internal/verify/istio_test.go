package verify

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Places in the dump of Istio's sidecar: its chains of any port, and of the ports 8080 and 6379.
const (
	istioInbound = "0.configs.3.dynamic_listeners.2.active_state.listener"
	blackHole    = "0.configs.1.dynamic_active_clusters.0.cluster"
	agentSocket  = "0.configs.1.static_clusters.2.cluster.load_assignment.endpoints.0.lb_endpoints.0.endpoint.address"
	health       = "0.configs.3.static_listeners.1.listener.filter_chains.0.filters.0.typed_config"
	metrics      = "0.configs.3.static_listeners.0.listener"
	anyPortTCP   = istioInbound + ".filter_chains.2"
	shopHTTP     = istioInbound + ".filter_chains.3"
	shopTCP      = istioInbound + ".filter_chains.4"
	shopFilters  = shopHTTP + ".filters.1.typed_config.http_filters"
	exchange     = shopFilters + ".0.typed_config.value"
	validations  = shopHTTP + ".transport_socket.typed_config.common_tls_context.combined_validation_context.validation_context_sds_secret_config"
	typedSANs    = shopHTTP + ".transport_socket.typed_config.common_tls_context.combined_validation_context.default_validation_context.match_typed_subject_alt_names"
	untyped      = shopHTTP + ".transport_socket.typed_config.common_tls_context.combined_validation_context.default_validation_context.match_subject_alt_names"
	probes       = anyPortTCP + `.filters.2.typed_config.rules.policies.ns[shop]-policy[callers]-rule[2].permissions.0.and_rules.rules.0.or_rules.rules.0`
)

// TestIstioSidecar reads a dump of the shape that Istio gives to a sidecar. It is verified, and
// each part of the shape that lets callers past the policies, or hides something, is not.
func TestIstioSidecar(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		want  outcome
		edits []edit
	}{
		"as it is":                                                             {verified, nil},
		"SANs of another trust domain beside":                                  {unverified, []edit{add(untyped, `{"prefix": "spiffe://other/"}`)}},
		"SANs of every trust domain":                                           {unverified, []edit{put(untyped+".0", `{"prefix": "spiffe://"}`)}},
		"SANs in any case":                                                     {unverified, []edit{put(untyped+".0.ignore_case", `true`)}},
		"SANs by a regular expression":                                         {unverified, []edit{put(untyped+".0", `{"safe_regex": {"regex": "spiffe://cluster.local/.*"}}`)}},
		"no SANs":                                                              {unverified, []edit{put(untyped, `[]`)}},
		"SANs with a type, which count alone":                                  {unverified, []edit{put(typedSANs, `[{"san_type": "DNS", "matcher": {"prefix": "spiffe://cluster.local/"}}]`)}},
		"IDs of requests by something else":                                    {unverified, []edit{put(shopHTTP+".filters.1.typed_config.request_id_extension", `{"typed_config": {"@type": "T/acme.RequestID"}}`)}},
		"a new field of the IDs of requests":                                   {unverified, []edit{put(shopHTTP+".filters.1.typed_config.request_id_extension.typed_config.trusts", `true`)}},
		"metrics for others":                                                   {unverified, []edit{put(metrics+".address.socket_address.address", `"0.0.0.0"`)}},
		"metrics on one more address":                                          {unverified, []edit{put(metrics+".additional_addresses", `[{"address": {"socket_address": {"address": "::", "port_value": 15090}}}]`)}},
		"metrics on one more address of the machine":                           {verified, []edit{put(metrics+".additional_addresses", `[{"address": {"socket_address": {"address": "::1", "port_value": 15090}}}]`)}},
		"metrics for others, on one path":                                      {verified, []edit{put(metrics+".address.socket_address.address", `"0.0.0.0"`), put(metrics+".filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.routes.0.match", `{"path": "/stats/prometheus"}`)}},
		"the inbound hands over":                                               {verified, []edit{handingOver}},
		"outbound on every address":                                            {verified, []edit{besides("0.0.0.0", drop("filter_chain_match"))}},
		"outbound on every address, handed over":                               {unverified, []edit{handingOver, besides("0.0.0.0", drop("filter_chain_match"))}},
		"outbound to where it was going":                                       {verified, []edit{besides("0.0.0.0", goingOn)}},
		"outbound to where it was going, handed over":                          {unverified, []edit{handingOver, besides("0.0.0.0", goingOn)}},
		"outbound of the pod's address to where it was going, handed over":     {unverified, []edit{handingOver, besides("10.244.0.12", goingOn)}},
		"outbound of another pod's address to where it was going":              {verified, []edit{besides("10.244.0.99", goingOn)}},
		"an open port, of redirected connections that are not always restored": {unverified, []edit{put(istioInbound+".listener_filters.0.filter_disabled", `{"destination_port_range": {"start": 9, "end": 10}}`)}},
		"the runtime is hidden":                                                {unverified, []edit{drop("1")}},
		"the runtime of other layers":                                          {unverified, []edit{put("1.layers", `["global config"]`)}},
		"the admin brought back a flaw":                                        {unverified, []edit{put("1.entries", `{"envoy.reloadable_features.uri_template_match_on_asterisk": {"final_value": "false"}}`)}},
		"a field of the answer":                                                {unverified, []edit{put("1.more", `{}`)}},
		"no entries":                                                           {unverified, []edit{put("1.entries", `[]`)}},
		"metadata by baggage":                                                  {unverified, []edit{put(exchange+".downstream_discovery", `[{"baggage": {}}]`)}},
		"a new field of metadata exchange":                                     {unverified, []edit{put(exchange+".grants", `true`)}},
		"a header that it takes away":                                          {unverified, []edit{put(shopFilters+".2.typed_config.rules.policies.more", `{"permissions": [{"any": true}], "principals": [{"header": {"name": "x-envoy-peer-metadata", "present_match": true}}]}`)}},
		"a new field of it on tcp":                                             {unverified, []edit{put(shopTCP+".filters.0.typed_config.value.grants", `true`)}},
		"statistics in front":                                                  {verified, []edit{push(shopFilters, typed("istio.stats", "stats.PluginConfig", ""))}},
		"a new field of statistics":                                            {unverified, []edit{push(shopFilters, typed("istio.stats", "stats.PluginConfig", `"allow": true`))}},
		"ALPN in front":                                                        {verified, []edit{push(shopFilters, typed("istio.alpn", "istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig", `"alpn_override": [{"alpn_override": ["istio"]}]`))}},
		"gRPC statistics in front":                                             {verified, []edit{push(shopFilters, typed("envoy.filters.http.grpc_stats", "envoy.extensions.filters.http.grpc_stats.v3.FilterConfig", `"emit_filter_state": true`))}},
		"faults in front":                                                      {verified, []edit{push(shopFilters, typed("envoy.filters.http.fault", "envoy.extensions.filters.http.fault.v3.HTTPFault", `"abort": {"http_status": 200, "percentage": {"numerator": 1}}`))}},
		"secrets of another server":                                            {unverified, []edit{put(validations+".sds_config.api_config_source.grpc_services.0.envoy_grpc.cluster_name", `"other"`)}},
		"secrets of two servers":                                               {unverified, []edit{add(validations+".sds_config.api_config_source.grpc_services", `{"envoy_grpc": {"cluster_name": "sds-grpc"}}`)}},
		"secrets over the network":                                             {unverified, []edit{put(agentSocket, `{"socket_address": {"address": "10.0.0.9", "port_value": 80}}`)}},
		"secrets by a listener of this Envoy":                                  {unverified, []edit{istioOutbound(`{"pipe": {"path": "./var/run/secrets/workload-spiffe-uds/socket"}}`, "outbound|443||kubernetes.default.svc.cluster.local")}},
		"secrets by a listener of this Envoy, by another path":                 {unverified, []edit{istioOutbound(`{"pipe": {"path": "/var/run/secrets//link/socket"}}`, "outbound|443||kubernetes.default.svc.cluster.local")}},
		"secrets by a socket without a file":                                   {unverified, []edit{inBoth(put("load_assignment.endpoints.0.lb_endpoints.0.endpoint.address.pipe.path", `"@socket"`))}},
		"secrets by a proxy":                                                   {unverified, []edit{inBoth(put("transport_socket", typed("x", "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport", "")))}},
		"a listener on another socket":                                         {verified, []edit{istioOutbound(`{"pipe": {"path": "/var/run/mine.sock"}}`, "outbound|443||kubernetes.default.svc.cluster.local")}},
		"another secret":                                                       {unverified, []edit{put(validations+".name", `"mine"`)}},
		"health by a listener of this Envoy to the workload":                   {unverified, []edit{withoutMetrics, istioCluster(static("w", "127.0.0.1", 8080)), istioOutbound(`{"socket_address": {"address": "127.0.0.1", "port_value": 15020}}`, "w")}},
		"health by a listener of this Envoy to the admin interface":            {unverified, []edit{withoutMetrics, istioOutbound(`{"socket_address": {"address": "127.0.0.1", "port_value": 15020}}`, "prometheus_stats")}},
		"health, and a listener on another port of loopback":                   {verified, []edit{withoutMetrics, istioOutbound(`{"socket_address": {"address": "127.0.0.1", "port_value": 7777}}`, "outbound|443||kubernetes.default.svc.cluster.local")}},
		"health, and a service with the port of the agent":                     {verified, []edit{besides("0.0.0.0", put("address.socket_address.port_value", `15020`))}},
		"outbound to the pod's second address over mTLS":                       {unverified, []edit{bothFamilies, istioCluster(istioSelf("fd00::12")), istioOutbound(`{"socket_address": {"address": "10.244.0.99", "port_value": 7777}}`, "self")}},
		"outbound to the pod's second address":                                 {unverified, []edit{bothFamilies, istioCluster(static("self", "fd00::12", 8080)), istioOutbound(`{"socket_address": {"address": "10.244.0.99", "port_value": 7777}}`, "self")}},
		"outbound to the address of a pod of IPv6 over mTLS":                   {unverified, []edit{ofIPv6, istioCluster(istioSelf("fd00::12")), istioOutbound(`{"socket_address": {"address": "fd00::99", "port_value": 7777}}`, "self")}},
		"outbound to the address of a pod of IPv6":                             {unverified, []edit{ofIPv6, istioCluster(static("self", "fd00::12", 8080)), istioOutbound(`{"socket_address": {"address": "fd00::99", "port_value": 7777}}`, "self")}},
		"outbound to another pod of IPv6 over mTLS":                            {verified, []edit{ofIPv6, istioCluster(istioSelf("fd00::13")), istioOutbound(`{"socket_address": {"address": "fd00::99", "port_value": 7777}}`, "self")}},
		"outbound to another pod by a second address over mTLS":                {verified, []edit{bothFamilies, istioCluster(istioSelf("fd00::13")), istioOutbound(`{"socket_address": {"address": "10.244.0.99", "port_value": 7777}}`, "self")}},
		"health, and all other paths":                                          {unverified, []edit{put(health+".route_config.virtual_hosts.0.routes.0.match.prefix", `"/"`)}},
		"health of another cluster":                                            {unverified, []edit{put(health+".route_config.virtual_hosts.0.routes.0.route.cluster", `"inbound|8080||"`)}},
		"health, rewritten":                                                    {unverified, []edit{put(health+".route_config.virtual_hosts.0.routes.0.route.prefix_rewrite", `"/admin"`)}},
		"health, and a script":                                                 {unverified, []edit{push(health+".http_filters", lua())}},
		"a pod of another namespace":                                           {unverified, []edit{put(istioNode+".id", `"sidecar~10.244.0.12~payments-5d4f.other~other.svc.cluster.local"`)}},
		"a pod of another namespace in the metadata":                           {unverified, []edit{put(istioNode+".metadata.NAMESPACE", `"other"`)}},
		"a pod whose name has another namespace":                               {unverified, []edit{put(istioNode+".id", `"sidecar~10.244.0.12~payments-5d4f.other~shop.svc.cluster.local"`)}},
		"a pod of no cluster":                                                  {unverified, []edit{put(istioNode+".id", `"sidecar~10.244.0.12~payments-5d4f.other~other"`)}},
		"labels in another form":                                               {unverified, []edit{put(istioNode+".metadata.LABELS", `["app=payments"]`)}},
		"a pod with another label":                                             {unverified, []edit{put(istioNode+".metadata.LABELS.app", `"other"`)}},
		"a pod with more labels":                                               {verified, []edit{put(istioNode+".metadata.LABELS.version", `"2"`)}},
		"a pod without labels in its node":                                     {verified, []edit{drop(istioNode + ".metadata.LABELS")}},
		"two ports that exchange their workloads":                              {unverified, []edit{put("0.configs.1.dynamic_active_clusters.3.cluster", static("inbound|8080||", "127.0.0.1", 6379)), put("0.configs.1.dynamic_active_clusters.4.cluster", static("inbound|6379||", "127.0.0.1", 8080))}},
		"every port leads to one":                                              {unverified, []edit{put("0.configs.1.dynamic_active_clusters.1.cluster", static("InboundPassthroughCluster", "127.0.0.1", 9102))}},
		"a port with endpoints of its own":                                     {verified, []edit{put("0.configs.1.dynamic_active_clusters.3.cluster", static("inbound|8080||", "10.244.0.12", 8080))}},
		"the port of the agent is the workload's":                              {unverified, []edit{put(shopTCP+".filter_chain_match.destination_port", `15020`)}},
		"the port of the tunnel is the workload's":                             {unverified, []edit{put(shopTCP+".filter_chain_match.destination_port", `15008`)}},
		"metadata of the node in a list":                                       {unverified, []edit{put(istioNode+".metadata", `["NAMESPACE=shop"]`)}},
		"metadata of the node as text":                                         {unverified, []edit{put(istioNode+".metadata", `"NAMESPACE=shop"`)}},
		"a node without metadata":                                              {verified, []edit{drop(istioNode + ".metadata")}},
		"the node of a gateway":                                                {unverified, []edit{put(istioNode+".id", `"router~10.244.0.12~payments-5d4f.shop~shop.svc.cluster.local"`)}},
		"a label that is a number":                                             {unverified, []edit{put(istioNode+".metadata.LABELS.version", `2`)}},
		"logs of the black hole and of a port to another machine":              {verified, []edit{loggingTo("outbound|443||kubernetes.default.svc.cluster.local")}},
		"logs of the black hole to a workload":                                 {unverified, []edit{logsOfBlackHole("inbound|8080||")}},
		"logs of the black hole to the port of a workload":                     {unverified, []edit{istioCluster(static("logs", "127.0.0.1", 8080)), logsOfBlackHole("logs")}},
		"logs of the black hole to an inbound over mTLS":                       {unverified, []edit{istioCluster(istioSelf("10.244.0.12")), logsOfBlackHole("self")}},
		"logs of the black hole to the admin interface":                        {unverified, []edit{logsOfBlackHole("prometheus_stats")}},
		"logs of the black hole to a name with the port of a workload":         {unverified, []edit{istioCluster(retyped(static("logs", "logs.example", 8080), `"type": "STRICT_DNS"`)), logsOfBlackHole("logs")}},
		"logs of the black hole to a cluster that is not there":                {unverified, []edit{logsOfBlackHole("absent")}},
		"a black hole with an endpoint":                                        {unverified, []edit{put(blackHole+".load_assignment", `{"cluster_name": "BlackHoleCluster", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}}]}]}`)}},
		"a port of no chain, open to others":                                   {differs, []edit{put(probes+".destination_port", `9103`)}},
		"a port of no chain, open to others on HTTP":                           {differs, []edit{put(istioInbound+".filter_chains.1.filters.1.typed_config.http_filters.2.typed_config.rules.policies.ns[shop]-policy[callers]-rule[2].permissions.0.and_rules.rules.0.or_rules.rules.0.destination_port", `1`)}},
		"a port that no Service has, with a mode of its own":                   {verified, []edit{ofPort(1), ofPort(2)}},
		"a port that no Service has, with a mode of its own, open to others":   {differs, []edit{ofPort(1), ofPort(2), put(istioInbound+".filter_chains.6.filters.2.typed_config.rules.policies.more", `{"permissions": [{"any": true}], "principals": [{"any": true}]}`)}},
		"a port that no Service has, beside a default for every port":          {verified, []edit{ofPort(2), copied(anyPortTCP, istioInbound+".default_filter_chain"), drop(anyPortTCP)}},
		"a port that no Service has, beside an open default for every port":    {differs, []edit{ofPort(2), copied(anyPortTCP, istioInbound+".default_filter_chain"), drop(anyPortTCP), put(istioInbound+".default_filter_chain.filters.2.typed_config.rules.policies.more", `{"permissions": [{"destination_port": 9103}], "principals": [{"any": true}]}`)}},
		"a port that no Service has, in another listener":                      {unverified, []edit{copied(istioInbound, "0.configs.3.static_listeners[]", put("name", `"more"`), put("filter_chains.2.filter_chain_match.destination_port", `9103`), drop("filter_chains.4"), drop("filter_chains.3"), drop("filter_chains.1"), drop("filter_chains.0"), listenerOf)}},
		"no chain asks for the port":                                           {differs, []edit{put(probes, `{"any": true}`)}},
		"the tcp inbound asks for no port":                                     {differs, []edit{put(shopTCP+`.filters.2.typed_config.rules.policies.ns[shop]-policy[callers]-rule[2].permissions`, `[{"any": true}]`)}},
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

// ofPort copies a chain for every port, for one that no Service has: Istio makes such chains where portLevelMtls names the port.
func ofPort(chain int) edit {
	return copied(fmt.Sprintf("%s.filter_chains.%d", istioInbound, chain), istioInbound+".filter_chains[]", put("filter_chain_match.destination_port", `9103`))
}

// handingOver makes the inbound hand redirected connections over to the listeners of their destinations.
var handingOver = put(istioInbound+".use_original_dst", `true`)

// logsOfBlackHole logs the connections to the listener's own port, which lead nowhere; loggingTo logs those to an HTTP port too, as
// Istio does where its mesh config has a provider of logs.
func logsOfBlackHole(cluster string) edit {
	return put(istioInbound+".filter_chains.0.filters.2.typed_config.access_log", `[`+toGRPC(cluster)+`]`)
}

func loggingTo(cluster string) edit {
	return func(dump any) any {
		return put(shopHTTP+".filters.1.typed_config.access_log", `[`+toGRPC(cluster)+`]`)(logsOfBlackHole(cluster)(dump))
	}
}

// besides adds an outbound listener that binds no port, a copy of the example's.
func besides(ip string, edits ...edit) edit {
	named := []edit{put("name", `"9999"`), put("address.socket_address", fmt.Sprintf(`{"address": %q, "port_value": 9999}`, ip))}
	return copied("0.configs.3.dynamic_listeners.1.active_state.listener", "0.configs.3.static_listeners[]", append(append(named, edits...), listenerOf)...)
}

// goingOn sends the connections of a listener on to where they were going.
func goingOn(listener any) any {
	for _, e := range []edit{put("use_original_dst", `true`), put("filter_chains.0.filters.1.typed_config.cluster", `"PassthroughCluster"`)} {
		listener = e(listener)
	}
	return listener
}

// withoutMetrics leaves out the listener for metrics: no listener may lead to the admin interface beside it.
func withoutMetrics(dump any) any {
	return drop("0.configs.3.static_listeners.0")(drop("0.configs.0.bootstrap.static_resources.listeners.0")(dump))
}

// twoFamilies makes the node state an address of each family, and that the connections of both are redirected.
func twoFamilies(dump any) any {
	return put(istioNode+".metadata.PROXY_CONFIG", `{"proxyMetadata": {"ISTIO_DUAL_STACK": "true"}}`)(put(instanceIPs, `"10.244.0.12,fd00::12"`)(dump))
}

// bothFamilies gives the pod a second address, and ofIPv6 gives it one of IPv6 alone.
var bothFamilies, ofIPv6 = func(dump any) any {
	return put(istioInbound+".additional_addresses", `[{"address": {"socket_address": {"address": "::", "port_value": 15006}}}]`)(twoFamilies(dump))
}, func(dump any) any {
	return put(istioInbound+".address.socket_address.address", `"::"`)(put(istioNode+".id", `"sidecar~fd00::12~payments-5d4f.shop~shop.svc.cluster.local"`)(dump))
}

// istioSelf is a cluster over mTLS of the mesh.
func istioSelf(ip string) string {
	return strings.NewReplacer("default.zone-1.mesh.local", "cluster.local", "system_trust_bundle", "ROOTCA").Replace(having(static("self", ip, 8080), meshTLS("")))
}

// inBoth edits the cluster of the agent's socket in the bootstrap, and where it stands again.
func inBoth(e edit) edit {
	return func(dump any) any {
		return editAt(editAt(dump, "0.configs.1.static_clusters.2.cluster", e), "0.configs.0.bootstrap.static_resources.clusters.2", e)
	}
}

// istioCluster adds a cluster, and istioOutbound an outbound listener that leads to one.
func istioCluster(of string) edit { return add("0.configs.1.static_clusters", `{"cluster": `+of+`}`) }

func istioOutbound(address, cluster string) edit {
	return add("0.configs.3.static_listeners", fmt.Sprintf(`{"listener": {"name": "added", "traffic_direction": "OUTBOUND", "address": %s, "filter_chains": [{"filters": [%s]}]}}`,
		address, typed("t", "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", fmt.Sprintf(`"stat_prefix": "x", "cluster": %q`, cluster))))
}

// matchedSidecar holds the example of Istio's sidecar, after some edits, against policies of a mesh
// config.
func matchedSidecar(t *testing.T, config, policies string, edits ...edit) *Verification {
	t.Helper()
	files, err := lab.Open(lab.Choice{}, policies)
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "shop", Labels: map[string]string{"app": "payments"}}, Port: 8080}
	options := language.Options{TrustDomain: spiffeid.RequireTrustDomainFromString("cluster.local")}
	if config != "" {
		docs, err := manifest.Parse("options", []byte("istio: "+config))
		if err != nil {
			t.Fatal(err)
		}
		options.Document = docs[0]
	}
	all, err := files.CasesFor(lab.Surroundings{Inbound: in, Options: options}, files.Inbounds())
	if err != nil {
		t.Fatal(err)
	}
	var parts []any
	for _, name := range []string{"config_dump.json", "runtime.json"} {
		text, err := os.ReadFile("../../examples/istio/sidecar/" + name)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, value(string(text)))
	}
	return matchedDump(t, all, files, "", parts, edits...)
}
