package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The mesh config and the policy that ask an authorizer about payments.
const (
	meshConfig = `{extensionProviders: [{name: opa, envoyExtAuthzGrpc: {service: opa.authz.svc.cluster.local, port: 9191, statusOnError: "503"}}]}`
	askPolicy  = `
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: ask, namespace: shop}
spec: {action: CUSTOM, provider: {name: opa}, rules: [{to: [{operation: {ports: ["8080"], paths: ["/api/pay*"]}}]}]}
`
	opaCluster = "0.configs.1.dynamic_active_clusters"
)

// What Istio puts in front of the other filters for such a policy, in its order.
var (
	askedRules = func(layer, fields, permissions string) string {
		return fmt.Sprintf(`{"name": "envoy.filters.%s.rbac", "typed_config": {"@type": "T/envoy.extensions.filters.%[1]s.rbac.v3.RBAC", %[2]s
			"shadow_rules_stat_prefix": "istio_ext_authz_", "shadow_rules": {"action": "DENY", "policies": {"istio-ext-authz-opa-ns[shop]-policy[ask]-rule[0]": {
			"permissions": [{"and_rules": {"rules": [%[3]s]}}], "principals": [{"and_ids": {"ids": [{"any": true}]}}]}}}}}`, layer, fields, permissions)
	}
	asker = func(layer, fields string) string {
		return fmt.Sprintf(`{"name": "envoy.filters.%s.ext_authz", "typed_config": {"@type": "T/envoy.extensions.filters.%[1]s.ext_authz.v3.ExtAuthz", %[2]s
			"grpc_service": {"envoy_grpc": {"cluster_name": "outbound|9191||opa.authz.svc.cluster.local", "authority": "opa.authz.svc.cluster.local"}, "timeout": "600s"},
			"transport_api_version": "V3", "filter_enabled_metadata": {"filter": "envoy.filters.%[1]s.rbac", "path": [{"key": "istio_ext_authz_shadow_effective_policy_id"}],
			"value": {"string_match": {"prefix": "istio-ext-authz-opa"}}}}}`, layer, fields)
	}
	onPort   = `{"or_rules": {"rules": [{"destination_port": 8080}]}}`
	onPath   = `{"or_rules": {"rules": [{"url_path": {"path": {"prefix": "/api/pay"}}}]}}`
	httpAsks = []edit{
		push(shopFilters, asker("http", `"status_on_error": {"code": "ServiceUnavailable"},`)), push(shopFilters, askedRules("http", "", onPath+","+onPort)),
		push(anyPortHTTP, asker("http", `"status_on_error": {"code": "ServiceUnavailable"},`)), push(anyPortHTTP, askedRules("http", "", onPath+","+onPort)),
	}
	tcpAsks = []edit{
		push(anyPortTCP+".filters", asker("network", `"stat_prefix": "tcp.",`)), push(anyPortTCP+".filters", askedRules("network", `"stat_prefix": "tcp.",`, onPort)),
		push(shopTCP+".filters", asker("network", `"stat_prefix": "tcp.",`)), push(shopTCP+".filters", askedRules("network", `"stat_prefix": "tcp.",`, onPort)),
	}
	itsCluster = add(opaCluster, `{"cluster": {"@type": "T/envoy.config.cluster.v3.Cluster", "name": "outbound|9191||opa.authz.svc.cluster.local", "type": "EDS",
		"eds_cluster_config": {"eds_config": {"ads": {}, "initial_fetch_timeout": "0s", "resource_api_version": "V3"}, "service_name": "outbound|9191||opa.authz.svc.cluster.local"}, `+overHTTP2+`}}`)
)

// overHTTP2 is how a cluster for gRPC speaks.
const overHTTP2 = `"typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {"@type": "T/envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "explicit_http_config": {"http2_protocol_options": {"max_concurrent_streams": 1073741824}}}}`

const anyPortHTTP = istioInbound + ".filter_chains.1.filters.1.typed_config.http_filters"

// TestAuthorizers reads a sidecar that asks an authorizer. It is verified where the authorizer is that
// of the mesh config and is asked about what the policy says, and only there.
func TestAuthorizers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text, err := os.ReadFile("../../examples/istio/policies/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "policies.yaml"), append(text, askPolicy...), 0o600); err != nil {
		t.Fatal(err)
	}
	asks, rules := shopFilters+".1.typed_config", shopFilters+".0.typed_config"
	anyPort := anyPortHTTP + ".1.typed_config"
	// Its cluster may be such that no request reaches it, which passes where the mesh config says so.
	const ofOpa = opaCluster + ".6.cluster"
	failsOpen := strings.Replace(meshConfig, `"503"`, `"503", failOpen: true`, 1)
	open := func(edits ...edit) []edit {
		all := []edit{}
		for _, filter := range []string{asks, anyPort, anyPortTCP + ".filters.1.typed_config", shopTCP + ".filters.1.typed_config"} {
			all = append(all, put(filter+".failure_mode_allow", `true`))
		}
		return append(all, edits...)
	}
	for name, tt := range map[string]struct {
		want   outcome
		config string
		edits  []edit
	}{
		"as Istio makes it":                      {verified, "", nil},
		"no authorizer is asked":                 {differs, "", []edit{drop(shopFilters + ".1"), drop(shopFilters + ".0")}},
		"without its mesh config":                {unverified, "{}", nil},
		"another service in the mesh config":     {unverified, strings.Replace(meshConfig, "opa.authz", "opa.other", 1), nil},
		"another port in the mesh config":        {unverified, strings.Replace(meshConfig, "9191", "9192", 1), nil},
		"another cluster":                        {unverified, "", []edit{put(asks+".grpc_service.envoy_grpc.cluster_name", `"outbound|443||kubernetes.default.svc.cluster.local"`)}},
		"its cluster is not there":               {unverified, "", []edit{drop(opaCluster + ".6")}},
		"its cluster leads elsewhere":            {unverified, "", []edit{put(opaCluster+".6.cluster.eds_cluster_config.service_name", `"outbound|80||evil.authz.svc.cluster.local"`)}},
		"its cluster has endpoints of its own":   {unverified, "", []edit{put(opaCluster+".6.cluster.type", `"STATIC"`)}},
		"it fails open":                          {unverified, "", []edit{put(asks+".failure_mode_allow", `true`)}},
		"another status":                         {unverified, "", []edit{drop(asks + ".status_on_error")}},
		"it is asked about less":                 {differs, "", []edit{put(rules+".shadow_rules.policies.istio-ext-authz-opa-ns[shop]-policy[ask]-rule[0].permissions.0.and_rules.rules.0.or_rules.rules.0.url_path.path.prefix", `"/api/pays"`)}},
		"it is asked about another provider":     {unverified, "", []edit{put(asks+".filter_enabled_metadata.value.string_match.prefix", `"istio-ext-authz-other"`)}},
		"it is asked by another shadow":          {unverified, "", []edit{put(rules+".shadow_rules_stat_prefix", `"istio_"`)}},
		"it is asked about some requests":        {unverified, "", []edit{put(asks+".filter_enabled", `{"default_value": {"numerator": 1}}`)}},
		"it is disabled":                         {unverified, "", []edit{put(shopFilters+".1.disabled", `true`)}},
		"a route disables it":                    {unverified, "", []edit{put(shopHTTP+".filters.1.typed_config.route_config.virtual_hosts.0.routes.0.typed_per_filter_config", `{"envoy.filters.http.ext_authz": {"@type": "T/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute", "disabled": true}}`)}},
		"a script in between":                    {unverified, "", []edit{put(shopFilters+".1", lua()), push(shopFilters, asker("http", `"status_on_error": {"code": "ServiceUnavailable"},`)), push(shopFilters, askedRules("http", "", onPath+","+onPort))}},
		"it asks behind the other filters":       {unverified, "", []edit{drop(shopFilters + ".1"), push(shopFilters, asker("http", `"status_on_error": {"code": "ServiceUnavailable"},`))}},
		"over HTTP":                              {unverified, "", []edit{drop(asks + ".grpc_service"), put(asks+".http_service", `{"server_uri": {"uri": "http://opa", "cluster": "opa", "timeout": "1s"}}`)}},
		"on tcp it is not asked":                 {differs, "", []edit{drop(anyPortTCP + ".filters.1"), drop(anyPortTCP + ".filters.0"), put(anyPortTCP+".filters.1.typed_config.rules.policies.more", `{"permissions": [{"any": true}], "principals": [{"any": true}]}`)}},
		"it fails open, as the mesh config says": {verified, failsOpen, open()},
		"it fails open at once":                  {unverified, failsOpen, open(put(asks+".grpc_service.timeout", `"0.001s"`))},
		"it fails open where the answer is long": {unverified, failsOpen, open(put(asks+".grpc_service.envoy_grpc.max_receive_message_length", `1`))},
		"another authority":                      {unverified, "", []edit{put(asks+".grpc_service.envoy_grpc.authority", `"evil.authz.svc.cluster.local"`)}},
		"metadata of its own":                    {unverified, "", []edit{put(asks+".grpc_service.initial_metadata", `[{"key": "x-allow", "value": "all"}]`)}},
		"its cluster has endpoints from a file":  {unverified, "", []edit{put(opaCluster+".6.cluster.eds_cluster_config.eds_config", `{"path_config_source": {"path": "/tmp/x"}}`)}},
		"its cluster has a filter":               {unverified, "", []edit{put(opaCluster+".6.cluster.filters", `[`+typed("x", "acme.F", "")+`]`)}},
		"its cluster has filters of HTTP":        {unverified, "", []edit{put(opaCluster+".6.cluster.typed_extension_protocol_options", `{"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {"@type": "T/envoy.extensions.upstreams.http.v3.HttpProtocolOptions", "explicit_http_config": {"http2_protocol_options": {}}, "http_filters": [`+lua()+`]}}`)}},
		"its cluster goes by another proxy":      {unverified, "", []edit{put(opaCluster+".6.cluster.transport_socket", typed("x", "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport", `"transport_socket": {"name": "r", "typed_config": {"@type": "T/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"}}`))}},
		"its cluster has an unknown socket":      {unverified, "", []edit{put(opaCluster+".6.cluster.transport_socket", typed("x", "acme.S", ""))}},
		"its cluster takes no request":           {unverified, failsOpen, open(put(opaCluster+".6.cluster.circuit_breakers", `{"thresholds": [{"max_requests": 0}]}`))},
		"it fails open, and its cluster is as Istio makes it": {verified, failsOpen, open(put(ofOpa+".circuit_breakers", `{"thresholds": [{"max_connections": 4294967295, "max_pending_requests": 4294967295, "max_requests": 4294967295, "max_retries": 4294967295, "track_remaining": true}]}`),
			put(ofOpa+".connect_timeout", `"10s"`), put(ofOpa+".lb_policy", `"LEAST_REQUEST"`), put(ofOpa+".common_lb_config", `{"locality_weighted_lb_config": {}}`))},
		"it fails open, over HTTP/1.1":                     {unverified, failsOpen, open(drop(ofOpa + ".typed_extension_protocol_options"))},
		"it fails open, from an address of nobody":         {unverified, failsOpen, open(put(ofOpa+".upstream_bind_config", `{"source_address": {"address": "240.0.0.1", "port_value": 0}}`))},
		"it fails open, without a pool":                    {unverified, failsOpen, open(put(ofOpa+".circuit_breakers", `{"thresholds": [{"max_connection_pools": 0}]}`))},
		"it fails open, with a limit of each host":         {unverified, failsOpen, open(put(ofOpa+".circuit_breakers", `{"per_host_thresholds": [{"max_connections": 1}]}`))},
		"it fails open, with an empty subset":              {unverified, failsOpen, open(put(ofOpa+".lb_subset_config", `{"fallback_policy": "NO_FALLBACK", "subset_selectors": [{"keys": ["x"]}]}`))},
		"it fails open, and is ejected":                    {unverified, failsOpen, open(put(ofOpa+".outlier_detection", `{"consecutive_5xx": 1, "max_ejection_percent": 100}`))},
		"it fails open, and a check finds it ill":          {unverified, failsOpen, open(put(ofOpa+".health_checks", `[{"timeout": "1s", "interval": "1s", "unhealthy_threshold": 1, "healthy_threshold": 1, "tcp_health_check": {}}]`))},
		"it fails open, and none is better than ill":       {unverified, failsOpen, open(put(ofOpa+".common_lb_config", `{"healthy_panic_threshold": {"value": 0}}`))},
		"it refuses, with an empty subset":                 {verified, "", []edit{put(ofOpa+".lb_subset_config", `{"fallback_policy": "NO_FALLBACK", "subset_selectors": [{"keys": ["x"]}]}`)}},
		"its cluster is two":                               {unverified, "", []edit{add("0.configs.1.static_clusters", `{"cluster": {"@type": "T/envoy.config.cluster.v3.Cluster", "name": "outbound|9191||opa.authz.svc.cluster.local", "type": "STATIC", "load_assignment": {"cluster_name": "x"}}}`)}},
		"its cluster has endpoints in itself":              {unverified, "", []edit{put(opaCluster+".6.cluster.load_assignment", `{"cluster_name": "x", "endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "10.9.9.9", "port_value": 1}}}}]}]}`)}},
		"its cluster has hosts of the caller":              {unverified, "", []edit{put(opaCluster+".6.cluster.load_balancing_policy", `{"policies": [{"typed_extension_config": `+typed("o", "envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost", "")+`}]}`)}},
		"a second filter with the same shadow":             {unverified, "", []edit{put(shopFilters+".0.typed_config.shadow_rules.policies", `{}`), push(shopFilters, askedRules("http", "", onPath+","+onPort))}},
		"a later filter with the same shadow":              {verified, "", []edit{put(shopFilters+".3.typed_config.shadow_rules_stat_prefix", `"istio_ext_authz_"`)}},
		"the shadow allows":                                {unverified, "", []edit{put(rules+".shadow_rules.action", `"ALLOW"`)}},
		"the shadow is a matcher":                          {unverified, "", []edit{drop(rules + ".shadow_rules"), put(rules+".shadow_matcher", `{}`)}},
		"a policy of the shadow with another name":         {unverified, "", []edit{put(rules+".shadow_rules.policies", `{"a": {"permissions": [{"any": true}], "principals": [{"any": true}]}}`)}},
		"a policy of the shadow with a name in front":      {unverified, "", []edit{put(rules+".shadow_rules.policies.a", `{"permissions": [{"any": true}], "principals": [{"any": true}]}`)}},
		"asked of some runtime":                            {unverified, "", []edit{put(asks+".deny_at_disable", `{"default_value": false, "runtime_key": "x"}`)}},
		"the filter changes the route":                     {unverified, "", []edit{put(asks+".clear_route_cache", `true`)}},
		"a body in part":                                   {unverified, "", []edit{put(asks+".with_request_body", `{"max_request_bytes": 1, "allow_partial_message": true}`)}},
		"a virtual host disables it":                       {unverified, "", []edit{put(shopHTTP+".filters.1.typed_config.route_config.virtual_hosts.0.typed_per_filter_config", `{"envoy.filters.http.ext_authz": {"@type": "T/envoy.config.route.v3.FilterConfig", "disabled": true}}`)}},
		"a route replaces its shadow":                      {unverified, "", []edit{put(shopHTTP+".filters.1.typed_config.route_config.virtual_hosts.0.routes.0.typed_per_filter_config", `{"envoy.filters.http.rbac": {"@type": "T/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"}}`)}},
		"over the network on tcp, another authority":       {unverified, "", []edit{put(anyPortTCP+".filters.1.typed_config.grpc_service.envoy_grpc.authority", `"evil"`)}},
		"its cluster warms with another":                   {unverified, "", []edit{add("0.configs.1.dynamic_warming_clusters", `{"cluster": {"@type": "T/envoy.config.cluster.v3.Cluster", "name": "outbound|9191||opa.authz.svc.cluster.local", "type": "STATIC"}}`)}},
		"its cluster has a field of a later API":           {unverified, "", []edit{put(opaCluster+".6.cluster.weather", `"rain"`)}},
		"its cluster finds endpoints by another extension": {unverified, "", []edit{drop(opaCluster + ".6.cluster.type"), put(opaCluster+".6.cluster.cluster_type", `{"name": "envoy.clusters.aggregate"}`)}},
		"its cluster has other sockets for some endpoints": {unverified, "", []edit{put(opaCluster+".6.cluster.transport_socket_matches", `[{"name": "x", "match": {}, "transport_socket": `+typed("x", "acme.S", "")+`}]`)}},
		"it asks by Google, too":                           {unverified, "", []edit{put(asks+".grpc_service", `{"google_grpc": {"target_uri": "opa", "stat_prefix": "x"}}`)}},
		"its name of the provider is a beginning":          {unverified, "", []edit{put(asks+".filter_enabled_metadata.value.string_match.prefix", `"istio-ext-authz-op"`)}},
		"it asks where a rule of any provider matched":     {unverified, "", []edit{put(asks+".filter_enabled_metadata.value.string_match", `{"contains": "opa"}`)}},
		"it asks twice":                                    {verified, "", []edit{push(shopFilters, asker("http", `"status_on_error": {"code": "ServiceUnavailable"},`)), push(shopFilters, askedRules("http", "", onPath+","+onPort))}},
		"an upgrade leaves it out":                         {unverified, "", []edit{put(shopHTTP+".filters.1.typed_config.upgrade_configs", `[{"upgrade_type": "websocket", "filters": [`+typed("r", "envoy.extensions.filters.http.router.v3.Router", "")+`]}]`)}},
		"on tcp it fails open":                             {unverified, "", []edit{put(anyPortTCP+".filters.1.typed_config.failure_mode_allow", `true`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := tt.config
			if config == "" {
				config = meshConfig
			}
			edits := append(append(append([]edit{itsCluster}, httpAsks...), tcpAsks...), tt.edits...)
			v := matchedSidecar(t, config, folder, edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// TestNormalizationOfMesh holds what a sidecar makes of paths against the mesh config.
func TestNormalizationOfMesh(t *testing.T) {
	t.Parallel()
	merges := []edit{put(shopHTTP+".filters.1.typed_config.merge_slashes", `true`), put(istioInbound+".filter_chains.1.filters.1.typed_config.merge_slashes", `true`)}
	for name, tt := range map[string]struct {
		want   outcome
		config string
		edits  []edit
	}{
		"the default of both":         {verified, "", nil},
		"stated, and as the default":  {verified, "{normalization: BASE}", nil},
		"stated, and as the sidecar":  {verified, "{normalization: MERGE_SLASHES}", merges},
		"another than the default":    {unverified, "", merges},
		"another than what is stated": {unverified, "{normalization: MERGE_SLASHES}", nil},
		"none":                        {unverified, "", []edit{drop(shopHTTP + ".filters.1.typed_config.normalize_path")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, tt.config, "../../examples/istio/policies", tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}
