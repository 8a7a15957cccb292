package attribute_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestHeader holds what Envoy compares of headers, host and query, as measured on 1.36.4 and
// 1.40.0. See also TestEnvoyHeaders in package harness.
func TestHeader(t *testing.T) {
	t.Parallel()
	lines := func(values ...string) *policy.Request {
		r := &policy.Request{Headers: []policy.Header{{Name: "x-other", Value: "user"}}}
		for _, value := range values {
			r.Headers = append(r.Headers, policy.Header{Name: "x-role", Value: value})
		}
		return r
	}
	agents := &policy.Request{Headers: []policy.Header{{Name: "user-agent", Value: "a"}, {Name: "user-agent", Value: "b"}}}
	origins := func(values ...string) *policy.Request {
		r := lines(values...)
		for i := range values {
			r.Headers[1+i].Name = "origin"
		}
		return r
	}
	joining := lines("user", "admin")
	joining.JoinsLines = true
	is := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Is {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	role, joined := attribute.Header("X-Role"), attribute.Header("x-role").Joined
	path := func(path string) *policy.Request { return &policy.Request{Path: path} }
	utf8 := path("/\xff?a")
	utf8.UTF8 = true
	for _, tt := range []struct {
		condition policy.Condition
		request   *policy.Request
		want      bool
	}{
		{role.Exact("admin"), lines("user", "admin"), true},
		{role.Exact("admin"), joining, false},
		{role.Exact("user,admin"), joining, true},
		{is(role, policy.Suffix, "admin"), joining, true},
		{role.Exact("admin"), lines("user,admin"), false},
		{role.Exact("user,admin"), lines("user", "admin"), false},
		{joined.Exact("user,admin"), lines("user", "admin"), true},
		{joined.Exact("admin"), lines("user", "admin"), false},
		{joined.Exact(",admin"), lines("", "admin"), true},
		{role.Exact(""), lines(""), true},
		{attribute.Header("User-Agent").Exact("b"), agents, false},
		{attribute.Header("user-agent").Exact("a,b"), agents, true},
		{attribute.Header("origin").Exact("a"), origins("", "a", ""), true},
		{attribute.Header("origin").Exact("a,b"), origins("a", "", "b"), true},
		{attribute.Header("origin").Exact(""), origins("", ""), true},
		{role.Exact(""), lines(), false},
		{joined.Exact(""), lines(), false},
		{is(role, policy.Present, ""), lines(""), true},
		{is(role, policy.Present, ""), lines(), false},
		{is(joined, policy.Present, ""), lines(), false},
		{is(role, policy.Present, ""), joining, true},
		{policy.Not{Condition: is(role, policy.Present, "")}, lines(), true},
		{attribute.Host.Exact("a.com"), &policy.Request{Host: "a.com:8080"}, false},
		{attribute.Host.Exact("a.com"), &policy.Request{Host: "A.COM"}, false},
		{attribute.Header("Host").Exact("a.com"), &policy.Request{Host: "a.com"}, true},
		{attribute.Header(":Method").Exact("GET"), &policy.Request{Method: "GET"}, true},
		{attribute.Header(":path").Exact("/a?b"), path("/a?b"), true},
		{attribute.Query.Exact("b?c"), path("/a?b?c"), true},
		{attribute.Query.Exact(""), path("/a?"), true},
		{attribute.Query.Exact(""), path("/a"), false},
		{is(attribute.Query, policy.Present, ""), path("/a"), false},
		{is(attribute.Query, policy.Present, ""), path("/\xff?a"), true},
		{is(attribute.Query, policy.Present, ""), utf8, false},
		{attribute.QueryParameter("id").Exact("1"), path("/a?x=2&id=1&id=3"), true},
		{attribute.QueryParameter("id").Exact("3"), path("/a?id=1&id=3"), false},
		{attribute.QueryParameter("id").Exact(""), path("/a?id"), true},
		{attribute.QueryParameter("id").Exact(""), path("/a?ids"), false},
		{is(attribute.Path, policy.Template, "/a/*/c"), path("/a/b/c?d"), true},
		{is(attribute.Path, policy.Template, "/a/{*}/c"), path("/a/b/x/c"), false},
		{is(attribute.Path, policy.Template, "/a/{**}"), path("/a/"), true},
		{is(attribute.Path, policy.Template, "/a/{**}"), path("/a"), false},
	} {
		if got := tt.condition.Holds(tt.request); got != tt.want {
			t.Errorf("%s for %+v: %t, want %t", tt.condition, *tt.request, got, tt.want)
		}
	}
	if attribute.Header("x-role") != role || attribute.Header("host") != attribute.Host || attribute.Header(":method") != attribute.Method {
		t.Error("one header is two attributes")
	}
	for _, name := range []string{"Connection", ":scheme", "x-envoy-internal"} {
		if a := attribute.Header(name); len(a.Forms)+len(a.Joined.Forms) > 0 {
			t.Errorf("a gate can ask for %s, which Envoy writes", name)
		}
	}
}
