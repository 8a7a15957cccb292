package classes

import (
	"cmp"
	"slices"
)

// touch says that a step of a list looks at a pattern.
type touch struct{ cell, step int32 }

// touches tells which steps of a list look at which patterns of one dimension. A step is named
// once for each of its looks.
type touches struct {
	// steps are in the order of the patterns that they look at, and cells are these patterns.
	steps, cells []int32
	// starts has, for each pattern and for the number behind the last, where its steps begin. It is nil where few of
	// the patterns are looked at: a list within each of many rules must not know all patterns.
	starts []int32
}

// newTouches puts looks in order that are in the order of their steps. The dimension has this many patterns.
func newTouches(looks []touch, patterns int) touches {
	if len(looks) < patterns/4 {
		slices.SortStableFunc(looks, func(a, b touch) int { return cmp.Compare(a.cell, b.cell) })
		out := touches{steps: make([]int32, len(looks)), cells: make([]int32, len(looks))}
		for i, look := range looks {
			out.steps[i], out.cells[i] = look.step, look.cell
		}
		return out
	}
	// The steps are counted one place too high, so that each start stands in its place when all steps have moved it.
	starts := make([]int32, patterns+2)
	for _, look := range looks {
		starts[look.cell+2]++
	}
	for i := 2; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	steps := make([]int32, len(looks))
	for _, look := range looks {
		steps[starts[look.cell+1]] = look.step
		starts[look.cell+1]++
	}
	return touches{steps: steps, starts: starts[:patterns+1]}
}

// inRange returns the steps that look at a range of patterns.
func (t *touches) inRange(from, to int32) []int32 {
	if t.starts != nil {
		return t.steps[t.starts[from]:t.starts[to]]
	}
	begin, _ := slices.BinarySearch(t.cells, from)
	// The caller looks at each of them, and there are few in most ranges.
	end := begin
	for end < len(t.cells) && t.cells[end] < to {
		end++
	}
	return t.steps[begin:end]
}
