package overlap_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/labelselector"
	"github.com/meshproof/meshproof/internal/overlap"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
)

// selecting is a target that asks for labels.
func selecting(s labelselector.Selector, conditions bool) capability.Target {
	with := func(in policy.Inbound, labels map[string]string) policy.Inbound {
		in.Workload.Labels = labels
		return in
	}
	return capability.Target{
		Conditions: conditions,
		Miss: func(in policy.Inbound) capability.Reason {
			if len(s.Misses(in.Workload.Labels)) > 0 {
				return capability.ReasonOf("other labels")
			}
			return nil
		},
		Fit: func(in policy.Inbound) policy.Inbound { return with(in, s.Fit(in.Workload.Labels)) },
		Vary: func(in policy.Inbound) (out []policy.Inbound) {
			for _, labels := range s.Vary(in.Workload.Labels) {
				out = append(out, with(in, labels))
			}
			return out
		},
	}
}

var operators = []string{labelselector.In, labelselector.NotIn, labelselector.Exists, labelselector.DoesNotExist}

// selectors draws some selectors over few labels.
func selectors(t *rapid.T) (all []labelselector.Selector, keys []string) {
	keys = []string{"a", "b", "c"}
	for range rapid.IntRange(1, 6).Draw(t, "selectors") {
		var s labelselector.Selector
		for range rapid.IntRange(0, 3).Draw(t, "expressions") {
			e := labelselector.Expression{Key: rapid.SampledFrom(keys).Draw(t, "key"), Operator: rapid.SampledFrom(operators).Draw(t, "operator")}
			if e.Operator == labelselector.In || e.Operator == labelselector.NotIn {
				e.Values = slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "z"}), 1, 2).Draw(t, "values"))))
			}
			s.MatchExpressions = append(s.MatchExpressions, e)
		}
		all = append(all, s)
	}
	return all, keys
}

// chosen has one letter for each target: whether it selects an inbound.
func chosen(targets []capability.Target, in policy.Inbound) string {
	key := make([]byte, len(targets))
	for i, t := range targets {
		key[i] = '-'
		if t.Selects(in) {
			key[i] = 'x'
		}
	}
	return string(key)
}

// hides reports whether a set of targets is a part of another one and has the same conditions.
func hides(targets []capability.Target, other, by string) bool {
	for i, t := range targets {
		if by[i] == 'x' && other[i] != 'x' || t.Conditions && by[i] != other[i] {
			return false
		}
	}
	return true
}

// Least finds what trying all labels finds.
func TestLeastIsLeast(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		all, keys := selectors(t)
		var targets []capability.Target
		for i, s := range all {
			targets = append(targets, selecting(s, rapid.Bool().Draw(t, fmt.Sprint("condition", i)) && i > 2))
		}
		given := []int{rapid.IntRange(0, len(targets)-1).Draw(t, "first"), rapid.IntRange(0, len(targets)-1).Draw(t, "second")}

		sets := map[string]bool{}
		values := []string{"", "x", "y", "z", "another"}
		for n := range len(values) * len(values) * len(values) {
			labels := map[string]string{}
			for i, key := range keys {
				if value := values[n/[]int{1, len(values), len(values) * len(values)}[i]%len(values)]; value != "" {
					labels[key] = value
				}
			}
			if key := chosen(targets, policy.Inbound{Workload: policy.Workload{Labels: labels}}); key[given[0]] == 'x' && key[given[1]] == 'x' {
				sets[key] = true
			}
		}
		want := slices.DeleteFunc(slices.Sorted(maps.Keys(sets)), func(key string) bool {
			for by := range sets {
				if by != key && hides(targets, key, by) {
					return true
				}
			}
			return false
		})

		found, whole := overlap.New(policy.Inbound{}, targets).Least(given...)
		var got []string
		for _, in := range found {
			got = append(got, chosen(targets, in))
		}
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" || !whole {
			t.Errorf("whole: %t (-want +got):\n%s", whole, d)
		}
	})
}

// Where there are more sets than a bound, Least says so, and soon.
func TestLeastIsBounded(t *testing.T) {
	t.Parallel()
	targets := []capability.Target{selecting(labelselector.Selector{}, false)}
	for i := range 40 {
		for _, operator := range []string{labelselector.Exists, labelselector.DoesNotExist} {
			targets = append(targets, selecting(labelselector.Selector{MatchExpressions: []labelselector.Expression{{Key: fmt.Sprint("k", i), Operator: operator}}}, false))
		}
	}
	if found, whole := overlap.New(policy.Inbound{}, targets).Least(0); whole {
		t.Errorf("%d inbounds, and no word of the others", len(found))
	}
}

// A set that nothing can meet has no inbound.
func TestLeastOfContradictions(t *testing.T) {
	t.Parallel()
	of := func(value string) capability.Target {
		return selecting(labelselector.Selector{MatchLabels: map[string]string{"a": value}}, false)
	}
	never := selecting(labelselector.Selector{MatchLabels: map[string]string{"a": "x"}, MatchExpressions: []labelselector.Expression{{Key: "a", Operator: labelselector.DoesNotExist}}}, false)
	space := overlap.New(policy.Inbound{}, []capability.Target{of("x"), of("y"), never})
	for _, given := range [][]int{{0, 1}, {2}, {0, 2}} {
		if found, whole := space.Least(given...); len(found) > 0 || !whole {
			t.Errorf("%v: %v, whole: %t", given, found, whole)
		}
	}
}

func BenchmarkLeast(b *testing.B) {
	var targets []capability.Target
	for i := range 200 {
		targets = append(targets, selecting(labelselector.Selector{MatchLabels: map[string]string{"app": fmt.Sprint("a", i), "tier": fmt.Sprint("t", i%5)}}, false))
	}
	space := overlap.New(policy.Inbound{}, targets)
	for b.Loop() {
		space.Least(7, 102)
	}
}
