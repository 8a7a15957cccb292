package classes

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// pattern is a matcher in the form that is the same for every dimension: it covers a text
// that is the pattern's own (Exact), or that begins with it (Prefix).
type pattern struct {
	text string
	kind policy.MatchKind
}

func (p pattern) covers(text string) bool {
	return policy.Match{Kind: p.kind, Value: p.text}.Matches(text)
}

// family is a set of patterns. Two patterns cover nothing in common, or one of them
// covers all that the other covers. So they form a tree, and the innermost pattern that
// covers a text tells for all patterns whether they cover it: n patterns cut all texts
// into at most n+1 cells.
//
// Patterns and cells have the same numbers, in the order of a walk down the tree.
// Number 0 is the prefix "": its cell is the rest.
type family struct {
	patterns []pattern
	parents  []int32
	// ends holds, for each pattern, the number behind the last one inside it.
	ends []int32
}

func newFamily(patterns []pattern) *family {
	sorted := append([]pattern{{kind: policy.Prefix}}, patterns...)
	slices.SortFunc(sorted, pattern.compare)
	sorted = slices.Compact(sorted)
	f := &family{patterns: sorted, parents: make([]int32, len(sorted)), ends: make([]int32, len(sorted))}
	// open are the patterns that the next one may be inside of.
	open := make([]int32, 0, 8)
	closeUntil := func(covered func(p pattern) bool, at int) {
		for len(open) > 0 && !covered(sorted[open[len(open)-1]]) {
			f.ends[open[len(open)-1]] = int32(at)
			open = open[:len(open)-1]
		}
	}
	for i, p := range sorted {
		closeUntil(func(q pattern) bool { return q.kind == policy.Prefix && q.covers(p.text) }, i)
		if len(open) > 0 {
			f.parents[i] = open[len(open)-1]
		}
		open = append(open, int32(i))
	}
	closeUntil(func(pattern) bool { return false }, len(sorted))
	return f
}

// compare puts a pattern in front of all that it covers.
func (p pattern) compare(q pattern) int {
	return cmp.Or(strings.Compare(p.text, q.text), int(q.kind)-int(p.kind))
}

// number returns the number of one of the family's patterns.
func (f *family) number(p pattern) int32 {
	i, _ := slices.BinarySearchFunc(f.patterns, p, pattern.compare)
	return int32(i)
}

// find returns the cell of a text. Everything that sorts between a prefix of the
// text and the text itself has that prefix too, so that the innermost pattern is
// the last one that does not sort behind the text, or one around it.
func (f *family) find(text string) int32 {
	i := int32(sort.Search(len(f.patterns), func(i int) bool { return f.patterns[i].text > text }) - 1)
	for !f.patterns[i].covers(text) {
		i = f.parents[i]
	}
	return i
}

// covers reports whether pattern i covers cell j.
func (f *family) covers(i, j int32) bool { return i <= j && j < f.ends[i] }

// nearest returns the index of the innermost key that covers the cell. The keys are in
// order, and the outermost covers the cell.
func (f *family) nearest(keys []int32, cell int32) int {
	for {
		if at, ok := slices.BinarySearch(keys, cell); ok {
			return at
		}
		cell = f.parents[cell]
	}
}

// children are the patterns directly inside pattern i.
func (f *family) children(i int32) []int32 {
	var out []int32
	for k := i + 1; k < f.ends[i]; k = f.ends[k] {
		out = append(out, k)
	}
	return out
}
