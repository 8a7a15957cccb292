package verify

import (
	"reflect"
	"testing"
)

func TestJoinInbounds(t *testing.T) {
	t.Parallel()
	of := func(inbound, reason string) Unverified {
		return Unverified{Gap: Contradicted, Inbound: inbound, Reasons: []string{reason}}
	}
	all := []Unverified{of("a", "x"), of("b", "y"), of("c", "x"), of("c", "x"), of("d", "x"), {Gap: NoPolicies, Inbound: "a"}, of("e", "x"), of("f", "x")}
	want := []Unverified{of("a, c, d, 2 more", "x"), of("b", "y"), {Gap: NoPolicies, Inbound: "a"}}
	if got := joinInbounds(all); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestCompareTrustDomains finds rules about another trust domain, once, and only where both sides name one.
func TestCompareTrustDomains(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wanted, enforced []string
		found            int
	}{
		{[]string{"a"}, []string{"b"}, 1},
		{[]string{"a"}, []string{"a", "b"}, 0},
		{nil, []string{"b"}, 0},
		{[]string{"a"}, nil, 0},
	} {
		var v Verification
		v.compareTrustDomains(tt.wanted, tt.enforced)
		v.compareTrustDomains(tt.wanted, tt.enforced)
		if len(v.Findings) != tt.found {
			t.Errorf("%v, %v: %v", tt.wanted, tt.enforced, v.Findings)
		}
	}
}
