package attribute_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestEveryColumn names each attribute that lacks a column.
func TestEveryColumn(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, a := range attribute.All() {
		for column, missing := range map[string]bool{
			"Name": a.Name == "" || names[a.Name], "Phrase": a.Phrase == "", "Text or Each": (a.Text == nil) == (a.Each == nil), "Kinds": len(a.Kinds) == 0, "Forms": len(a.Forms) == 0,
		} {
			if missing {
				t.Errorf("attribute %s lacks the column %s", a.Name, column)
			}
		}
		names[a.Name] = true
	}
}

// TestClaims holds which claims a match meets.
func TestClaims(t *testing.T) {
	t.Parallel()
	r := &policy.Request{Others: map[string][]string{"claim iss": {"https://a.example"}, "claim sub": {""}, "claim realm.roles[]": {"dev", "ops,dev"}}}
	roles := attribute.Claim("realm", "roles", "[]")
	for _, tt := range []struct {
		condition policy.Condition
		want      bool
	}{
		{attribute.Claim("iss").Exact("https://a.example"), true},
		{attribute.Claim("iss").Prefix("https://b"), false},
		{attribute.Claim("sub").Exact(""), true},
		{attribute.Claim("aud").Exact(""), false},
		{policy.Not{Of: attribute.Claim("aud").Prefix("x")}, true},
		{roles.Exact("dev"), true},
		{roles.Exact("ops"), false},
		{roles.Prefix("ops"), true},
		{roles.Exact("dev,ops,dev"), false},
		{attribute.Claim("realm", "roles").Exact("dev"), false},
		{attribute.Claim("iss", "[]").Exact("https://a.example"), false},
		{attribute.RequestPrincipal(policy.Match{Kind: policy.Prefix, Value: "https:"}, policy.Match{}), true},
		{attribute.RequestPrincipal(policy.Match{Value: "https://a.example"}, policy.Match{Value: "x"}), false},
	} {
		if got := tt.condition.Holds(r); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.condition, got, tt.want)
		}
	}
	if attribute.Claim("realm", "roles", "[]") != roles || attribute.Claim("realm.roles", "[]") == roles {
		t.Error("the same path gives the same attribute, and another path another one")
	}
}

// TestSeveralValues holds how Envoy joins the names of a caller.
func TestSeveralValues(t *testing.T) {
	t.Parallel()
	r := &policy.Request{URIs: []string{"spiffe://td/a", "spiffe://td/b"}, DNS: []string{"a.example", "b.example"}}
	nobody := &policy.Request{}
	for _, tt := range []struct {
		condition policy.Condition
		request   *policy.Request
		want      bool
	}{
		{attribute.DNSSAN.Exact("a.example,b.example"), r, true},
		{attribute.DNSSAN.Exact("a.example"), r, false},
		{attribute.DNSSAN.Prefix("a.example"), r, true},
		{attribute.DNSSAN.Prefix("b.example"), r, false},
		{attribute.DNSSAN.Exact(""), nobody, false},
		{attribute.DNSSAN.Prefix(""), nobody, false},
		{attribute.DNSSAN.Prefix(""), r, true},
		{attribute.DNSSAN.Prefix("spiffe:"), r, false},
		{attribute.Identity.Exact("spiffe://td/a,spiffe://td/b"), r, true},
		{attribute.Identity.Exact(""), nobody, true},
		{attribute.URISAN.Exact("b.example"), r, true},
		{attribute.URISAN.Prefix(""), nobody, false},
	} {
		if got := tt.condition.Holds(tt.request); got != tt.want {
			t.Errorf("%s for %+v: %t, want %t", tt.condition, *tt.request, got, tt.want)
		}
	}
}
