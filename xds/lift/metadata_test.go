package lift_test

import (
	"strings"
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// TestClaimsComeBack compiles questions for claims in both forms, and lifts them again.
func TestClaimsComeBack(t *testing.T) {
	t.Parallel()
	for _, form := range []policy.Form{policy.Ordered, policy.Named} {
		gate := policy.Gate{Layer: policy.L7, Form: form, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: policy.And{
			attribute.Claim("sub").Exact("alice"),
			policy.Not{Condition: attribute.Claim("realm", "roles", "[]").Prefix("ops")},
			policy.Is{Attribute: attribute.Claim("kubernetes.io", "pod"), Match: policy.Match{Kind: policy.Regex, Value: "a.*"}},
			policy.Is{Attribute: attribute.Claim("level", "#"), Match: policy.Match{Kind: policy.Range, Value: "[-inf,7.5)"}},
			policy.Is{Attribute: attribute.Claim("levels", "[#]"), Match: policy.Match{Kind: policy.Range, Value: "[-7,7)"}}, attribute.Claim("levels", "[#]").Exact("true"),
			policy.Is{Attribute: attribute.Claim("realm", "name", "?"), Match: policy.Match{Kind: policy.Present}},
			attribute.Claim("level", "#").Exact("7"), attribute.Claim("level", "#").Exact("null"), policy.Not{Condition: attribute.Claim("admin", "#").Exact("true")},
			policy.Is{Attribute: attribute.Claim("groups", "[]"), Match: policy.Match{Kind: policy.Suffix, Value: "X", AnyCase: true}},
		}}}}
		if form == policy.Ordered {
			gate.Default.Origin = "default"
		}
		p := policy.Program{Gates: []policy.Gate{gate}}
		f, err := xds.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		if back, lost := lift.Program(f, 0); len(lost) > 0 || back.String() != p.String() {
			t.Errorf("lost %q, got\n%swant\n%s", lost, back, p)
		}
	}
}

// TestMetadata lifts what compilers write about metadata.
func TestMetadata(t *testing.T) {
	t.Parallel()
	const payload = `filter: "envoy.filters.http.jwt_authn" path { key: "payload" } `
	for name, tt := range map[string]struct{ principal, want, lost string }{
		"a text or a list": {`metadata { ` + payload + `path { key: "groups" } value { or_match {
				value_matchers { list_match { one_of { or_match { value_matchers { string_match { exact: "a" } } value_matchers { string_match { prefix: "b" } } } } } }
				value_matchers { or_match { value_matchers { string_match { exact: "a" } } value_matchers { string_match { prefix: "b" } } } } } } }`,
			`claim groups[] = "a" or claim groups[] starts with "b" or claim groups = "a" or claim groups starts with "b"`, ""},
		"inverted":      {`sourced_metadata { metadata_matcher { invert: true ` + payload + `path { key: "sub" } value { string_match { exact: "a" } } } }`, `not claim sub = "a"`, ""},
		"an expression": {`metadata { ` + payload + `path { key: "sub" } value { string_match { safe_regex { regex: ".+" } } } }`, `claim sub matches the regex ".+"`, ""},
		"of a route": {`sourced_metadata { metadata_source: ROUTE metadata_matcher { ` + payload + `path { key: "sub" } value { string_match { exact: "a" } } } }`, "",
			"it asks for the metadata of a route"},
		"another filter":         {`metadata { filter: "x" path { key: "payload" } path { key: "sub" } value { string_match { exact: "a" } } }`, "", `no policy can ask for the metadata ["payload" "sub"] of x`},
		"another key":            {`metadata { filter: "envoy.filters.http.jwt_authn" path { key: "p" } path { key: "sub" } value { string_match { exact: "a" } } }`, "", `no policy can ask for the metadata ["p" "sub"]`},
		"the payload":            {`metadata { ` + payload + ` value { present_match: true } }`, "", `no policy can ask for the metadata ["payload"]`},
		"a number":               {`metadata { ` + payload + `path { key: "level" } value { double_match { exact: 7.50 } } }`, `claim level# = "7.5"`, ""},
		"zero":                   {`metadata { ` + payload + `path { key: "level" } value { double_match { exact: -0.0 } } }`, `claim level# = "0"`, ""},
		"a truth value":          {`metadata { ` + payload + `path { key: "a" } path { key: "b" } value { bool_match: false } }`, `claim a.b# = "false"`, ""},
		"null":                   {`metadata { ` + payload + `path { key: "level" } value { null_match { } } }`, `claim level# = "null"`, ""},
		"a text or a number":     {`metadata { ` + payload + `path { key: "a" } value { or_match { value_matchers { string_match { exact: "7" } } value_matchers { double_match { exact: 7 } } } } }`, `claim a = "7" or claim a# = "7"`, ""},
		"a time":                 {`metadata { ` + payload + `path { key: "exp" } value { double_match { exact: 7 } } }`, "", "it asks for a time"},
		"a range":                {`metadata { ` + payload + `path { key: "level" } value { double_match { range { start: 1 end: 7 } } } }`, `claim level# in [1,7)`, ""},
		"a range with one end":   {`metadata { ` + payload + `path { key: "level" } value { double_match { range { start: -inf end: -0.5 } } } }`, `claim level# in [-inf,-0.5)`, ""},
		"a range of nothing":     {`metadata { ` + payload + `path { key: "a" } value { or_match { value_matchers { double_match { range { start: 7 end: 7 } } } value_matchers { string_match { exact: "7" } } } } }`, `claim a = "7"`, ""},
		"a range from no number": {`metadata { ` + payload + `path { key: "a" } value { or_match { value_matchers { double_match { range { start: nan end: 7 } } } value_matchers { string_match { exact: "7" } } } } }`, `claim a = "7"`, ""},
		"a range of times":       {`metadata { ` + payload + `path { key: "iat" } value { double_match { range { start: 1 end: 7 } } } }`, "", "it asks for a time"},
		"an end of many digits":  {`metadata { ` + payload + `path { key: "a" } value { double_match { range { start: 1 end: 7.00000001 } } } }`, "", "compares with the number 7.00000001"},
		"a number of one digit":  {`metadata { ` + payload + `path { key: "a" } value { double_match { exact: 1e-9 } } }`, "", "compares with the number 1e-09"},
		"no number":              {`metadata { ` + payload + `path { key: "a" } value { or_match { value_matchers { double_match { exact: nan } } value_matchers { string_match { exact: "7" } } } } }`, `claim a = "7"`, ""},
		"presence":               {`metadata { ` + payload + `path { key: "level" } value { present_match: true } }`, `claim level is present`, ""},
		"a subject":              {`metadata { ` + payload + `path { key: "sub" } value { present_match: true } }`, `claim sub is present`, ""},
		"no subject":             {`metadata { invert: true ` + payload + `path { key: "sub" } value { present_match: true } }`, `not claim sub is present`, ""},
		"presence of a time":     {`metadata { ` + payload + `path { key: "exp" } value { present_match: true } }`, "", "it asks for a time"},
		"any value in a list":    {`metadata { ` + payload + `path { key: "iss" } value { list_match { one_of { present_match: true } } } }`, "", "it asks for any value in a list"},
		"a part of a subject":    {`metadata { ` + payload + `path { key: "sub" } path { key: "x" } value { present_match: true } }`, `claim sub.x is present`, ""},
		"presence that is false": {`metadata { ` + payload + `path { key: "level" } value { or_match { value_matchers { present_match: false } value_matchers { string_match { exact: "7" } } } } }`, `claim level = "7"`, ""},
		"a number in a list":     {`metadata { ` + payload + `path { key: "a" } value { list_match { one_of { double_match { exact: 7 } } } } }`, `claim a[#] = "7"`, ""},
		"a range in a list":      {`metadata { ` + payload + `path { key: "a" } value { list_match { one_of { or_match { value_matchers { double_match { range { start: 1 end: 7 } } } value_matchers { bool_match: true } value_matchers { null_match { } } } } } } }`, `claim a[#] in [1,7) or claim a[#] = "true" or claim a[#] = "null"`, ""},
		"a claim named ?":        {`metadata { ` + payload + `path { key: "a" } path { key: "?" } value { string_match { exact: "7" } } }`, "", "no policy can ask for the metadata"},
		"a claim named #":        {`metadata { ` + payload + `path { key: "a" } path { key: "#" } value { string_match { exact: "7" } } }`, "", "no policy can ask for the metadata"},
		"a list of lists":        {`metadata { ` + payload + `path { key: "a" } value { list_match { one_of { list_match { one_of { string_match { exact: "a" } } } } } } }`, "", "it asks for a list in a list"},
		"a claim named []":       {`metadata { ` + payload + `path { key: "a" } path { key: "[]" } value { string_match { exact: "a" } } }`, "", "no policy can ask for the metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			principal := &rbacv3.Principal{}
			if err := prototext.Unmarshal([]byte(tt.principal), principal); err != nil {
				t.Fatal(err)
			}
			rules := &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{"p": {Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Any{Any: true}}}, Principals: []*rbacv3.Principal{principal}}}}
			p, lost := lift.Program(xds.Filters{HTTP: []*httprbacv3.RBAC{{Rules: rules}}}, 0)
			if text := p.String(); tt.lost == "" && (len(lost) > 0 || !strings.Contains(text, "allow by p when "+tt.want+"\n")) {
				t.Errorf("lost %q, want %s in\n%s", lost, tt.want, text)
			}
			if tt.lost != "" && (len(lost) != 1 || !strings.Contains(lost[0], tt.lost)) {
				t.Errorf("lost %q, want %q", lost, tt.lost)
			}
			if p, lost := lift.Program(xds.Filters{Network: []*networkrbacv3.RBAC{{Rules: rules}}}, 0); tt.lost == "" && (len(lost) > 0 || strings.Contains(p.String(), "claim")) {
				t.Errorf("a connection has no claims: lost %q\n%s", lost, p)
			}
		})
	}
}
