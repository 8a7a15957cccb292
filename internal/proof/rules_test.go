package proof_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/policy"
)

// rules returns the rules of the first inbound of a case.
func rules(t *testing.T, c cases.Case) []proof.Rule {
	t.Helper()
	p := plan(t, c)
	return p.Judge(result.Case{Case: p.Case}).Inbounds[0].Rules
}

// A broad deny hides an allow: the report names both rules.
func TestRulesThatNeverDecide(t *testing.T) {
	t.Parallel()
	got := rules(t, casetest.Parse(t, `
case: x
workloads: [{name: backend, inbounds: [{name: in, port: 80, protocol: http}]}]
policies:
  - type: MeshTrafficPermission
    name: p
    spec:
      default:
        deny: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/legacy/}}]
        allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/shop/sa/a}}]
  - type: MeshTrafficPermission
    name: q
    spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/legacy/sa/a}}]}}
requests: [{from: anonymous, to: backend/in, want: handshake-failure}]
`))
	dead := map[string]proof.Rule{}
	for _, r := range got {
		if r.Dead() {
			dead[r.When] = r
		}
		if r.Met > 0 && !r.Dead() {
			t.Errorf("%s decides %d requests, and counts the requests that meet it", r, r.Decided)
		}
	}
	hidden := dead[`identity = "spiffe://trust-domain.mesh/ns/legacy/sa/a"`]
	if len(dead) != 1 || len(hidden.HiddenBy) != 1 || !strings.HasPrefix(hidden.HiddenBy[0], "deny by kri_mtp_default___p_ when identity starts with") || hidden.Met == 0 {
		t.Errorf("never deciding are %+v", dead)
	}
	if last := got[len(got)-1]; last.Dead() || last.When != "" || last.String() != "else deny by default" || last.Decided == 0 {
		t.Errorf("the default is %+v", last)
	}
}

// A gate gets the requests that the gate before it let pass, and the gate of a route gets the
// requests of the route. The decisions add up to the requests.
func TestRulesAddUp(t *testing.T) {
	t.Parallel()
	for _, story := range planStories() {
		if story.err != nil {
			continue
		}
		c, p := story.c, story.p
		v := p.Judge(result.Case{Case: p.Case})
		if errors.As(v.Err, new(*proof.CoverError)) {
			t.Errorf("%s: %v", c.Place, v.Err)
		}
		for i, in := range v.Inbounds {
			if len(p.Inbounds[i].Program.Gates) != 1 || len(p.Inbounds[i].Program.Routes) > 0 {
				continue
			}
			asked, decided, shadowed := 0, 0, 0
			for _, q := range p.Asked() {
				if q.To == in.Inbound.String() {
					asked++
				}
			}
			for _, r := range in.Rules {
				if r.Shadow {
					shadowed += r.Decided
				} else {
					decided += r.Decided
				}
			}
			// A shadow behind a gate sees what the gate lets pass.
			shadows := p.Inbounds[i].Program.Shadows
			behind := slices.ContainsFunc(shadows, func(g policy.Gate) bool { return g.Preceding > 0 })
			if most := asked * len(shadows); decided != asked || shadowed > most || shadowed != 0 && shadowed != most && !behind {
				t.Errorf("%s: %s: of %d requests %d are decided, %d by shadows", c.Place, in.Inbound, asked, decided, shadowed)
			}
		}
	}
}
