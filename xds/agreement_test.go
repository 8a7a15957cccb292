package xds

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/enginetest"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
)

// TestCompileAgreesWithDecide evaluates the filters of random programs as Envoy does, and
// compares the result with the oracle. It also checks Envoy's own validation rules.
func TestCompileAgreesWithDecide(t *testing.T) {
	t.Parallel()
	var maps, lists, residues atomic.Uint64
	property.Check(t, func(t *rapid.T) {
		p := drawProgram().Draw(t, "program")
		f, err := Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range f.Messages() {
			if err := messages.Validate(withStatPrefix(m)); err != nil {
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
			want, traces := policy.Explain(p, r)
			got := AccessLog{}
			got.SetFilters(f.run(&r))
			if d := decisionOf(got); d != want {
				t.Fatalf("program:\n%srequest %+v:\ngot  %+v\nwant %+v", p, r, d, want)
			}
			if diff := cmp.Diff(verdictsOf(traces), verdictsOfLogs(got.Filters)); diff != "" {
				t.Fatalf("program:\n%srequest %+v: filter by filter (-want +got):\n%s", p, r, diff)
			}
		}
	})
	t.Logf("%d maps with %d residues, %d lists", maps.Load(), residues.Load(), lists.Load())
	// With -short rapid draws a fifth, which is too few for rare forms.
	if testing.Short() {
		return
	}
	if maps.Load() == 0 || lists.Load() == 0 || residues.Load() == 0 {
		t.Errorf("%d maps, %d residues, %d lists: the programs do not try all forms", maps.Load(), residues.Load(), lists.Load())
	}
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

// run asks the filters in Envoy's order, until one refuses.
func (f Filters) run(r *policy.Request) (out []FilterLog) {
	places := f.Places()
	network, http := places[:len(f.Network)], places[len(f.Network):]
	for i, filter := range f.Network {
		out = append(out, runFilter(network[i], compiled{filter.Matcher, filter.Rules}, compiled{filter.ShadowMatcher, filter.ShadowRules}, filter.ShadowRulesStatPrefix, r))
	}
	var route *Route
	if i := slices.IndexFunc(f.Routes, func(route Route) bool { return enginetest.Routes(route.Match, r) }); i >= 0 {
		route = &f.Routes[i]
	}
	for i, filter := range f.HTTP {
		name := filter.ShadowRulesStatPrefix
		if route != nil && i < len(route.HTTP) {
			filter = route.HTTP[i]
		} else if route != nil {
			filter = &httprbacv3.RBAC{}
		}
		out = append(out, runFilter(http[i], compiled{filter.Matcher, filter.Rules}, compiled{filter.ShadowMatcher, filter.ShadowRules}, name, r))
	}
	for i, log := range out {
		if log.Enforced.Ran && log.Enforced.Verdict.Effect == policy.Deny {
			return out[:i+1]
		}
	}
	return out
}

func runFilter(place FilterPlace, enforced, shadow compiled, name string, r *policy.Request) FilterLog {
	run := func(c compiled) (e Engine) {
		e.Verdict, e.Ran = enginetest.Judge(c.matcher, c.rules, r)
		return e
	}
	return FilterLog{FilterPlace: place, Enforced: run(enforced), Shadow: run(shadow), ShadowName: name}
}

func decisionOf(l AccessLog) policy.Decision {
	d := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}, Shadowed: l.Shadow.Ran, Shadow: l.Shadow.Verdict}
	if l.Enforced.Ran {
		d.Verdict = l.Enforced.Verdict
	}
	for _, f := range l.Filters {
		if f.Enforced.Ran && !f.Logs {
			d.Layer = f.Layer
		}
	}
	return d
}

// verdictsOf lists what gates, then shadows say, each with its layer and name.
func verdictsOf(traces []policy.Trace) (out []string) {
	for _, t := range traces {
		kind := "gate"
		if t.Shadow {
			kind = "shadow " + t.Gate.Name
		}
		out = append(out, fmt.Sprintf("%s %s: %s", kind, t.Gate.Layer, t.Verdict))
	}
	return out
}

func verdictsOfLogs(logs []FilterLog) (gates []string) {
	var shadows []string
	for _, f := range logs {
		if f.Enforced.Ran {
			gates = append(gates, fmt.Sprintf("gate %s: %s", f.Layer, f.Enforced.Verdict))
		}
		if f.Shadow.Ran {
			shadows = append(shadows, fmt.Sprintf("shadow %s %s: %s", f.ShadowName, f.Layer, f.Shadow.Verdict))
		}
	}
	return append(gates, shadows...)
}
