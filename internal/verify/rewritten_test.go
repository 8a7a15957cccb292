package verify

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/xds"
)

// A listener may change a request before any filter sees it. The policies' own filters then
// decide otherwise than the policies, and the lab's listener does not show it.
func TestRewritten(t *testing.T) {
	t.Parallel()
	const (
		common = manager + ".common_http_protocol_options"
		old    = manager + ".http_protocol_options"
	)
	sni := `when: [{key: connection.sni, values: [shop.example]}]`
	inspector := push(listener+".listener_filters", typed("t", "envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector", ""))
	ofHost := `to: [{operation: {hosts: [shop.example]}}]`
	asks := func(header string) string {
		return fmt.Sprintf(`when: [{key: "request.headers[%s]", values: [a]}]`, header)
	}
	for name, tt := range map[string]struct {
		rule  string
		want  outcome
		edits []edit
	}{
		"a host":                                     {ofHost, verified, nil},
		"a host without its own port":                {ofHost, unverified, []edit{put(manager+".strip_matching_host_port", `true`)}},
		"a host without any port":                    {ofHost, unverified, []edit{put(manager+".strip_any_host_port", `true`)}},
		"a host without a dot at its end":            {ofHost, unverified, []edit{put(manager+".strip_trailing_host_dot", `true`)}},
		"a host for HTTP/1.0":                        {ofHost, unverified, []edit{put(old, `{"accept_http_10": true, "default_host_for_http_10": "shop.example"}`)}},
		"HTTP/1.0 without a host":                    {ofHost, verified, []edit{put(old, `{"accept_http_10": true}`)}},
		"a header":                                   {asks("x-role"), verified, nil},
		"a header, and ports of hosts":               {asks("x-role"), verified, []edit{put(manager+".strip_any_host_port", `true`)}},
		"a header with an underscore":                {asks("x_role"), verified, nil},
		"a header with an underscore, dropped":       {asks("x_role"), unverified, []edit{put(common, `{"headers_with_underscores_action": "DROP_HEADER"}`)}},
		"another header than one dropped":            {asks("x-role"), verified, []edit{put(common, `{"headers_with_underscores_action": "DROP_HEADER"}`)}},
		"a user agent":                               {asks("User-Agent"), verified, nil},
		"a user agent of Envoy":                      {asks("User-Agent"), unverified, []edit{put(manager+".add_user_agent", `true`)}},
		"a header that Envoy adds to":                {asks("via"), unverified, []edit{put(manager+".via", `"proxy"`)}},
		"a port that Envoy adds":                     {asks("x-forwarded-port"), unverified, []edit{put(manager+".append_x_forwarded_port", `true`)}},
		"the number of a request":                    {asks("x-request-id"), unverified, nil},
		"a header that a route adds":                 {asks("x-role"), unverified, []edit{put(route+".request_headers_to_add", `[{"header": {"key": "X-Role", "value": "a"}}]`)}},
		"a header that all routes remove":            {asks("x-role"), unverified, []edit{put(routes+".request_headers_to_remove", `["x-role"]`)}},
		"a header that a cluster adds":               {asks("x-role"), unverified, []edit{put(route+".route", `{"weighted_clusters": {"clusters": [{"name": "self_inbound_dp_http-port", "weight": 1, "request_headers_to_add": [{"header": {"key": "x-role", "value": "a"}}]}]}}`)}},
		"another header than one added":              {asks("x-role"), verified, []edit{put(host+".request_headers_to_add", `[{"header": {"key": "x-other", "value": "a"}}]`)}},
		"a header of the inside":                     {asks("x-role"), unverified, []edit{put(routes+".internal_only_headers", `["X-Role"]`)}},
		"another header of the inside":               {asks("x-role"), verified, []edit{put(routes+".internal_only_headers", `["x-other"]`)}},
		"a header of the inside, by discovery":       {asks("x-role"), unverified, []edit{byRDS(put("internal_only_headers", `["x-role"]`))}},
		"a host of the inside":                       {ofHost, unverified, []edit{put(routes+".internal_only_headers", `[":authority"]`)}},
		"a host of the inside, by its old name":      {ofHost, unverified, []edit{put(routes+".internal_only_headers", `["Host"]`)}},
		"a server name without an inspector":         {sni, unverified, nil},
		"a server name":                              {sni, verified, []edit{inspector}},
		"a server name, read until the time is over": {sni, unverified, []edit{inspector, put(listener+".continue_on_listener_filters_timeout", `true`)}},
		"a server name, read without an end":         {sni, verified, []edit{inspector, put(listener+".continue_on_listener_filters_timeout", `true`), put(listener+".listener_filters_timeout", `"0s"`)}},
		"a server name, unless it is long":           {sni, unverified, []edit{inspector, put(listener+".listener_filters.0.typed_config.max_client_hello_size", `100`)}},
		"a server name, unless a rule says no":       {sni, unverified, []edit{inspector, put(listener+".listener_filters.0.filter_disabled", `{"any_match": true}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedIstio(t, fmt.Sprintf("{rules: [{%s}]}", tt.rule), tt.edits...)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q, unknown %q", got, tt.want, lines(v.Unverified), lines(v.sidecar.Unknown))
			}
		})
	}
}

// matchedIstio holds the example's dump, with the filters of an AuthorizationPolicy and some
// edits, against that policy.
func matchedIstio(t *testing.T, spec string, edits ...edit) *Verification {
	t.Helper()
	files := files(t, "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: p, namespace: default}\nspec: "+spec+"\n")
	in := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "default"}, Port: 8080, Protocol: policy.HTTP}
	all, err := files.CasesFor(lab.Surroundings{Inbound: in}, files.Inbounds())
	if err != nil {
		t.Fatal(err)
	}
	set, err := dialect.Parse(all[0].Policies, all[0].Options)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := xds.Compile(set.Program(in).Program)
	if err != nil || len(compiled.HTTP) != 1 {
		t.Fatalf("%d filters: %v", len(compiled.HTTP), err)
	}
	text, err := protojson.Marshal(compiled.HTTP[0])
	if err != nil {
		t.Fatal(err)
	}
	// The inbound of TCP is left out.
	dump := drop("configs.0.dynamic_listeners.1")(exampleDump(t))
	dump = put(rbac, `{"@type": "T/envoy.extensions.filters.http.rbac.v3.RBAC", `+string(text[1:]))(dump)
	return matchedDump(t, all, files, "", dump, append(slices.Clip(edits), completed)...)
}
