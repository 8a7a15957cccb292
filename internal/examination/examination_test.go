package examination_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

const text = `
case: friends only
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}]}]
policies:
  - {type: MeshTrafficPermission, name: friends, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/friend}}], deny: [{path: {type: Prefix, value: /admin}}]}}}
requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]
`

// Each row changes the program of the policies. The filters of the changed program are
// examined.
func TestExamination(t *testing.T) {
	t.Parallel()
	allow := func(when policy.Condition) func(*policy.Program) {
		return func(p *policy.Program) {
			rule := policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "x"}, When: when}
			p.Gates[0].Rules = append([]policy.Rule{rule}, p.Gates[0].Rules...)
		}
	}
	for name, tt := range map[string]struct {
		change   func(*policy.Program)
		anyNames bool
		// differs is in the text of the first class that is decided otherwise; "" for none.
		differs string
	}{
		"nothing":           {func(*policy.Program) {}, false, ""},
		"an unknown caller": {allow(attribute.Identity.Exact("spiffe://trust-domain.mesh/x")), false, "spiffe://trust-domain.mesh/x"},
		"an unknown path":   {allow(attribute.Path.Exact("/health")), false, "/health"},
		"an unknown method": {allow(attribute.Method.Exact("PURGE")), false, "PURGE"},
		"another name":      {func(p *policy.Program) { p.Gates[0].Default.Origin = "last" }, false, "deny by last"},
		"any name":          {func(p *policy.Program) { p.Gates[0].Default.Origin = "last" }, true, ""},
		"another layer": {func(p *policy.Program) {
			*p = policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Default: p.Gates[0].Default}}}
		}, false, "the policies deny on L7, the filters on L4"},
		"a shadow that isn't": {func(p *policy.Program) { p.Shadows = p.Gates }, false, "the shadow of the policies says nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reading, err := verdict.Read(casetest.Parse(t, text))
			if err != nil {
				t.Fatal(err)
			}
			program := reading.Inbounds()[0].Program.Program
			program.Gates = append([]policy.Gate{}, program.Gates...)
			tt.change(&program)
			filters, err := xds.Compile(program)
			if err != nil {
				t.Fatal(err)
			}
			x := examination.Examine(reading, []xds.Filters{filters}, tt.anyNames, 2)
			asked := x.Reading.Case.Requests
			if len(asked) != len(x.Questions) || x.Classes == 0 || len(x.Unread) > 0 || len(reading.Case.Requests) != 1 {
				t.Fatalf("%d requests for %d questions, %d classes, unread %q", len(asked), len(x.Questions), x.Classes, x.Unread)
			}
			if got := x.Questions[0]; got.Differs != (tt.differs != "") || !strings.Contains(got.String(), tt.differs) || (x.Differing > 0) != got.Differs {
				t.Errorf("differs %t: %s; %d classes differ", got.Differs, got, x.Differing)
			}
		})
	}
}

// A regular expression that takes any character takes other requests on an Envoy without a fix.
func TestOpenRegex(t *testing.T) {
	t.Parallel()
	const friend = `{"authenticated": {"principal_name": {"exact": "spiffe://trust-domain.mesh/friend"}}}`
	for expression, open := range map[string]bool{"/admin.*": true, "/admin(/[a-z]+)?": false} {
		filter := &httprbacv3.RBAC{}
		header := `{"header": {"name": ":path", "string_match": {"safe_regex": {"regex": "` + expression + `"}}}}`
		if err := protojson.Unmarshal([]byte(`{"rules": {"action": "DENY", "policies": {"x": {"permissions": [`+header+`], "principals": [`+friend+`]}}}}`), filter); err != nil {
			t.Fatal(err)
		}
		reading, err := verdict.Read(casetest.Parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		for _, fixed := range []bool{true, false} {
			x := examination.Examine(reading.OnEnvoy(behavior.Set{}.Change(behavior.RegexBytes, fixed)), []xds.Filters{{HTTP: []*httprbacv3.RBAC{filter}}}, true, 2)
			if doubted := strings.Contains(strings.Join(x.Unread, "\n"), "does not match a byte that is no UTF-8"); doubted != (open && !fixed) || doubted != (x.Doubts == 1) {
				t.Errorf("%s, fixed %t: %d doubts, unread %q", expression, fixed, x.Doubts, x.Unread)
			}
		}
	}
}

// What only lets requests in by an expression shuts a byte out that it does not match, and a class of requests is
// decided alike. An expression that takes each path leaves no such class.
func TestOpenRegexThatLetsIn(t *testing.T) {
	t.Parallel()
	for http, settled := range map[string]bool{
		`path: "/public.*"`:                                   true,
		`path: "/public.*"}, {host: "shop.example"`:           true,
		`path: "/public.*", method: "GET|HEAD"`:               true,
		`path: ".*"`:                                          false,
		`host: ".*"`:                                          true,
		`path: "/public.*"}, {path: "/[^p].*|/|/p[^u].*|[*]"`: true,
		`method: "P.*"`:                                       true,
		`method: ".*"`:                                        true,
	} {
		reading, err := verdict.Read(casetest.Parse(t, `
case: a path for one client
workloads:
  - {name: backend, namespace: shop, labels: {app: backend}, inbounds: [{port: 8080, protocol: http}]}
  - {name: frontend, namespace: shop, labels: {app: frontend}}
policies:
  - apiVersion: cilium.io/v2
    kind: CiliumNetworkPolicy
    metadata: {name: p, namespace: shop}
    spec:
      endpointSelector: {matchLabels: {app: backend}}
      ingress: [{fromEndpoints: [{matchLabels: {app: frontend}}], toPorts: [{ports: [{port: "8080", protocol: TCP}], rules: {http: [{`+http+`}]}}]}]
requests: [{from: frontend, to: backend/8080, want: allow}]
`))
		if err != nil {
			t.Fatal(err)
		}
		own, err := xds.Compile(reading.Inbounds()[0].Program.Program)
		if err != nil {
			t.Fatal(err)
		}
		x := examination.Examine(reading.OnEnvoy(behavior.Set{}.Change(behavior.RegexBytes, false)), []xds.Filters{own}, true, 2)
		if (len(x.Unread) == 0) != settled || x.Differing > 0 {
			t.Errorf("%s: %d differ, unread %q", http, x.Differing, x.Unread)
		}
	}
}

// A filter may let in callers without TLS on one path of many, where the policies deny them.
func TestBackDoorInPlaintext(t *testing.T) {
	t.Parallel()
	reading, err := verdict.Read(casetest.Parse(t, strings.Replace(named, "port: 8080", "port: 8080, mtls: permissive", 1)))
	if err != nil {
		t.Fatal(err)
	}
	own, err := xds.Compile(reading.Inbounds()[0].Program.Program)
	if err != nil {
		t.Fatal(err)
	}
	for name, principal := range map[string]string{
		"not over TLS": `{"not_id": {"authenticated": {}}}`,
		"without name": `{"not_id": {"authenticated": {"principal_name": {"prefix": "spiffe://"}}}}`,
	} {
		var rules []string
		for i := range 100 {
			rules = append(rules, fmt.Sprintf(`"p%d": {"permissions": [{"url_path": {"path": {"exact": "/p%d"}}}], "principals": [{"authenticated": {"principal_name": {"exact": "spiffe://trust-domain.mesh/friend"}}}]}`, i, i))
		}
		rules = append(rules, `"door": {"permissions": [{"url_path": {"path": {"exact": "/zz"}}}], "principals": [`+principal+`]}`,
			`"friends": {"permissions": [{"any": true}], "principals": [{"authenticated": {"principal_name": {"exact": "spiffe://trust-domain.mesh/friend"}}}]}`)
		filter := &httprbacv3.RBAC{}
		if err := protojson.Unmarshal([]byte(`{"rules": {"policies": {`+strings.Join(rules, ", ")+`}}}`), filter); err != nil {
			t.Fatal(err)
		}
		filters := own
		filters.HTTP = []*httprbacv3.RBAC{own.HTTP[0], filter}
		x := examination.Examine(reading, []xds.Filters{filters}, true, 2)
		if !slices.ContainsFunc(x.Questions, func(q examination.Question) bool {
			return q.Policies.Effect == policy.Deny && q.Filters.Effect == policy.Allow
		}) {
			t.Errorf("%s: the back door is not asked for, among %d requests; unread %q", name, len(x.Questions), x.Unread)
		}
	}
}

// Where the classes do not have every request, the rest is not verified, although no class is decided otherwise: the second filter
// looks at each name by itself, and the policies at all names of a caller as one text.
func TestRequestsWithoutAClassAreNotVerified(t *testing.T) {
	t.Parallel()
	reading, err := verdict.Read(casetest.Parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	program := reading.Inbounds()[0].Program.Program
	stranger := policy.Rule{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "x"}, When: attribute.URISAN.Exact("spiffe://trust-domain.mesh/x")}
	program.Gates = append(slices.Clone(program.Gates), policy.Gate{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{stranger}, Default: policy.Verdict{Effect: policy.Allow}})
	filters, err := xds.Compile(program)
	if err != nil {
		t.Fatal(err)
	}
	x := examination.Examine(reading, []xds.Filters{filters}, true, 2)
	if unread := strings.Join(x.Unread, "\n"); x.Differing > 0 || !strings.Contains(unread, "not every request is in a class: callers with several names") {
		t.Errorf("%d classes differ, unread %q", x.Differing, unread)
	}
}
