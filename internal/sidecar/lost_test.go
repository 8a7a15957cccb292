package sidecar

import (
	"fmt"
	"strings"
	"testing"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// The report names conditions that no policy can have; the other conditions stay.
func TestProgramLost(t *testing.T) {
	t.Parallel()
	const (
		web      = `{"authenticated": {"principal_name": {"exact": "spiffe://td/web"}}}`
		uri      = `a URI SAN = "spiffe://td/web"`
		template = `{"uri_template": {"name": "t", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "path_template": "/api/*/x"}}}`
		header   = `{"input": {"name": "h", "typed_config": {"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "`
	)
	on := func(filters string) string { return serving(manager("", filters)) }
	for name, tt := range map[string]struct {
		listener string
		// asks are the conditions of the first gate; "" if there is none.
		asks string
		lost []string
	}{
		"port of the inbound":     {listener: serving(l4(policies(`{"destination_port": 80}`, web, "")))},
		"another port":            {listener: serving(l4(policies(`{"destination_port_range": {"start": 81, "end": 90}}`, web, "")))},
		"path of a connection":    {listener: serving(l4(policies(`{"url_path": {"path": {"exact": "/a"}}}`, web, "")))},
		"anybody who speaks TLS":  {listener: serving(l4(policies(anybody, `{"authenticated": {}}`, "")))},
		"path of whole segments":  {listener: on(l7(policies(`{"or_rules": {"rules": [{"url_path": {"path": {"exact": "/a"}}}, {"url_path": {"path": {"prefix": "/a/"}}}]}}`, web, "")))},
		"case that does not vary": {listener: on(l7(policies(`{"url_path": {"path": {"exact": "/1", "ignore_case": true}}}`, web, "")))},
		"case":                    {listener: on(l7(policies(`{"url_path": {"path": {"exact": "/a", "ignore_case": true}}}`, web, "")))},
		"address": {
			listener: serving(l4(policies(anybody, web+`, {"direct_remote_ip": {"address_prefix": "10.0.0.0"}}`, ""))),
		},
		"nothing but an address": {
			listener: serving(l4(policies(anybody, `{"direct_remote_ip": {"address_prefix": "10.0.0.0"}}`, ""))),
		},
		"CEL": {
			listener: serving(l4(policies(anybody, web, `, "condition": {"id": "1", "ident_expr": {"name": "request"}}`))),
			asks:     uri,
			lost:     []string{`network[0].rules.policies["p"]: no policy has a condition in CEL`},
		},
		"template": {listener: on(l7(policies(template, web, "")))},
		"template with a star in a name": {
			listener: on(l7(policies(strings.Replace(template, "/*/x", "/a*", 1), web, ""))),
			asks:     `path under "/api/" and ` + uri,
			lost:     []string{`http[0].rules.policies["p"].permissions[0].uri_template: its template cannot be read`},
		},
		"template without wildcards": {listener: on(l7(policies(strings.Replace(template, "/*/", "/", 1), web, "")))},
		"suffixes":                   {listener: on(l7(policies(`{"not_rule": {"url_path": {"path": {"suffix": "a"}}}}, {"url_path": {"path": {"suffix": "b"}}}`, web, "")))},
		"regular expression": {
			listener: serving(l4(matching(strings.Replace(identity, `"exact": "spiffe://a/b"`, `"safe_regex": {"regex": "spiffe://a/.*/b"}`, 1), onMatch))),
		},
		"regular expression beyond ASCII": {
			listener: serving(l4(matching(strings.Replace(identity, `"exact": "spiffe://a/b"`, `"safe_regex": {"regex": "spiffe://a/[é].*"}`, 1), onMatch))),
			asks:     `identity starts with "spiffe://a/é"`,
			lost:     []string{`network[0].matcher.matcher_list.matchers[0].predicate.single_predicate: releases of Envoy read its regular expression differently, or it is too large`},
		},
		"path with its query": {
			listener: on(l7(matching(header+`:path"}}, "value_match": {"exact": "/a"}}`, onMatch))),
		},
		"header": {
			listener: on(l7(matching(header+`x-user"}}, "value_match": {"exact": "a"}}`, onMatch))),
		},
		"server name": {
			listener: serving(l4(matching(asking("envoy.extensions.matching.common_inputs.network.v3.ServerNameInput", ""), onMatch))),
		},
		"port of a matcher": {
			listener: serving(l4(matching(strings.Replace(asking("envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput", ""), "spiffe://a/b", "80", 1), onMatch))),
		},
		"matcher below a lost matcher": {
			listener: on(l7(matching(asking("envoy.extensions.matching.common_inputs.network.v3.TransportProtocolInput", ""), `"on_match": {"matcher": {"matcher_list": {"matchers": [{"predicate": {"single_predicate": `+identity+`}, `+onMatch+`}]}}}`))),
			asks:     `identity = "spiffe://a/b"`,
			lost:     []string{`http[0].matcher.matcher_list.matchers[0].predicate.single_predicate: no policy can ask for a TransportProtocolInput`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, lost := readDump(t, []byte(wholeDump(tt.listener))).Inbounds[0].Program()
			if diff := cmp.Diff(tt.lost, lost); diff != "" {
				t.Errorf("lost (-want +got):\n%s", diff)
			}
			asks := ""
			if len(p.Gates) > 1 {
				for _, rule := range p.Gates[0].Rules {
					asks += rule.When.String()
				}
			}
			if asks != tt.asks {
				t.Errorf("it asks %q, want %q, of the program:\n%s", asks, tt.asks, p)
			}
		})
	}
}

// Several filters of a layer become several gates, and a filter that only logs becomes a
// gate that logs. A shadow has the name of its prefix, or of its place if two share a prefix.
func TestProgramOfSeveralFilters(t *testing.T) {
	t.Parallel()
	admin, rules := adminTemplate, func(action, permission string) string {
		return `{"action": "` + action + `", "policies": {"p": {"permissions": [` + permission + `], "principals": [{"any": true}]}}}`
	}
	filters := []string{
		`"rules": ` + rules("LOG", `{"any": true}`),
		`"rules": ` + rules("DENY", `{"any": true}`) + `, "shadow_rules": ` + rules("DENY", `{"any": true}`) + `, "shadow_rules_stat_prefix": "istio_dry_run_deny_"`,
		`"shadow_rules": ` + rules("ALLOW", `{"any": true}`) + `, "shadow_rules_stat_prefix": "istio_dry_run_allow_"`,
		`"rules": {}, "shadow_rules": ` + rules("LOG", admin) + `, "shadow_rules_stat_prefix": "istio_dry_run_allow_"`,
	}
	chain := []string{l4(`"rules": {"action": "DENY"}, "shadow_rules": {}`)}
	var http []string
	for i, f := range filters {
		http = append(http, filter(fmt.Sprint("rbac", i), httpRBAC, f))
	}
	chain = append(chain, manager("", strings.Join(http, ",")))
	p, lost := readDump(t, []byte(wholeDump(serving(chain...)))).Inbounds[0].Program()
	const want = `gate of named rules L4
  else allow
gate of named rules L7
  log by p when always
  else pass
gate of named rules L7
  deny by p when always
  else allow
gate of named rules L7
  else deny
shadow of named rules L4
  else deny
shadow istio_dry_run_deny_ of named rules L7 behind 2 gates
  deny by p when always
  else allow
shadow istio_dry_run_allow_ of named rules L7 behind 3 gates
  allow by p when always
  else deny
shadow http[3] 0 L7 behind 3 gates
  allow when path under "/admin/"
  else allow
shadow http[3] 1 L7 behind 3 gates
  else allow
`
	if diff := cmp.Diff(want, p.String()); diff != "" || len(lost) != 1 {
		t.Errorf("lost %q, program (-want +got):\n%s", lost, diff)
	}
}

// adminTemplate is a permission that cannot be read.
const adminTemplate = `{"uri_template": {"name": "t", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "path_template": "/admin/a*"}}}`

// The conditions of a rule that decides nothing cut classes, and so do the conditions of
// the rules after it.
func TestProgramLostCutsClasses(t *testing.T) {
	t.Parallel()
	deny := strings.Replace(policies(adminTemplate, anybody, ""), `{"policies"`, `{"action": "DENY", "policies"`, 1)
	allow := policies(anybody, `{"authenticated": {"principal_name": {"exact": "spiffe://td/web"}}}`, "")
	in := readDump(t, []byte(wholeDump(serving(manager("", l7(deny), strings.Replace(l7(allow), `"rbac"`, `"rbac2"`, 1)))))).Inbounds[0]
	p, lost := in.Program()
	if len(lost) != 1 {
		t.Fatalf("lost %q", lost)
	}
	cover := classes.Cut(classes.Surface{Protocol: in.Protocol, Normalization: in.Normalization}, p)
	seen := map[int]bool{}
	for _, r := range []policy.Request{
		{URIs: []string{"spiffe://td/web"}, Method: "GET", Path: "/admin"},
		{URIs: []string{"spiffe://td/web"}, Method: "GET", Path: "/"},
		{URIs: []string{"spiffe://td/other"}, Method: "GET", Path: "/admin"},
		{URIs: []string{"spiffe://td/other"}, Method: "GET", Path: "/"},
	} {
		class, ok := cover.Locate(r)
		if !ok || seen[class] {
			t.Errorf("%+v is in class %d with others, or in none: %t", r, class, ok)
		}
		seen[class] = true
	}
}

// FuzzProgram holds that every message is read without a panic, and to a valid program.
func FuzzProgram(f *testing.F) {
	for _, in := range pushed(f) {
		for _, filter := range in.Filters.Network {
			f.Add(must[[]byte](f)(proto.Marshal(filter)), []byte(nil))
		}
		for _, filter := range in.Filters.HTTP {
			route := []byte(nil)
			if len(in.Filters.Routes) > 0 {
				route = must[[]byte](f)(proto.Marshal(in.Filters.Routes[0].Match))
			}
			f.Add(must[[]byte](f)(proto.Marshal(filter)), route)
		}
	}
	f.Fuzz(func(t *testing.T, filter, match []byte) {
		var network networkrbacv3.RBAC
		var http httprbacv3.RBAC
		route := xds.Route{Name: "r", HTTP: []*httprbacv3.RBAC{&http}, Match: routeMatchOf(match)}
		if proto.Unmarshal(filter, &network) != nil || proto.Unmarshal(filter, &http) != nil || route.Match == nil {
			return
		}
		p, lost := lift.Program(xds.Filters{
			Network: []*networkrbacv3.RBAC{&network, nil},
			HTTP:    []*httprbacv3.RBAC{&http, nil},
			Routes:  []xds.Route{route, {Name: "nil"}},
		}, 0)
		policy.Decide(p, policy.Request{URIs: []string{"spiffe://td/a"}, Method: "GET", Path: "/a"})
		for _, sentence := range lost {
			if sentence == "" || strings.Contains(sentence, "\n") {
				t.Errorf("lost %q", sentence)
			}
		}
	})
}

func routeMatchOf(data []byte) *routev3.RouteMatch {
	var m routev3.RouteMatch
	if proto.Unmarshal(data, &m) != nil {
		return nil
	}
	return &m
}

// TestProgramOfOtherMeshes prints the programs of sidecars of released meshes, with what
// they lost.
func TestProgramOfOtherMeshes(t *testing.T) {
	t.Parallel()
	for _, mesh := range []string{"kuma", "istio"} {
		t.Run(mesh, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for _, in := range readDump(t, testdata(t, mesh+".json")).Inbounds {
				p, lost := in.Program()
				fmt.Fprintf(&b, "inbound %s / %s\n%s", in.Listener, in.Chain, p)
				for _, sentence := range lost {
					fmt.Fprintf(&b, "lost %s\n", sentence)
				}
			}
			golden.Compare(t, mesh+".program.golden", b.String())
		})
	}
}
