package grpcplane_test

import (
	"errors"
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/grpcplane"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

const (
	own   = "spiffe://trust-domain.mesh/a"
	other = "spiffe://trust-domain.mesh/b"
)

// only lets one name in.
func only(value string) policy.Program {
	return policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Form: policy.Named, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "only"}, When: attribute.URISAN.Exact(value)},
	}}}}
}

// Where grpc-go reads a certificate otherwise than Envoy, this says how: a change of
// either is noticed here.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const refused = "refused by the handshake"
	tests := []struct {
		name, rule string
		uris, dns  []string
		// envoy is what the program says, which is what Envoy decides.
		envoy policy.Effect
		grpc  string
	}{
		// grpc-go looks at the DNS SANs only where there is no URI SAN, Envoy at both.
		{"a DNS SAN behind a URI SAN", own, []string{other}, []string{own}, policy.Allow, "deny"},
		{"a DNS SAN alone", own, nil, []string{own}, policy.Allow, "allow"},
		{"a DNS SAN behind an empty URI SAN", own, []string{""}, []string{own}, policy.Allow, "deny"},
		{"an empty URI SAN behind another", own, []string{own, ""}, nil, policy.Allow, "allow"},
		// grpc-go compares URI SANs as net/url writes them again, Envoy the bytes.
		{"a scheme in capitals", own, []string{"SPIFFE://trust-domain.mesh/a"}, nil, policy.Deny, "allow"},
		{"an empty fragment", own, []string{own + "#"}, nil, policy.Deny, "allow"},
		{"an empty query", own, []string{own + "?"}, nil, policy.Deny, "deny"},
		{"a host in capitals", own, []string{"spiffe://TRUST-DOMAIN.mesh/a"}, nil, policy.Deny, "deny"},
		{"an escaped letter", own, []string{"spiffe://trust-domain.mesh/%61"}, nil, policy.Deny, "deny"},
		// Go refuses certificates whose URI SANs it cannot read.
		{"no URI", own, []string{own, "%zz"}, nil, policy.Allow, refused},
		{"a comma, as two URI SANs look to a matcher", own, []string{own + "," + other}, nil, policy.Deny, "deny"},
		{"two URI SANs, the second named", own, []string{other, own}, nil, policy.Allow, "allow"},
		// Both take the subject where there is no SAN; here it is empty.
		{"no SAN", own, nil, nil, policy.Deny, "deny"},
	}
	programs := make([]*rbacv3.RBAC, len(tests))
	for i, tt := range tests {
		var err error
		if programs[i], err = grpcplane.Rules(only(tt.rule)); err != nil {
			t.Fatal(err)
		}
	}
	plane := start(t, domains, programs)
	callers := wallet{plane, map[string]*certs.Credential{}}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.Decide(only(tt.rule), policy.Request{URIs: tt.uris, DNS: tt.dns}).Effect; got != tt.envoy {
				t.Errorf("the program says %s, want %s", got, tt.envoy)
			}
			effect, err := plane.Ask(t.Context(), i, callers.credential(t, tt.uris, tt.dns))
			got := effect.String()
			if errors.Is(err, grpcplane.ErrNoConnection) {
				got = refused
			} else if err != nil {
				t.Fatal(err)
			}
			if got != tt.grpc {
				t.Errorf("grpc-go: %s, want %s", got, tt.grpc)
			}
		})
	}
}

func TestRulesRefuse(t *testing.T) {
	t.Parallel()
	named := only(own).Gates[0]
	for want, p := range map[string]policy.Program{
		"grpcplane: the rules of the program are ordered: grpc-go cannot run it": {Gates: []policy.Gate{{Layer: policy.L4}}},
		"grpcplane: the program has 2 gates: grpc-go cannot run it":              {Gates: []policy.Gate{named, named}},
		"grpcplane: the program has routes: grpc-go cannot run it":               {Gates: []policy.Gate{named}, Routes: []policy.Route{{Name: "r"}}},
	} {
		if _, err := grpcplane.Rules(p); !errors.Is(err, grpcplane.ErrUnsupported) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// Whoever is let pass without a filter has no rules; a shadow is left out.
	for _, p := range []policy.Program{{}, {Shadows: []policy.Gate{named}}} {
		if rules, err := grpcplane.Rules(p); rules != nil || err != nil {
			t.Errorf("%v, %v", rules, err)
		}
	}
	nameless := only(own)
	nameless.Gates[0].Rules[0].Origin = ""
	if _, err := grpcplane.Rules(nameless); err == nil || errors.Is(err, grpcplane.ErrUnsupported) {
		t.Errorf("a rule without a name: %v", err)
	}
}
