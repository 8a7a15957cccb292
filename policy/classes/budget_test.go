package classes

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestAllSearchesTogetherAreBounded spends the budget of a cover, and says so.
func TestAllSearchesTogetherAreBounded(t *testing.T) {
	t.Parallel()
	when := policy.And{
		policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Suffix, Value: "/a"}},
		policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Contains, Value: "/b"}},
	}
	p := policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{{When: when, Verdict: policy.Verdict{Effect: policy.Allow}}}}}}
	if whole := Cut(Surface{Protocol: policy.HTTP}, p); !whole.Complete() {
		t.Fatalf("sampled: %q", whole.Sampled)
	}
	c := &Cover{layer: policy.L7, programs: []policy.Program{p}, table: tableOf([]policy.Program{p})}
	s := surveyOf(c.table, c.programs)
	r := &regular{cover: c, numbers: map[policy.Is]int32{}, simplifier: simplifier{numbers: map[string]int32{}}, classes: map[string]int{}, limit: maxClasses}
	c.regular = r
	r.programs = append(r.programs, compiler{table: c.table, axes: make([]*axis, len(c.table.rows)), regular: r}.program(p))
	r.number(&r.programs[0])
	r.values = newValues(r, Surface{Protocol: policy.HTTP}, &s)
	r.values.search.Budget = 1
	(&tour{regular: r, known: map[int32]bool{}, request: r.values.start()}).program(0)
	if sampled := strings.Join(r.values.sampled(), "\n"); !strings.Contains(sampled, "all searches together met their limit") {
		t.Errorf("sampled: %q", sampled)
	}
}
