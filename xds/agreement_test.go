package xds

import (
	"sync/atomic"
	"testing"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds/internal/rbac"
)

// TestCompileAgreesWithDecide holds the filters of random programs, evaluated as
// Envoy does, against the oracle, and against Envoy's own validation rules.
func TestCompileAgreesWithDecide(t *testing.T) {
	t.Parallel()
	var maps, lists, residues atomic.Uint64
	rapid.Check(t, func(t *rapid.T) {
		p := drawProgram().Draw(t, "program")
		f, err := Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range f.Messages() {
			if err := Validate(withStatPrefix(m)); err != nil {
				t.Fatalf("program:\n%s%v", p, err)
			}
		}
		for _, m := range f.matchers() {
			tree := m.GetMatcherTree()
			if tree == nil {
				lists.Add(1)
				continue
			}
			maps.Add(1)
			for _, entry := range tree.GetExactMatchMap().Map {
				if entry.GetMatcher() != nil {
					residues.Add(1)
				}
			}
		}
		for range 20 {
			r := drawRequest().Draw(t, "request")
			want, got := policy.Decide(p, r), f.decide(&r)
			if got != want {
				t.Fatalf("program:\n%srequest %+v:\ngot  %+v\nwant %+v", p, r, got, want)
			}
		}
	})
	if maps.Load() == 0 || lists.Load() == 0 || residues.Load() == 0 {
		t.Errorf("%d maps, %d residues, %d lists: the programs do not try all forms", maps.Load(), residues.Load(), lists.Load())
	}
	t.Logf("%d maps with %d residues, %d lists", maps.Load(), residues.Load(), lists.Load())
}

// TestIdentityTreeAgreesWithList compiles one gate in both forms.
func TestIdentityTreeAgreesWithList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := drawGate(policy.L7).Draw(t, "gate")
		tree, err := rbac.Ordered(g)
		if err != nil {
			t.Fatal(err)
		}
		list, err := rbac.List(g)
		if err != nil {
			t.Fatal(err)
		}
		if tree.GetMatcherTree() == nil {
			return
		}
		for range 20 {
			r := drawRequest().Draw(t, "request")
			if got, want := judge(tree, &r), judge(list, &r); got != want {
				t.Fatalf("gate:\n%srequest %+v: the map says %s, the list %s", policy.Program{Gates: []policy.Gate{g}}, r, got, want)
			}
		}
	})
}

func (f Filters) matchers() []*matcherv3.Matcher {
	var out []*matcherv3.Matcher
	for _, filter := range f.Network {
		out = append(out, filter.Matcher, filter.ShadowMatcher)
	}
	for _, filter := range f.HTTP {
		out = append(out, filter.Matcher, filter.ShadowMatcher)
	}
	return out
}

// decide asks the filters in Envoy's order; the shadow as an observer that sees
// every request.
func (f Filters) decide(r *policy.Request) policy.Decision {
	d := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}
	var shadow compiled
	for _, filter := range f.Network {
		d.Verdict, d.Layer = compiled{filter.Matcher, filter.Rules}.judge(r), policy.L4
		shadow = compiled{filter.ShadowMatcher, filter.ShadowRules}
	}
	for _, filter := range f.HTTP {
		if route := f.route(r); route != nil {
			filter = route.RBAC
		}
		if d.Effect == policy.Allow {
			d.Verdict, d.Layer = compiled{filter.Matcher, filter.Rules}.judge(r), policy.L7
		}
		if filter.ShadowMatcher != nil || filter.ShadowRules != nil {
			shadow = compiled{filter.ShadowMatcher, filter.ShadowRules}
		}
	}
	if shadow != (compiled{}) {
		d.Shadowed, d.Shadow = true, shadow.judge(r)
	}
	return d
}
