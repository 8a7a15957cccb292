package sidecar

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/dump"
)

// The report names everything that is not understood, with its place and its effect.
func TestUnknown(t *testing.T) {
	t.Parallel()
	at := `listener "in": filter chain "c": `
	for name, tt := range map[string]struct {
		filters string // of one chain, separated by commas
		want    []string
		// guards is the number of RBAC filters that are read; lost is set if there are more.
		guards int
		lost   bool
	}{
		"all is understood":            {filters: l4(matching(identity, onMatch)), guards: 1},
		"our own observer":             {filters: filter(observerName, networkRBAC, `"stat_prefix": "s", "shadow_rules": {}`) + "," + l4(denyAll), guards: 1},
		"another filter with its name": {filters: filter(observerName, networkRBAC, `"stat_prefix": "s", `+denyAll), guards: 1},
		"input of an unknown type": {
			filters: l4(matching(asking("acme.Input", ""), onMatch)), lost: true,
			want: []string{"lost " + at + `filter "rbac": matcher.matcher_list.matchers[0].predicate.single_predicate.input.typed_config: type.googleapis.com/acme.Input: meshproof does not know this type`},
		},
		"input without a type": {
			filters: l4(matching(`{"input": {"name": "x", "typed_config": {}}, "value_match": {"exact": "a"}}`, onMatch)), lost: true,
			want: []string{"lost " + at + `filter "rbac": matcher.matcher_list.matchers[0].predicate.single_predicate.input.typed_config: it has no type`},
		},
		"input that no policy has": {
			filters: l4(matching(asking("envoy.extensions.matching.common_inputs.network.v3.FilterStateInput", `, "key": "k"`), onMatch)), guards: 1,
			want: []string{"opaque " + at + `filter "rbac": matcher.matcher_list.matchers[0].predicate.single_predicate.input.typed_config: type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.FilterStateInput: no policy can ask for this`},
		},
		"server name without a TLS inspector": {
			filters: l4(matching(asking("envoy.extensions.matching.common_inputs.network.v3.ServerNameInput", ""), onMatch)), guards: 1,
			want: []string{"beside " + at[:len(at)-2] + ": a filter asks for the server name (SNI), and the listener has no TLS inspector that reads every handshake: Envoy knows no server name then, and no caller matches"},
		},
		"permission for a server name without a TLS inspector": {
			filters: l4(`"rules": {"policies": {"p": {"permissions": [{"requested_server_name": {"exact": "a"}}], "principals": [{"any": true}]}}}`), guards: 1,
			want: []string{"beside " + at[:len(at)-2] + ": a filter asks for the server name (SNI), and the listener has no TLS inspector that reads every handshake: Envoy knows no server name then, and no caller matches"},
		},
		"custom matcher": {
			filters: manager("", l7(matching(`{"input": {"name": "cel", "typed_config": {"@type": "type.googleapis.com/xds.type.matcher.v3.HttpAttributesCelMatchInput"}},
				"custom_match": {"name": "cel", "typed_config": {"@type": "type.googleapis.com/xds.type.matcher.v3.CelMatcher"}}}`, onMatch))), guards: 1,
			want: []string{
				"opaque " + at + `filter "rbac": matcher.matcher_list.matchers[0].predicate.single_predicate.input.typed_config: type.googleapis.com/xds.type.matcher.v3.HttpAttributesCelMatchInput: no policy can ask for this`,
				"opaque " + at + `filter "rbac": matcher.matcher_list.matchers[0].predicate.single_predicate.custom_match.typed_config: type.googleapis.com/xds.type.matcher.v3.CelMatcher: no policy can ask for this`,
			},
		},
		"action LOG of rules": {
			filters: l4(`"rules": {"action": "LOG"}`), guards: 1,
			want: []string{"note " + at + `filter "rbac": rules: action LOG refuses no request`},
		},
		"action LOG of a matcher": {
			filters: l4(matching(identity, strings.Replace(onMatch, `"name": "p"`, `"name": "p", "action": "LOG"`, 1))), guards: 1,
			want: []string{"note " + at + `filter "rbac": matcher.matcher_list.matchers[0].on_match.action.typed_config: action LOG refuses no request`},
		},
		"action of another kind": {
			filters: l4(matching(identity, `"on_match": {"action": {"name": "x", "typed_config": {"@type": "type.googleapis.com/acme.Action"}}}`)), lost: true,
			want: []string{"lost " + at + `filter "rbac": matcher.matcher_list.matchers[0].on_match.action.typed_config: type.googleapis.com/acme.Action: meshproof does not know this type`},
		},
		"keep_matching": {
			filters: l4(matching(identity, strings.Replace(onMatch, `{"action"`, `{"keep_matching": true, "action"`, 1))), guards: 1,
			want: []string{"opaque " + at + `filter "rbac": matcher.matcher_list.matchers[0].on_match: keep_matching: Envoy refuses it in an RBAC filter`},
		},
		"CEL": {
			filters: l4(policies(anybody, anybody, `, "condition": {"id": "1", "ident_expr": {"name": "request"}}`)), guards: 1,
			want: []string{"opaque " + at + `filter "rbac": rules.policies["p"]: a condition in CEL`},
		},
		"filter state": {
			filters: l4(policies(anybody, `{"filter_state": {"key": "k", "string_match": {"exact": "v"}}}`, "")), guards: 1,
			want: []string{"opaque " + at + `filter "rbac": rules.policies["p"].principals[0].filter_state: it asks for filter state, which another filter writes`},
		},
		"deprecated field": {
			filters: l4(policies(anybody, `{"source_ip": {"address_prefix": "10.0.0.0", "prefix_len": 8}}`, "")), guards: 1,
			want: []string{"opaque " + at + `filter "rbac": rules.policies["p"].principals[0]: field "source_ip" of Principal is deprecated: Envoy may refuse it`},
		},
		"principal of an unknown type": {
			filters: l4(policies(anybody, `{"custom": {"name": "x", "typed_config": {"@type": "type.googleapis.com/acme.Principal"}}}`, "")), lost: true,
			want: []string{"lost " + at + `filter "rbac": rules.policies["p"].principals[0].custom.typed_config: type.googleapis.com/acme.Principal: meshproof does not know this type`},
		},
		"rules beside a matcher": {
			filters: l4(denyAll + ", " + matching(identity, onMatch)), guards: 1,
			want: []string{"opaque " + at + `filter "rbac": rules beside a matcher: Envoy judges by the matcher`},
		},
		"field of a later API in RBAC": {
			filters: l4(denyAll + `, "exempt": {"any": true}`), guards: 1, lost: true,
			want: []string{"lost " + at + `filter_chains[0].filters[0].typed_config: field "exempt" is none that RBAC has here`},
		},
		"enumerator of a later API in RBAC": {
			filters: l4(`"rules": {"action": "ASK"}`), guards: 1, lost: true,
			want: []string{"lost " + at + `filter_chains[0].filters[0].typed_config.rules.action: ASK is none that Action has here`},
		},
		"field of a later API around RBAC": {
			filters: manager(`"secret_sauce": 1,`, l7(denyAll)), guards: 1,
			want: []string{"beside " + at + `filter_chains[0].filters[0].typed_config: field "secret_sauce" is none that HttpConnectionManager has here`},
		},
		"typed struct": {
			filters: filter("rbac", "xds.type.v3.TypedStruct", `"type_url": "type.googleapis.com/`+networkRBAC+`", "value": {"stat_prefix": "s", "rules": {}}`), guards: 1,
		},
		"typed struct of an unknown type": {
			filters: filter("x", "udpa.type.v1.TypedStruct", `"type_url": "type.googleapis.com/acme.Filter", "value": {"rules": {}}`),
			want: []string{
				"beside " + at + `filter "x": type.googleapis.com/acme.Filter: meshproof does not know what this filter does`,
				"exposed " + at + `its callers, or something that meshproof does not read, choose the cluster`,
			},
		},
		"Cilium's filters": {
			filters: filter("cilium.network", "cilium.NetworkFilter", "") + "," + manager("", filter("cilium.l7policy", "cilium.L7Policy", "")),
			want: []string{
				"beside " + at + `filter "cilium.network": type.googleapis.com/cilium.NetworkFilter: it decides by policies that Cilium's agent gives it, and no dump has them`,
				"beside " + at + `filter "cilium.l7policy": type.googleapis.com/cilium.L7Policy: it decides by policies that Cilium's agent gives it, and no dump has them`,
				"exposed " + at + `its callers, or something that meshproof does not read, choose the cluster`,
			},
		},
		"network filters": {
			filters: filter("authz", "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz", "") + "," + l4(denyAll) + "," + filter("x", "acme.Filter", ""), guards: 1,
			want: []string{
				"beside " + at + `filter "authz": type.googleapis.com/envoy.extensions.filters.network.ext_authz.v3.ExtAuthz: it asks another service for its verdict; it stands in front of RBAC`,
				"beside " + at + `filter "x": type.googleapis.com/acme.Filter: meshproof does not know what this filter does; it stands behind RBAC`,
				"exposed " + at + `its callers, or something that meshproof does not read, choose the cluster`,
			},
		},
		"HTTP filters": {
			filters: manager("", filter("jwt", "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication", ""), filter("lua", "envoy.extensions.filters.http.lua.v3.Lua", ""), l7(denyAll)), guards: 1,
			want: []string{
				"beside " + at + `filter "jwt": type.googleapis.com/envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication: it refuses requests without a sound token; it stands in front of RBAC`,
				"beside " + at + `filter "lua": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua: it runs a script, which may answer or change the request; it stands in front of RBAC`,
			},
		},
		"RBAC within another filter": {
			filters: manager("", filter("m", "envoy.extensions.common.matching.v3.ExtensionWithMatcher", "")), lost: true,
			want: []string{"lost " + at + `filter "m": type.googleapis.com/envoy.extensions.common.matching.v3.ExtensionWithMatcher: it runs other filters under conditions of its own`},
		},
		"filters without configuration": {
			filters: `{"name": "envoy.filters.network.rbac"}`, lost: true,
			want: []string{
				"lost " + at + `filter "envoy.filters.network.rbac": it has no configuration`,
				"exposed " + at + `its callers, or something that meshproof does not read, choose the cluster`,
			},
		},
		"RBAC by discovery that is not there": {
			filters: manager("", discovered("rbac", httpRBAC)), lost: true,
			want: []string{"lost " + at + `filter "rbac": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC: its configuration comes by discovery and is not there`},
		},
		"disabled RBAC": {
			filters: manager("", strings.Replace(l7(denyAll), `{"name"`, `{"disabled": true, "name"`, 1)),
			want:    []string{"note " + at + `filter "rbac": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC: an RBAC filter that is disabled: it judges only where a route enables it`},
		},
		"upgrades": {
			filters: manager(`"upgrade_configs": [{"upgrade_type": "websocket", "filters": [`+filter("router", router, "")+`]}],`, l7(denyAll)), guards: 1, lost: true,
			want: []string{"lost " + at + `filter "hcm": requests that upgrade to "websocket" pass other filters`},
		},
		"settings": {
			filters: manager(`"xff_num_trusted_hops": 1, "local_reply_config": {}, "early_header_mutation_extensions": [{}], "codec_type": "HTTP3", "path_with_escaped_slashes_action": "UNESCAPE_AND_REDIRECT",`, l7(denyAll)), guards: 1,
			want: []string{
				"beside " + at + `filter "hcm": it speaks HTTP/3, which the lab does not`,
				"note " + at + `filter "hcm": path_with_escaped_slashes_action UNESCAPE_AND_REDIRECT: a path with escaped slashes is redirected, taken for forwarded`,
				"beside " + at + `filter "hcm": early_header_mutation_extensions: early_header_mutation_extensions of HttpConnectionManager is not known to be harmless`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readDump(t, []byte(wholeDump(serving(tt.filters))))
			var got []string
			for _, u := range s.Unknown {
				got = append(got, u.Kind.String()+" "+u.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			in := s.Inbounds[0]
			if len(in.Guards) != tt.guards || len(in.Filters.Network)+len(in.Filters.HTTP) != tt.guards || in.Incomplete != tt.lost {
				t.Errorf("%d guards, incomplete %t: %+v", len(in.Guards), in.Incomplete, in.Filters)
			}
			if diff := cmp.Diff(s.Unknown, s.UnknownOf(in)); diff != "" {
				t.Errorf("of the inbound (-all +its):\n%s", diff)
			}
		})
	}
}

// Not only the filters of a listener can hide its inbounds.
func TestUnknownListener(t *testing.T) {
	t.Parallel()
	tls := func(fields string) string {
		return fmt.Sprintf(`"transport_socket": {"name": "tls", "typed_config": {"@type": "type.googleapis.com/%s", %s}},`, downstreamTLS, fields)
	}
	const sound = `"require_client_certificate": true, "common_tls_context": {"combined_validation_context": {
		"default_validation_context": {"match_typed_subject_alt_names": [{"san_type": "URI", "matcher": {"prefix": "spiffe://td/"}}]},
		"validation_context_sds_secret_config": {"name": "system_trust_bundle", "sds_config": {"ads": {}}}}}`
	for name, tt := range map[string]struct {
		listener, chain string
		transport       Transport
		address         string
		want            string
	}{
		"nothing odd": {address: "10.0.0.1:80"},
		"TLS":         {chain: tls(`"common_tls_context": {}`), transport: TLS, address: "10.0.0.1:80"},
		"mTLS":        {chain: tls(sound), transport: MutualTLS, address: "10.0.0.1:80"},
		"mTLS that proves naught": {
			chain: tls(`"require_client_certificate": true`), transport: MutualTLS, address: "10.0.0.1:80",
			want: `listener "in": filter chain "c": filter "tls": common_tls_context: type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext: client certificates are demanded, but there is nothing to verify them by`,
		},
		"mTLS that trusts everybody": {
			chain:     tls(strings.Replace(sound, `"match_typed`, `"trust_chain_verification": "ACCEPT_UNTRUSTED", "match_typed`, 1)),
			transport: MutualTLS, address: "10.0.0.1:80",
			want: `listener "in": filter chain "c": filter "tls": common_tls_context.combined_validation_context.default_validation_context.trust_chain_verification: type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext: trust_chain_verification of CertificateValidationContext is not known to be harmless`,
		},
		"another transport socket": {
			chain:     `"transport_socket": {"name": "x", "typed_config": {"@type": "type.googleapis.com/acme.Socket"}},`,
			transport: OtherTransport, address: "10.0.0.1:80",
			want: `listener "in": filter chain "c": filter "x": type.googleapis.com/acme.Socket: a transport socket that is not TLS`,
		},
		"PROXY header": {
			chain: `"use_proxy_proto": true,`, address: "10.0.0.1:80",
			want: `listener "in": filter chain "c": filter_chains[0].use_proxy_proto: use_proxy_proto of FilterChain is not known to be harmless`,
		},
		"destination of the chain": {listener: `"use_original_dst": true,`, chain: `"filter_chain_match": {"destination_port": 90, "prefix_ranges": [{"address_prefix": "10.0.0.2", "prefix_len": 32}]},`, address: "10.0.0.2:90"},
		"port of no connection": {
			chain: `"filter_chain_match": {"destination_port": 90},`, address: "10.0.0.1:90",
			want: `listener "in": filter chain "c": no connection to the listener on port 80 has the port 90`,
		},
		"redirected connections":  {listener: `"use_original_dst": true,`, address: "10.0.0.1:0"},
		"a range of destinations": {chain: `"filter_chain_match": {"prefix_ranges": [{"address_prefix": "10.0.0.0", "prefix_len": 8}]},`, address: "10.0.0.1:80"},
		"listener filter": {
			listener: `"listener_filters": [` + filter("x", "acme.ListenerFilter", "") + `],`, address: "10.0.0.1:80",
			want: `listener "in": filter "x": type.googleapis.com/acme.ListenerFilter: meshproof does not know what this filter does`,
		},
		"discovery of filter chains": {
			listener: `"fcds_config": {},`, address: "10.0.0.1:80",
			want: `listener "in": filter chains come by discovery of their own (fcds_config), which is not read`,
		},
		"a matcher of filter chains": {
			listener: `"filter_chain_matcher": {},`, address: "10.0.0.1:80",
			want: `listener "in": filter_chain_matcher selects the filter chain: the addresses of its inbounds are the listener's`,
		},
		"another direction": {
			listener: `"internal_listener": {},`, address: "10.0.0.1:80",
			want: `listener "in": an internal listener: connections come from inside of Envoy`,
		},
		"field of a later API": {
			listener: `"listen_harder": true,`, address: "10.0.0.1:80",
			want: `listener "in": field "listen_harder" is none that Listener has here`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readDump(t, []byte(listening(tt.listener, tt.chain, l4(denyAll))))
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, lines(s.Unknown)); diff != "" {
				t.Errorf("unknown (-want +got):\n%s", diff)
			}
			if in := s.Inbounds[0]; in.Transport != tt.transport || in.Address.String() != tt.address {
				t.Errorf("%s, %s", in.Transport, in.Address)
			}
		})
	}
}

// A part that cannot be read does not hide the other parts.
func TestBrokenParts(t *testing.T) {
	t.Parallel()
	broken := strings.Replace(serving(), `"port_value": 80`, `"port_value": "many"`, 1)
	both := fmt.Sprintf(`{"configs": [7, {"@type": "type.googleapis.com/envoy.admin.v3.NewDump"},
		{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "static_listeners": [{"listener": %s}, {"listener": %s}]}]}`, broken, serving(l4(denyAll)))
	s := readDump(t, []byte(both))
	if len(s.Inbounds) != 1 || len(s.Inbounds[0].Guards) != 1 {
		t.Errorf("inbounds: %+v", s.Inbounds)
	}
	got := lines(s.Unknown)
	if len(got) != 3 || got[0] != "configs[0] of the dump is no object" ||
		got[1] != `type.googleapis.com/envoy.admin.v3.NewDump: configs[1] of the dump: meshproof does not know what "envoy.admin.v3.NewDump" is for` ||
		!strings.HasPrefix(got[2], `listener "in": listener not read: it is no Listener: proto: `) || s.Unknown[2].Kind != dump.Lost {
		t.Errorf("unknown: %q", got)
	}
}
