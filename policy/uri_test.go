package policy_test

import (
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

func TestURI(t *testing.T) {
	t.Parallel()
	const good, bad = "spiffe://td/ns/a/sa/good", "spiffe://td/ns/a/sa/bad"
	for _, tt := range []struct {
		kind      policy.MatchKind
		value     string
		uris, dns []string
		want      bool
	}{
		{policy.Exact, good, []string{good}, nil, true},
		{policy.Exact, good, []string{good + "/x"}, nil, false},
		{policy.Exact, good, nil, nil, false},
		{policy.Prefix, "spiffe://td/ns/a/", []string{"spiffe://td/ns/ab/sa/x"}, nil, false},
		// Each name is compared by itself, unlike in the identity.
		{policy.Exact, good, []string{good, bad}, nil, true},
		{policy.Exact, bad, []string{good, bad}, nil, true},
		{policy.Prefix, "spiffe://td/ns/a/sa/b", []string{good, bad}, nil, true},
		{policy.Exact, good + "," + bad, []string{good, bad}, nil, false},
		// Envoy's principal does not tell the kinds of names apart.
		{policy.Exact, good, []string{bad}, []string{"x.example", good}, true},
		{policy.Exact, good, nil, []string{good}, true},
		{policy.Prefix, "spiffe://td/ns/a/", nil, []string{"td/ns/a/sa/good"}, false},
	} {
		c := policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: tt.kind, Value: tt.value}}
		if got := c.Holds(&policy.Request{URIs: tt.uris, DNS: tt.dns}); got != tt.want {
			t.Errorf("%s for %q and DNS %q: %t, want %t", c, tt.uris, tt.dns, got, tt.want)
		}
	}
	if (attribute.Identity.Exact(good)).Holds(&policy.Request{URIs: []string{bad}, DNS: []string{good}}) {
		t.Error("an ordered rule sees a DNS SAN")
	}
}
