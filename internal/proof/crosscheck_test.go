package proof

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/policy"
)

// No cover of the built-in cases contradicts itself.
func TestCrossCheckOfTheCases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: TestRulesAddUp checks the covers of some cases with -short too")
	}
	for _, c := range casetest.Stories(t) {
		if c.ExpectError != "" || len(c.Inbounds) == 0 {
			continue
		}
		p, err := Plan(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.crossCheck(); err != nil {
			t.Errorf("%s: %v", c.Place, err)
		}
	}
}

// No cover of random sets of policies contradicts itself.
func TestCrossCheckOfSets(t *testing.T) {
	t.Parallel()
	sets := uint64(600)
	if testing.Short() {
		sets = 20
	}
	for number := range sets {
		c := policyset.Draw(7, number)
		p, err := Plan(c)
		if err != nil {
			continue // one inbound refuses the policies
		}
		if err := p.crossCheck(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// Each fault of a plan is found by the proof itself.
func TestCrossCheck(t *testing.T) {
	t.Parallel()
	drop := func(p *Proof, gone func(ask) bool) {
		for i := len(p.asked) - 1; i >= 0; i-- {
			if gone(p.asked[i]) {
				p.asked, p.Case.Requests = slices.Delete(p.asked, i, i+1), slices.Delete(p.Case.Requests, i, i+1)
			}
		}
	}
	for name, tt := range map[string]struct {
		fault func(p *Proof)
		want  string
	}{
		"two classes are one": {func(p *Proof) {
			cover := p.Inbounds[0].Cover
			for i := range cover.Classes {
				cover.Classes[i] = cover.Classes[0]
			}
		}, "are one class, and are decided as"},
		"a class is missing": {func(p *Proof) {
			cover := p.Inbounds[0].Cover
			cover.Classes = cover.Classes[:1]
		}, "is in class"},
		"a witness is missing": {func(p *Proof) {
			last := p.Inbounds[0].Cover.Classes[len(p.Inbounds[0].Cover.Classes)-1].Witness
			drop(p, func(a ask) bool { return requestKey(a.request) == requestKey(last) })
		}, "is not asked"},
		"no request from another caller": {func(p *Proof) {
			witnesses := map[string]bool{}
			for _, c := range p.Inbounds[0].Cover.Classes {
				witnesses[requestKey(c.Witness)] = true
			}
			drop(p, func(a ask) bool {
				return !witnesses[requestKey(a.request)] && !strings.HasSuffix(strings.Join(a.request.URIs, ""), "x")
			})
		}, "the request of one class from the caller of another is not asked"},
		"no longer name": {func(p *Proof) {
			drop(p, func(a ask) bool { return strings.HasSuffix(strings.Join(a.request.URIs, ""), "x") })
		}, "a longer name is not asked"},
		"a part of a request is not sent": {func(p *Proof) {
			for i := range p.Case.Requests {
				p.Case.Requests[i].Path = "/"
			}
		}, "is asked by a request that is not of it"},
		"no other spelling": {func(p *Proof) {
			for i := range p.asked {
				p.Case.Requests[i].Path = p.asked[i].request.Path
			}
		}, "no path is asked in another spelling"},
		"a lost rule": {func(p *Proof) {
			program := p.Inbounds[0].Program
			program.Gates = slices.Clone(program.Gates)
			program.Gates[0].Rules = append([]policy.Rule{{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "new"}, When: policy.Is{Attribute: program.Gates[0].Rules[0].When.(policy.Is).Attribute, Match: policy.Match{Kind: policy.Exact, Value: "spiffe://trust-domain.mesh/other"}}}}, program.Gates[0].Rules...)
			p.Inbounds[0].Program = program
		}, "are one class, and are decided as"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := casetest.Parse(t, `
case: x
workloads: [{name: backend, inbounds: [{name: in, port: 80, protocol: http}]}]
requests: [{from: anonymous, to: backend/in, want: handshake-failure}]
policies:
  - type: MeshTrafficPermission
    name: p
    spec:
      default:
        deny: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]
        allow:
          - {spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/}, path: {type: Prefix, value: /metrics}}
`)
			p, err := Plan(c)
			if err != nil {
				t.Fatal(err)
			}
			if v := p.Judge(result.Case{}); v.Err != nil {
				t.Fatal(v.Err)
			}
			tt.fault(p)
			v := p.Judge(result.Case{})
			if !errors.As(v.Err, new(*CoverError)) || !strings.Contains(v.Err.Error(), tt.want) || v.Holds() {
				t.Errorf("%v, want %q", v.Err, tt.want)
			}
		})
	}
}

// Where a trusted header says no address, the caller's own counts: that of a caller without one is in some blocks.
func TestTrustedHeaderWithoutAddress(t *testing.T) {
	t.Parallel()
	for _, block := range []string{"10.0.0.0/8", "192.168.0.0/16"} {
		p, err := Plan(casetest.Parse(t, `
case: x
workloads: [{name: web, namespace: shop, inbounds: [{name: in, port: 80, protocol: http, xffTrustedHops: 1}]}]
requests: [{from: anonymous, to: web/in, want: deny}]
policies:
  - apiVersion: security.istio.io/v1
    kind: AuthorizationPolicy
    metadata: {name: p, namespace: shop}
    spec: {rules: [{from: [{source: {remoteIpBlocks: [`+block+`]}}]}]}
`))
		if err != nil {
			t.Fatal(err)
		}
		if v := p.Judge(result.Case{}); v.Err != nil {
			t.Errorf("%s: %v", block, v.Err)
		}
	}
}
