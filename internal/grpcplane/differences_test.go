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
	firstCaller  = "spiffe://trust-domain.mesh/a"
	secondCaller = "spiffe://trust-domain.mesh/b"
)

// allowOnly returns a program that allows one name.
func allowOnly(value string) policy.Program {
	return policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Form: policy.Named, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "only"}, When: attribute.URISAN.Exact(value)},
	}}}}
}

// TestDifferences lists how grpc-go reads certificates differently from Envoy. It fails when
// one of the two changes.
func TestDifferences(t *testing.T) {
	t.Parallel()
	const refused = "refused by the handshake"
	tests := []struct {
		name, rule string
		uris, dns  []string
		// envoy is the decision of the program and of Envoy.
		envoy policy.Effect
		grpc  string
	}{
		// grpc-go reads the DNS SANs only without a URI SAN. Envoy reads both.
		{"a DNS SAN after a URI SAN", firstCaller, []string{secondCaller}, []string{firstCaller}, policy.Allow, "deny"},
		{"a DNS SAN alone", firstCaller, nil, []string{firstCaller}, policy.Allow, "allow"},
		{"a DNS SAN after an empty URI SAN", firstCaller, []string{""}, []string{firstCaller}, policy.Allow, "deny"},
		{"an empty URI SAN after another", firstCaller, []string{firstCaller, ""}, nil, policy.Allow, "allow"},
		// grpc-go compares the output of net/url. Envoy compares the bytes.
		{"a scheme in capitals", firstCaller, []string{"SPIFFE://trust-domain.mesh/a"}, nil, policy.Deny, "allow"},
		{"an empty fragment", firstCaller, []string{firstCaller + "#"}, nil, policy.Deny, "allow"},
		{"an empty query", firstCaller, []string{firstCaller + "?"}, nil, policy.Deny, "deny"},
		{"a host in capitals", firstCaller, []string{"spiffe://TRUST-DOMAIN.mesh/a"}, nil, policy.Deny, "deny"},
		{"an escaped letter", firstCaller, []string{"spiffe://trust-domain.mesh/%61"}, nil, policy.Deny, "deny"},
		// Go refuses a certificate with a URI SAN that it cannot read.
		{"no URI", firstCaller, []string{firstCaller, "%zz"}, nil, policy.Allow, refused},
		{"a comma, as in two joined URI SANs", firstCaller, []string{firstCaller + "," + secondCaller}, nil, policy.Deny, "deny"},
		{"two URI SANs, the second named", firstCaller, []string{secondCaller, firstCaller}, nil, policy.Allow, "allow"},
		// Without a SAN both read the subject, which is empty here.
		{"no SAN", firstCaller, nil, nil, policy.Deny, "deny"},
	}
	programs := make([]*rbacv3.RBAC, len(tests))
	for i, tt := range tests {
		var err error
		if programs[i], err = grpcplane.Rules(allowOnly(tt.rule)); err != nil {
			t.Fatal(err)
		}
	}
	plane := start(t, domains, programs)
	callers := credentials{plane, map[string]*certs.Credential{}}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.Decide(allowOnly(tt.rule), policy.Request{URIs: tt.uris, DNS: tt.dns}).Effect; got != tt.envoy {
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
	named := allowOnly(firstCaller).Gates[0]
	for want, p := range map[string]policy.Program{
		"grpcplane: the rules of the program are ordered: grpc-go cannot run it": {Gates: []policy.Gate{{Layer: policy.L4}}},
		"grpcplane: the program has 2 gates: grpc-go cannot run it":              {Gates: []policy.Gate{named, named}},
		`grpcplane: rule allow by sni asks for the server name of the handshake, which grpc-go always takes for empty: grpc-go cannot run it`: {Gates: []policy.Gate{{Form: policy.Named, Rules: []policy.Rule{
			{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "sni"}, When: policy.Not{Condition: attribute.SNI.Exact("a.example")}},
		}}}},
		`grpcplane: rule allow by claim asks for a claim of a token, which grpc-go does not verify: grpc-go cannot run it`: {Gates: []policy.Gate{{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{
			{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "claim"}, When: policy.Not{Condition: attribute.Claim("sub").Exact("a")}},
		}}}},
		"grpcplane: the program has routes: grpc-go cannot run it": {Gates: []policy.Gate{named}, Routes: []policy.Route{{Name: "r"}}},
	} {
		if _, err := grpcplane.Rules(p); !errors.Is(err, grpcplane.ErrUnsupported) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	// A program without gates has no rules, and shadows are dropped.
	for _, p := range []policy.Program{{}, {Shadows: []policy.Gate{named}}} {
		if rules, err := grpcplane.Rules(p); rules != nil || err != nil {
			t.Errorf("%v, %v", rules, err)
		}
	}
	nameless := allowOnly(firstCaller)
	nameless.Gates[0].Rules[0].Origin = ""
	if _, err := grpcplane.Rules(nameless); err == nil || errors.Is(err, grpcplane.ErrUnsupported) {
		t.Errorf("a rule without a name: %v", err)
	}
}
