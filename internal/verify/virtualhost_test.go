package verify

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
)

// gatewayDump is a listener in the form of Envoy Gateway: an RBAC filter that lets everybody
// pass, and virtual hosts with a filter of their own for each route.
func gatewayDump(hosts ...string) string {
	return `{"name": "gateway/eg/http", "traffic_direction": "INBOUND", "address": {"socket_address": {"address": "10.0.0.7", "port_value": 10080}}, "default_filter_chain": {"filters": [
	{"name": "http", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "stat_prefix": "http-10080", "use_remote_address": true,
	"normalize_path": true, "merge_slashes": true, "path_with_escaped_slashes_action": "UNESCAPE_AND_REDIRECT",
	"route_config": {"name": "eg", "ignore_port_in_host_matching": true, "virtual_hosts": [` + strings.Join(hosts, ", ") + `]},
	"http_filters": [
		{"name": "envoy.filters.http.rbac", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC"}},
		{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}]}}`
}

// guarded is a virtual host whose route lets in requests with a header from a block of addresses.
func guarded(domain, role, block string) string {
	const inputs = "type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.SourceIPInput"
	single := func(input, match string) string {
		return `{"single_predicate": {"input": {"name": "in", "typed_config": ` + input + `}, ` + match + `}}`
	}
	both := single(`{"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "x-role"}`, `"value_match": {"exact": "`+role+`"}`) + ", " +
		single(`{"@type": "`+inputs+`"}`, `"custom_match": {"name": "ip", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.matching.input_matchers.ip.v3.Ip", "stat_prefix": "c", "cidr_ranges": [{"address_prefix": "`+block+`", "prefix_len": 8}]}}`)
	action := func(name, effect string) string {
		return `{"action": {"name": "` + name + `", "typed_config": {"@type": "type.googleapis.com/envoy.config.rbac.v3.Action", "name": "` + name + `", "action": "` + effect + `"}}}`
	}
	return `{"name": "` + domain + `", "domains": ["` + domain + `"], "routes": [{"name": "all", "match": {"prefix": "/"}, "route": {"cluster": "backend"}, "typed_per_filter_config": {"envoy.filters.http.rbac": {
		"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute", "rbac": {"matcher": {
			"matcher_list": {"matchers": [{"predicate": {"and_matcher": {"predicate": [` + both + `]}}, "on_match": ` + action("allow-"+role, "ALLOW") + `}]},
			"on_no_match": ` + action("default", "DENY") + `}}}}}]}`
}

// TestGatewayVirtualHosts reads a gateway with virtual hosts by authority: each request is judged
// by the filter of its own host.
func TestGatewayVirtualHosts(t *testing.T) {
	t.Parallel()
	found, err := sidecar.Dump([]byte(gatewayDump(guarded("www.example.com", "user", "10.0.0.0"), guarded("*.example.com", "admin", "192.0.0.0"))))
	if err != nil || len(found.Inbounds) != 1 {
		t.Fatalf("%v: %+v", err, found)
	}
	in := found.Inbounds[0]
	program, lost := in.Program()
	if in.Incomplete || len(lost) > 0 {
		t.Fatalf("incomplete %t, lost %q, unknown %q", in.Incomplete, lost, found.Unknown)
	}
	for _, tt := range []struct{ host, role, source, want string }{
		{"www.example.com", "user", "10.1.1.1", "allow-user"},
		{"WWW.example.com:443", "user", "10.1.1.1", "allow-user"},
		{"www.example.com", "admin", "192.1.1.1", "default"},
		{"www.example.com", "user", "192.1.1.1", "default"},
		{"api.example.com", "admin", "192.1.1.1", "allow-admin"},
		{"api.example.com:8080", "user", "10.1.1.1", "default"},
		{"www.www.example.com", "user", "10.1.1.1", "default"},
		// No virtual host takes it: the gateway answers 404 behind its filters.
		{"example.com", "user", "10.1.1.1", ""},
		{"www.example.com.evil", "user", "10.1.1.1", ""},
	} {
		got := policy.Decide(program, policy.Request{Host: tt.host, Method: "GET", Path: "/", Source: netip.MustParseAddr(tt.source), Headers: []policy.Header{{Name: "x-role", Value: tt.role}}})
		if got.Origin != tt.want {
			t.Errorf("%s as %s from %s: %q decides, want %q", tt.host, tt.role, tt.source, got.Origin, tt.want)
		}
	}
	v, err := match(t, somePolicy, false, found)
	if err != nil || len(v.Replays) != 1 {
		t.Fatalf("%v: %+v", err, v)
	}
	hosts := map[string]bool{}
	for _, asked := range v.Replays[0].Proof.Asked() {
		hosts[asked.Seen.Host] = true
	}
	if !v.Replays[0].Proof.Inbounds[0].Cover.Complete() || len(hosts) < 3 {
		t.Errorf("cover %s, asked hosts %v", v.Replays[0].Proof.Inbounds[0].Cover, hosts)
	}
}
