package adversary_test

import (
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// A deny by a regular expression that takes any text lets a path with a byte that is no UTF-8
// pass over HTTP/2, where Envoy has no fix of CVE-2026-73552. HTTP/1.1 has no such path. No
// method and no host has such a byte: Envoy refuses the request, or closes the connection.
func TestRegexBytes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts two releases of Envoy")
	}
	deny := &httprbacv3.RBAC{Rules: &rbacv3.RBAC{Action: rbacv3.RBAC_DENY, Policies: map[string]*rbacv3.Policy{"p": {
		Principals: []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
		Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Header{Header: &routev3.HeaderMatcher{
			Name: ":path", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
				MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: "/admin.*"}},
			}},
		}}}},
	}}}}
	for version, want := range map[string]int{"1.36.4": 200, "1.37.0": 200, "1.38.3": 200, "1.39.3": 403, "1.40.0": 403} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l := startLab(t, version, map[string]xds.Filters{"admin": {HTTP: []*httprbacv3.RBAC{deny}}})
			for path, want := range map[string]int{"/admin?x": 403, "/admin?\xff": want, "/other": 200} {
				request := adversary.Request{Name: "regex", Protocol: policy.HTTP2, Fields: []policy.Header{
					{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: adversary.Authority}, {Name: ":path", Value: path},
				}}
				got, err := l.send(t.Context(), "admin", request)
				if err != nil || got.reply.Status != want {
					t.Errorf("%q: %s, %v, want %d", path, got.reply, err, want)
				}
			}
			refused := adversary.Request{Name: "regex", Protocol: policy.HTTP, Head: "GET /admin?\xff HTTP/1.1\r\nHost: a\r\n\r\n"}
			if got, err := l.send(t.Context(), "admin", refused); err != nil || got.reply.Status != 400 {
				t.Errorf("over HTTP/1.1: %s, %v", got.reply, err)
			}
			for _, tt := range []struct {
				method, host string
				two, one     int
			}{
				{"GET", "a", 200, 200},
				{"G\xff", "a", 0, 400},
				{"GET", "a\xff", 0, 400},
			} {
				over2 := adversary.Request{Name: "regex", Protocol: policy.HTTP2, Fields: []policy.Header{
					{Name: ":method", Value: tt.method}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: tt.host}, {Name: ":path", Value: "/other"},
				}}
				if got, err := l.send(t.Context(), "admin", over2); err != nil || got.reply.Status != tt.two {
					t.Errorf("%q to %q over HTTP/2: %s, %v, want %d", tt.method, tt.host, got.reply, err, tt.two)
				}
				over1 := adversary.Request{Name: "regex", Protocol: policy.HTTP, Head: tt.method + " /other HTTP/1.1\r\nHost: " + tt.host + "\r\n\r\n"}
				if got, err := l.send(t.Context(), "admin", over1); err != nil || got.reply.Status != tt.one {
					t.Errorf("%q to %q over HTTP/1.1: %s, %v, want %d", tt.method, tt.host, got.reply, err, tt.one)
				}
			}
		})
	}
}
