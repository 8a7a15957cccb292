package harness

import (
	"fmt"
	"slices"
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/enginetest"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// headerMatches are matches of headers, of the host, of the query and of whole paths, of each
// kind that the form can say.
func headerMatches(form policy.Form) (out []policy.Condition) {
	is := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Condition {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	anyCase := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Condition {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value, AnyCase: true}}
	}
	role, whole := attribute.Header("X-Role"), attribute.Header(":path")
	if form == policy.Ordered {
		role = role.Joined
	}
	present := is(role, policy.Present, "")
	out = []policy.Condition{
		present, policy.Not{Condition: present}, is(attribute.Query, policy.Present, ""),
		policy.And{role.Exact("admin"), is(role, policy.Contains, "min")},
		policy.And{present, policy.Not{Condition: role.Exact("admin")}},
		policy.Not{Condition: is(role, policy.Regex, ".*admin.*")},
		policy.Not{Condition: is(attribute.Host, policy.Suffix, ".a.com")},
		role.Exact(""), policy.And{is(attribute.Query, policy.Contains, "admin"), attribute.Path.Exact("/a")},
		attribute.Query.Exact("a=1"), attribute.Query.Exact(""), attribute.Query.Prefix("a"), is(attribute.Query, policy.Suffix, "z?"), anyCase(attribute.Query, policy.Contains, "Kk.s"),
		is(whole, policy.Regex, `/public(/.*)?\?.*`), is(whole, policy.Suffix, "/b"),
	}
	for a, value := range map[*policy.Attribute]string{role: "admin", attribute.Host: "a.com:8080", whole: "/a?b"} {
		out = append(out, a.Exact(value), a.Prefix(value), is(a, policy.Suffix, value[1:]), is(a, policy.Contains, value[1:]), anyCase(a, policy.Exact, value),
			anyCase(a, policy.Suffix, value), is(a, policy.Regex, value[:2]+".*[a-z0-9]"))
	}
	if form == policy.Ordered {
		return append(out, role.Exact("user,admin"), is(role, policy.Suffix, ",admin"), is(role, policy.Regex, "(.*,)?admin(,.*)?"))
	}
	// Two lines tell these apart, where Envoy compares each by itself.
	out = append(out, policy.And{role.Exact("a"), role.Exact("b")}, policy.And{role.Exact("a"), policy.Not{Condition: role.Exact("b")}})
	for _, template := range []string{"/a/*/c", "/a/**", "/{*}/b", "/v1/{x=a/*}/{**}", "/files/**.json"} {
		out = append(out, is(attribute.Path, policy.Template, template))
	}
	return out
}

// TestEnvoyHeaders asks Envoy for all that a caller says of a request, by both forms of a gate.
func TestEnvoyHeaders(t *testing.T) {
	t.Parallel()
	for _, protocol := range []policy.Protocol{policy.HTTP, policy.HTTP2, policy.GRPC} {
		t.Run(protocol.String(), func(t *testing.T) {
			t.Parallel()
			askEnvoy(t, sharedEnvoy.Get(t), protocol, token.Demand{}, 500, headerMatches)
		})
	}
}

// TestHeaderMatcher holds the engine of the tests against Envoy for what no policy compiles
// to, but the filters of others have: inverted matches, and headers that are missing.
func TestHeaderMatcher(t *testing.T) {
	t.Parallel()
	text := func(value string) *routev3.HeaderMatcher_StringMatch {
		return &routev3.HeaderMatcher_StringMatch{StringMatch: &envoymatcherv3.StringMatcher{MatchPattern: &envoymatcherv3.StringMatcher_Exact{Exact: value}}}
	}
	var matchers []*routev3.HeaderMatcher
	for _, invert := range []bool{false, true} {
		matchers = append(matchers, &routev3.HeaderMatcher{InvertMatch: invert},
			&routev3.HeaderMatcher{InvertMatch: invert, HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{PresentMatch: true}},
			&routev3.HeaderMatcher{InvertMatch: invert, HeaderMatchSpecifier: &routev3.HeaderMatcher_PresentMatch{}})
		for _, missing := range []bool{false, true} {
			matchers = append(matchers, &routev3.HeaderMatcher{InvertMatch: invert, TreatMissingHeaderAsEmpty: missing, HeaderMatchSpecifier: text("a")},
				&routev3.HeaderMatcher{InvertMatch: invert, TreatMissingHeaderAsEmpty: missing, HeaderMatchSpecifier: text("")})
		}
	}
	values := [][]string{nil, {""}, {"a"}, {"b"}, {"a", "b"}, {"b", "a"}, {"a", "a"}, {"a", ""}, {"", "a", ""}, {"", ""}}
	spec := MeshSpec{TrustDomains: []spiffeid.TrustDomain{domain}}
	var requests []Request
	var want []policy.Effect
	h := sharedEnvoy.Get(t)
	// The codec joins the lines of origin, and those of x-role stay apart.
	for _, m := range slices.Clone(matchers) {
		joined := proto.Clone(m).(*routev3.HeaderMatcher)
		m.Name, joined.Name = "x-role", "origin"
		matchers = append(matchers, joined)
	}
	for i, m := range matchers {
		rules := &rbacv3.RBAC{Policies: map[string]*rbacv3.Policy{"rule": {
			Permissions: []*rbacv3.Permission{{Rule: &rbacv3.Permission_Header{Header: m}}},
			Principals:  []*rbacv3.Principal{{Identifier: &rbacv3.Principal_Any{Any: true}}},
		}}}
		name := fmt.Sprint("inbound", i)
		spec.Inbounds = append(spec.Inbounds, Inbound{
			Name: name, Identity: backend, Address: address(uint16(8000 + i)), Protocol: policy.HTTP, Filters: xds.Filters{HTTP: []*httprbacv3.RBAC{{Rules: rules}}},
		})
		for _, lines := range values {
			seen := policy.Request{JoinsLines: !h.Behavior().Fixed(behavior.HeaderLines)}
			for _, line := range lines {
				seen.Headers = append(seen.Headers, policy.Header{Name: m.Name, Value: line})
			}
			requests = append(requests, Request{To: name, Headers: seen.Headers})
			verdict, _ := enginetest.Judge(nil, rules, &seen)
			want = append(want, verdict.Effect)
		}
	}
	m := h.Mesh(t, spec)
	svid := mint(t, m, frontend)
	for i := range requests {
		requests[i].Credential = svid
	}
	findings := stream(t, m, requests...)
	for i, f := range findings {
		if f.Verdict.Effect != want[i] {
			t.Errorf("%v for %v: %s, want %s", matchers[i/len(values)], values[i%len(values)], f.Verdict.Effect, want[i])
		}
	}
}
