package proof_test

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
)

// No certificate is mistaken for that of a caller who is let in.
func TestAttack(t *testing.T) {
	t.Parallel()
	p := plan(t, parse(t, `
case: x
workloads: [{name: backend, inbounds: [{name: http-port, port: 80, protocol: http}, {name: tcp-port, port: 81, protocol: tcp}]}]
policies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/shop/sa/victim}}]}}}]
requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]
`))
	before := len(p.Asked())
	if n := p.Attack(); n < 60 || len(p.Asked()) != before+n {
		t.Fatalf("%d requests of an adversary, %d in all", n, len(p.Asked()))
	}
	for _, q := range p.Asked()[before:] {
		if q.Want != cases.Refused || policy.Decide(p.Inbounds[0].Program, q.Seen).Effect != policy.Deny {
			t.Errorf("%s: %s", q.From.Name, q.Want)
		}
	}
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	if v := p.Judge(suite.Runner{Harness: h, Kept: true}.Case(t.Context(), p.Case)); !v.Holds() {
		t.Errorf("%v", v.Err)
		for _, q := range v.Disagreements {
			t.Errorf("%s to %s: %q", q.From.Name, q.To, q.Problems)
		}
	}
	// A compiler that lets everybody in lets those in whom mTLS does not keep out.
	if v := p.Judge(suite.Runner{Harness: h, Compiler: suite.AllowEverything}.Case(t.Context(), p.Case)); len(v.Disagreements) < 20 {
		t.Errorf("%d disagreements", len(v.Disagreements))
	}
}
