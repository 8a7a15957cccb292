package lowering

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMergeReadsItsDeclaration merges a conf of no policy: only the tag of a field says how
// it is merged.
func TestMergeReadsItsDeclaration(t *testing.T) {
	t.Parallel()
	type nested struct{ Value string }
	type settings struct {
		Concat    []int `policyMerge:"concat"`
		Override  []int
		Scalar    string
		Pointer   *int
		Structure nested
	}
	one, two := 1, 2
	for _, tt := range []struct {
		name  string
		confs []settings
		want  settings
	}{
		{name: "none"},
		{name: "one", confs: []settings{{Concat: []int{1}, Override: []int{1}, Scalar: "a"}}, want: settings{Concat: []int{1}, Override: []int{1}, Scalar: "a"}},
		{name: "several",
			confs: []settings{
				{Concat: []int{1, 2}, Override: []int{1, 2}, Scalar: "a", Pointer: &one, Structure: nested{"x"}},
				{Scalar: "b"},
				{Concat: []int{3}, Override: []int{3}, Pointer: &two},
			},
			want: settings{Concat: []int{1, 2, 3}, Override: []int{3}, Scalar: "b", Pointer: &two, Structure: nested{"x"}}},
		{name: "an empty list is set, an absent one is not", confs: []settings{{Override: []int{1}}, {Concat: []int{}}, {}}, want: settings{Concat: []int{}, Override: []int{1}}},
		{name: "a list empties the one before it", confs: []settings{{Override: []int{1}}, {Override: []int{}}}, want: settings{Override: []int{}}},
	} {
		if diff := cmp.Diff(tt.want, merge(tt.confs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestMergeSharesNothing(t *testing.T) {
	t.Parallel()
	type conf struct {
		List []int `policyMerge:"concat"`
	}
	first := conf{List: append(make([]int, 0, 8), 1)}
	merged := merge([]conf{first, {List: []int{2}}})
	merged.List[0] = 9
	if first.List[0] != 1 || first.List[:2][1] != 0 {
		t.Errorf("merging wrote into a conf: %v", first.List[:2])
	}
}

func TestMergeRefusesAnUnknownStrategy(t *testing.T) {
	t.Parallel()
	defer func() {
		const want = `kuma: field List of lowering.conf declares the merge strategy "append", which is unknown: use concat, or no tag`
		if got := recover(); got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}()
	type conf struct {
		List []int `policyMerge:"append"`
	}
	merge([]conf{{}})
}
