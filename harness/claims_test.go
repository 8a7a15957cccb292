package harness

import (
	"encoding/json"
	"net/netip"
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// foreignClaimMatchers are matchers of values (envoy.type.matcher.v3.ValueMatcher), some of which
// package xds does not write.
var foreignClaimMatchers = []string{
	`present_match: true`, `present_match: false`, `null_match {}`, `bool_match: true`,
	`double_match { exact: 7 }`, `double_match { exact: -0 }`, `double_match { exact: 0.1 }`, `double_match { exact: nan }`,
	`double_match { range { start: 1 end: 7.5 } }`, `double_match { range { start: -inf end: inf } }`, `double_match { range { start: 7 end: 7 } }`,
	`double_match { range { start: 8 end: 7 } }`, `double_match { range {} }`, `double_match { range { start: nan end: 9 } }`,
	`list_match { one_of { null_match {} } }`, `list_match { one_of { bool_match: true } }`, `list_match { one_of { double_match { exact: 7 } } }`,
	`list_match { one_of { double_match { range { start: 1 end: 8 } } } }`,
	`list_match { one_of { or_match { value_matchers { string_match { exact: "x" } } value_matchers { double_match { exact: 7 } } } } }`,
	`or_match { value_matchers { list_match { one_of { string_match { exact: "x" } } } } value_matchers { double_match { range { start: 7 end: 8 } } } }`,
}

// claimsOfEachType are the values of a claim, the last one for no claim.
var claimsOfEachType = []string{
	`null`, `true`, `false`, `0`, `-0.0`, `7`, `7.5`, `1e3`, `0.1`, `123456789012345`, `12345678.1234567`, `-1e300`, `""`, `"x"`, `"7"`,
	`[]`, `[7]`, `["x"]`, `[null]`, `[[]]`, `[["x"]]`, `[true, "y", 7]`, `[{}]`, `{}`, `{"b": 1}`, ``,
}

// TestEnvoyReadsClaims asks Envoy for a claim of each type by each matcher, and holds it against the
// program that the matcher is read back to.
func TestEnvoyReadsClaims(t *testing.T) {
	t.Parallel()
	demand := token.Demand{Issuers: []token.Issuer{{Name: "https://a.example"}}}
	onReleases(t, func(t *testing.T, h *Harness) {
		spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
		var all []asked
		for i, matcher := range foreignClaimMatchers {
			for _, inverted := range []string{"true", "false"} {
				principal := &rbacv3.Principal{}
				if err := prototext.Unmarshal([]byte(`sourced_metadata { metadata_matcher { invert: `+inverted+` filter: "envoy.filters.http.jwt_authn" path { key: "payload" } path { key: "a" } value { `+matcher+` } } }`), principal); err != nil {
					t.Fatalf("%s: %v", matcher, err)
				}
				in := Inbound{
					Name: matcher + " " + inverted, Identity: backend, Protocol: policy.HTTP, Tokens: demand,
					Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 202, byte(len(inverted)), byte(i + 1)}), 8080),
					Filters: xds.Filters{HTTP: []*httprbacv3.RBAC{{Rules: &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{"p": {
						Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Any{Any: true}}}, Principals: []*rbacv3.Principal{principal},
					}}}}}},
				}
				spec.Inbounds = append(spec.Inbounds, in)
				program, lost := lift.Program(in.Filters, 0)
				if len(lost) > 0 {
					t.Errorf("%s: lost %q", in.Name, lost)
				}
				for _, text := range claimsOfEachType {
					as := &token.Token{Claims: map[string]any{"iss": "https://a.example"}}
					if text != "" {
						var value any
						if err := json.Unmarshal([]byte(text), &value); err != nil {
							t.Fatalf("%s: %v", text, err)
						}
						as.Claims["a"] = value
					}
					seen := policy.Request{URIs: []string{frontend.String()}, Source: endpoint.Unnamed, Method: "GET", Path: "/", Others: demand.Seen(as)}
					all = append(all, asked{program, seen, bearer(t, in, as, Request{To: in.Name, Method: "GET", Path: "/"})})
				}
			}
		}
		holdAgainstEnvoy(t, h, spec, len(all), all)
	})
}
