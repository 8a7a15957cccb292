package attribute_test

import (
	"net/netip"
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
			"Name": a.Name == "" || names[a.Name], "Phrase": a.Phrase == "", "Text or Each": (a.Text == nil) == (a.Each == nil), "Kinds": len(a.Kinds) == 0, "Forms or Routable": len(a.Forms) == 0 && !a.Routable,
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
		{policy.Not{Condition: attribute.Claim("aud").Prefix("x")}, true},
		{roles.Exact("dev"), true},
		{roles.Exact("ops"), false},
		{roles.Prefix("ops"), true},
		{roles.Exact("dev,ops,dev"), false},
		{attribute.Claim("realm", "roles").Exact("dev"), false},
		{attribute.Claim("iss", "[]").Exact("https://a.example"), false},
		{policy.And{policy.Is{Attribute: attribute.Claim("iss"), Match: policy.Match{Kind: policy.Prefix, Value: "https:"}}, policy.Is{Attribute: attribute.Claim("sub"), Match: policy.Match{}}}, true},
		{policy.And{policy.Is{Attribute: attribute.Claim("iss"), Match: policy.Match{Value: "https://a.example"}}, policy.Is{Attribute: attribute.Claim("sub"), Match: policy.Match{Value: "x"}}}, false},
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

// TestEndpoint holds what ranges and blocks have, and what they have not.
func TestEndpoint(t *testing.T) {
	t.Parallel()
	is := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Is {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	from := func(address string) *policy.Request { return &policy.Request{Source: netip.MustParseAddr(address)} }
	to := func(address string) *policy.Request {
		return &policy.Request{Destination: netip.MustParseAddr(address)}
	}
	behind := func(address, remote string) *policy.Request {
		return &policy.Request{Source: netip.MustParseAddr(address), Remote: netip.MustParseAddr(remote)}
	}
	ports := is(attribute.DestinationPort, policy.Range, "8000-8999")
	block := is(attribute.SourceAddress, policy.CIDR, "10.0.0.0/8")
	for _, tt := range []struct {
		condition policy.Condition
		request   *policy.Request
		want      bool
	}{
		{ports, &policy.Request{Port: 7999}, false},
		{ports, &policy.Request{Port: 8000}, true},
		{ports, &policy.Request{Port: 8999}, true},
		{ports, &policy.Request{Port: 9000}, false},
		{ports, &policy.Request{}, false},
		{attribute.DestinationPort.Exact("80"), &policy.Request{Port: 80}, true},
		{attribute.DestinationPort.Exact("80"), &policy.Request{Port: 8080}, false},
		{block, from("9.255.255.255"), false},
		{block, from("10.0.0.0"), true},
		{block, from("10.255.255.255"), true},
		{block, from("11.0.0.0"), false},
		{block, from("::ffff:10.0.0.1"), false},
		{block, &policy.Request{}, false},
		{is(attribute.SourceAddress, policy.CIDR, "::ffff:10.0.0.0/104"), from("10.0.0.1"), false},
		{is(attribute.SourceAddress, policy.CIDR, "::ffff:10.0.0.0/104"), from("::ffff:10.0.0.1"), true},
		{is(attribute.SourceAddress, policy.CIDR, "0.0.0.0/0"), from("2001:db8::1"), false},
		{is(attribute.SourceAddress, policy.CIDR, "::/0"), from("10.0.0.1"), false},
		{attribute.SourceAddress.Exact("2001:db8::1"), from("2001:db8::1"), true},
		{block, behind("10.0.0.1", "192.0.2.1"), true},
		{attribute.RemoteAddress.Exact("192.0.2.1"), behind("10.0.0.1", "192.0.2.1"), true},
		{attribute.RemoteAddress.Exact("10.0.0.1"), behind("10.0.0.1", "192.0.2.1"), false},
		{attribute.RemoteAddress.Exact("10.0.0.1"), from("10.0.0.1"), true},
		{attribute.DestinationAddress.Exact("10.0.0.1"), from("10.0.0.1"), false},
		{attribute.DestinationAddress.Exact("10.0.0.1"), to("10.0.0.1"), true},
		{is(attribute.DestinationAddress, policy.CIDR, "10.0.0.0/8"), to("10.255.255.255"), true},
		{is(attribute.DestinationAddress, policy.CIDR, "10.0.0.0/8"), to("::ffff:10.0.0.1"), false},
	} {
		if got := tt.condition.Holds(tt.request); got != tt.want {
			t.Errorf("%s for %+v: %t, want %t", tt.condition, *tt.request, got, tt.want)
		}
	}
	for c, wrong := range map[policy.Is]bool{
		ports: false, block: false, attribute.DestinationPort.Exact("80"): false, attribute.SourceAddress.Exact("10.0.0.1"): false,
		attribute.DestinationPort.Exact("080"): true, attribute.DestinationPort.Prefix("80"): true, is(attribute.DestinationPort, policy.Range, "9-8"): true,
		is(attribute.DestinationPort, policy.CIDR, "10.0.0.0/8"): true, is(attribute.SourceAddress, policy.Range, "8000-8999"): true,
		attribute.SourceAddress.Exact("10.0.0.01"): true, attribute.RemoteAddress.Exact("10.0.0.0/8"): true,
		is(attribute.SourceAddress, policy.CIDR, "10.1.0.0/8"): true, is(attribute.RemoteAddress, policy.CIDR, "10.0.0.1"): true,
		{Attribute: attribute.RemoteAddress, Match: policy.Match{Kind: policy.CIDR, Value: "10.0.0.0/8", AnyCase: true}}: true,
	} {
		p := policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{{When: c}}}}}
		if err := p.Check(); (err != nil) != wrong {
			t.Errorf("%s: %v", c, err)
		}
	}
}
