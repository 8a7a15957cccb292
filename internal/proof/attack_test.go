package proof_test

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
)

// An adversary asks for what the policies deny it, and wants to be refused.
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
}
