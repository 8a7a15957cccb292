package examination_test

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
)

const named = `
case: friends only
workloads: [{name: backend, namespace: default, inbounds: [{name: http-port, port: 8080}]}]
policies:
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: deny}, spec: {action: DENY, rules: [{to: [{operation: {paths: ["/admin*"]}}]}]}}
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: friends}, spec: {rules: [{from: [{source: {principals: [trust-domain.mesh/friend]}}]}]}}
requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]
`

// TestEveryCellIsABackDoor makes a back door of every match of every attribute that a form of
// filter can ask for: one more rule that allows, and an exception to each rule that denies. Each
// is told.
func TestEveryCellIsABackDoor(t *testing.T) {
	t.Parallel()
	readings := map[policy.Form]*verdict.Reading{}
	for form, text := range map[policy.Form]string{policy.Ordered: text, policy.Named: named} {
		reading, err := verdict.Read(casetest.Parse(t, text))
		if err != nil {
			t.Fatal(err)
		}
		readings[form] = reading
	}
	n := 0
	for cell := range programtest.Cells(func(p policy.Program) error { _, err := xds.Compile(p); return err }) {
		reading := readings[cell.Form]
		for how, bend := range bends {
			program := reading.Inbounds()[0].Program.Program
			program.Gates = slices.Clone(program.Gates)
			for i := range program.Gates {
				program.Gates[i].Rules = slices.Clone(program.Gates[i].Rules)
			}
			bend(&program, cell.Is)
			filters, err := xds.Compile(program)
			if err != nil {
				continue // another layer
			}
			if !opens(reading.Inbounds()[0], program, cell) {
				continue
			}
			n++
			if x := examination.Examine(reading, []xds.Filters{filters}, true, 2); x.Differing == 0 && len(x.Unread) == 0 {
				t.Errorf("%s: %s by %s rules is not told", how, cell.Is, cell.Form)
			}
		}
	}
	if n < 100 {
		t.Errorf("%d back doors", n)
	}
}

// opens reports whether some request that meets the cell, or does not, is decided otherwise.
func opens(in verdict.Inbound, bent policy.Program, cell programtest.Cell) bool {
	for _, class := range classes.Cut(in.Surface(), cell.Allowing()).Classes {
		for _, path := range []string{class.Witness.Path, "/admin", "/admin/x"} {
			for _, uris := range [][]string{class.Witness.URIs, {"spiffe://trust-domain.mesh/friend"}} {
				r := class.Witness
				r.Path, r.URIs, r.Port = path, uris, in.Port
				if len(uris) > 0 && in.Decide(r).Effect != policy.Decide(bent, r).Effect {
					return true
				}
			}
		}
	}
	return false
}

var bends = map[string]func(*policy.Program, policy.Condition){
	"one more allow": func(p *policy.Program, when policy.Condition) {
		last := &p.Gates[len(p.Gates)-1]
		last.Rules = append(last.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "x"}, When: when})
	},
	"one more allow, unless": func(p *policy.Program, when policy.Condition) {
		last := &p.Gates[len(p.Gates)-1]
		last.Rules = append(last.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "x"}, When: policy.Not{Condition: when}})
	},
	"an exception to each deny": func(p *policy.Program, when policy.Condition) {
		for _, gate := range p.Gates {
			for i, rule := range gate.Rules {
				if rule.Effect == policy.Deny {
					gate.Rules[i].When = policy.And{rule.When, policy.Not{Condition: when}}
				}
			}
		}
	},
	"a condition on each deny": func(p *policy.Program, when policy.Condition) {
		for _, gate := range p.Gates {
			for i, rule := range gate.Rules {
				if rule.Effect == policy.Deny {
					gate.Rules[i].When = policy.And{rule.When, when}
				}
			}
		}
	},
}
