package examination_test

import (
	"slices"
	"testing"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

const (
	honestDeny  = `"admin": {"permissions": [{"url_path": {"path": {"prefix": "/admin"}}}], "principals": [{"any": true}]}`
	honestAllow = `"friends": {"permissions": [{"any": true}], "principals": [{"authenticated": {"principal_name": {"exact": "spiffe://trust-domain.mesh/friend"}}}]}`
)

// TestBackDoorsInFilters has filters of a compiler with a back door that package policy does not
// write by itself. Each is told: a class is decided otherwise, or a part is not verified.
func TestBackDoorsInFilters(t *testing.T) {
	t.Parallel()
	door := func(permission, principal string) string {
		return `, "door": {"permissions": [` + permission + `], "principals": [` + principal + `]}`
	}
	anyone := `{"any": true}`
	by := func(match string) string { return `{"authenticated": {"principal_name": {` + match + `}}}` }
	for name, tt := range map[string]struct {
		more string
		edit func(*xds.Filters)
	}{
		"by the inbound's port":         {more: door(`{"destination_port": 8080}`, anyone)},
		"by a range of ports":           {more: door(`{"destination_port_range": {"start": 1, "end": 8081}}`, anyone)},
		"by destination":                {more: door(`{"destination_ip": {"address_prefix": "10.1.2.3", "prefix_len": 32}}`, anyone)},
		"by a destination of IPv6":      {more: door(`{"destination_ip": {"address_prefix": "fd00::", "prefix_len": 8}}`, anyone)},
		"by any destination but one":    {more: door(`{"not_rule": {"destination_ip": {"address_prefix": "10.1.2.3", "prefix_len": 32}}}`, anyone)},
		"by server name":                {more: door(`{"requested_server_name": {"exact": "evil"}}`, anyone)},
		"by the end of a server name":   {more: door(`{"requested_server_name": {"suffix": ".evil"}}`, anyone)},
		"by an identity's end":          {more: door(anyone, by(`"suffix": "/root"`))},
		"by a part of an identity":      {more: door(anyone, by(`"contains": "evil"`))},
		"by an identity in any case":    {more: door(anyone, by(`"exact": "spiffe://trust-domain.mesh/FRIEND", "ignore_case": true`))},
		"by a longer identity":          {more: door(anyone, by(`"prefix": "spiffe://trust-domain.mesh/friend"`))},
		"by another trust domain":       {more: door(anyone, by(`"prefix": "spiffe://evil/"`))},
		"by a DNS name":                 {more: door(anyone, by(`"exact": "evil.example"`))},
		"by a subject":                  {more: door(anyone, by(`"prefix": "CN="`))},
		"by an empty name":              {more: door(anyone, by(`"exact": ""`))},
		"by a regular expression":       {more: door(anyone, by(`"safe_regex": {"regex": "spiffe://[^/]+/x[0-9]{9}"}`))},
		"by an address":                 {more: door(anyone, `{"direct_remote_ip": {"address_prefix": "203.0.113.0", "prefix_len": 24}}`)},
		"by an address of IPv6":         {more: door(anyone, `{"direct_remote_ip": {"address_prefix": "fd00::", "prefix_len": 8}}`)},
		"by any address of IPv6":        {more: door(anyone, `{"remote_ip": {"address_prefix": "::", "prefix_len": 0}}`)},
		"by no address of IPv4":         {more: door(anyone, `{"not_id": {"direct_remote_ip": {"address_prefix": "0.0.0.0", "prefix_len": 0}}}`)},
		"by a forwarded address":        {more: door(anyone, `{"remote_ip": {"address_prefix": "198.51.100.7", "prefix_len": 32}}`)},
		"by a header":                   {more: door(`{"header": {"name": "x-door", "string_match": {"exact": "open"}}}`, anyone)},
		"by a header that is not there": {more: door(`{"header": {"name": "x-door", "present_match": false}}`, anyone)},
		"by a header of Envoy":          {more: door(`{"header": {"name": "x-envoy-internal", "present_match": true}}`, anyone)},
		"by a number in a header":       {more: door(`{"header": {"name": "x-n", "range_match": {"start": 5, "end": 6}}}`, anyone)},
		"by a cookie":                   {more: door(`{"header": {"name": "cookie", "string_match": {"contains": "door=1"}}}`, anyone)},
		"by a method in lower case":     {more: door(`{"header": {"name": ":method", "string_match": {"exact": "get"}}}`, anyone)},
		"by a path in lower case":       {more: door(`{"url_path": {"path": {"prefix": "/DOOR", "ignore_case": true}}}`, anyone)},
		"by the query":                  {more: door(`{"header": {"name": ":path", "string_match": {"suffix": "?door"}}}`, anyone)},
		"by a template":                 {more: door(`{"uri_template": {"name": "t", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "path_template": "/a/{x}/door"}}}`, anyone)},
		"by metadata":                   {more: door(anyone, `{"metadata": {"filter": "x", "path": [{"key": "y"}], "value": {"present_match": true}}}`)},
		"by the state of a filter":      {more: door(anyone, `{"filter_state": {"key": "x", "string_match": {"exact": "y"}}}`)},
		"by a certificate of any name":  {more: door(anyone, `{"authenticated": {}}`)},
		"by an or of nothing, negated":  {more: door(anyone, `{"not_id": {"and_ids": {"ids": [{"any": true}, {"not_id": {"any": true}}]}}}`)},
		"by a matcher of the upstream":  {more: door(`{"matcher": {"name": "u", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher"}}}`, anyone)},
		"by a condition":                {more: `, "door": {"permissions": [{"any": true}], "principals": [{"any": true}], "condition": {"const_expr": {"bool_value": true}}}`},
		"by a route of a path":          {edit: routed(`{"prefix": "/door"}`)},
		"by a route of a header":        {edit: routed(`{"prefix": "/", "headers": [{"name": "x-door", "present_match": true}]}`)},
		"by a route of a method":        {edit: routed(`{"prefix": "/", "headers": [{"name": ":method", "string_match": {"exact": "PURGE"}}]}`)},
		"by a route of a parameter":     {edit: routed(`{"prefix": "/", "query_parameters": [{"name": "door", "string_match": {"exact": "1"}}]}`)},
		"by a route of a cookie":        {edit: routed(`{"prefix": "/", "cookies": [{"name": "door", "string_match": {"exact": "1"}}]}`)},
		"by a route by chance":          {edit: routed(`{"prefix": "/", "runtime_fraction": {"default_value": {"numerator": 1}}}`)},
		"by a route of any case":        {edit: routed(`{"path": "/Door", "case_sensitive": false}`)},
		"by a route of what is no path": {edit: routed(`{"prefix": "*"}`)},
		"routes only":                   {edit: func(f *xds.Filters) { f.RoutesOnly = true }},
		"by a route in two ways":        {edit: routed(`{"safe_regex": {"regex": "/.*|[*]"}}`)},
		"by a route of anything":        {edit: routed(`{"prefix": ""}`)},
		"no TLS":                        {edit: func(f *xds.Filters) { f.MTLS = xds.Disable }},
		"another normalization":         {edit: func(f *xds.Filters) { f.Normalization = &policy.PathNormalization{Raw: true} }},
		"a filter that only observes": {edit: func(f *xds.Filters) {
			f.HTTP = f.HTTP[1:]
			f.HTTP[0].ShadowRules, f.HTTP[0].Rules = f.HTTP[0].Rules, nil
		}},
		"a deny that logs":              {edit: func(f *xds.Filters) { f.HTTP[0].Rules.Action = 2 }},
		"no deny":                       {edit: func(f *xds.Filters) { f.HTTP = f.HTTP[1:] }},
		"an allow of connections alone": {edit: func(f *xds.Filters) { f.Network = []*networkrbacv3.RBAC{{Rules: f.HTTP[1].Rules}}; f.HTTP = f.HTTP[:1] }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reading, err := verdict.Read(casetest.Parse(t, named))
			if err != nil {
				t.Fatal(err)
			}
			var f xds.Filters
			for _, text := range []string{`{"rules": {"action": "DENY", "policies": {` + honestDeny + `}}}`, `{"rules": {"policies": {` + honestAllow + tt.more + `}}}`} {
				filter := &httprbacv3.RBAC{}
				if err := protojson.Unmarshal([]byte(text), filter); err != nil {
					t.Fatal(err)
				}
				f.HTTP = append(f.HTTP, filter)
			}
			if tt.edit != nil {
				tt.edit(&f)
			}
			x := examination.Examine(reading, []xds.Filters{f}, true, 2)
			asked := slices.ContainsFunc(x.Questions, func(q examination.Question) bool { return q.Policies.Effect != q.Filters.Effect })
			if x.Differing == 0 && len(x.Unread) == 0 && !asked {
				t.Errorf("the back door is not told, among %d classes", x.Classes)
			}
		})
	}
}

// routed adds a route that has no rules.
func routed(match string) func(*xds.Filters) {
	return func(f *xds.Filters) {
		m := &routev3.RouteMatch{}
		if err := protojson.Unmarshal([]byte(match), m); err != nil {
			panic(err)
		}
		open := &httprbacv3.RBAC{}
		f.Routes = []xds.Route{{Name: "door", Match: m, HTTP: []*httprbacv3.RBAC{proto.CloneOf(open), proto.CloneOf(open)}}}
	}
}
