package classes

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/meshproof/meshproof/policy"
)

// intervals is a space whose keys are numbers, and whose patterns are intervals of them. A
// key is the bytes of the number, and all keys of a space have one length.
type intervals interface {
	space
	// firstKey returns the first key at a text, or behind it, that can be sent.
	firstKey(text string) (string, bool)
	// natural returns a value that can be sent, for requests of which nothing is asked.
	natural() string
}

// interval is the pattern of the keys from the first one to the last one.
func interval(first, last string) pattern {
	return pattern{text: first, last: last, kind: policy.Range}
}

// keyAfter returns the text of the number behind a number, and false behind the last one.
func keyAfter(key string) (string, bool) {
	next := []byte(key)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]++; next[i] != 0 {
			return string(next), true
		}
	}
	return "", false
}

// keyBefore returns the text of the number in front of a number, and false for the first one.
func keyBefore(key string) (string, bool) {
	next := []byte(key)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i]--; next[i] != 0xff {
			return string(next), true
		}
	}
	return "", false
}

// searchInterval returns a value of a cell. A gap between the intervals inside the cell
// begins where the cell does, or behind one of them. So a cell without a value in these
// places has none.
func (a *axis) searchInterval(in intervals, cell int32) (string, error) {
	p := a.patterns[cell]
	starts := make([]string, 0, 2)
	if second, ok := keyAfter(p.text); ok && p.text != p.last {
		// The first address of a block is the name of the block for many.
		starts = append(starts, second)
	}
	starts = append(starts, p.text)
	inside := a.children(cell)
	for _, child := range inside {
		if start, ok := keyAfter(a.patterns[child].last); ok {
			starts = append(starts, start)
		}
	}
	for _, start := range starts {
		if key, ok := in.firstKey(start); ok && a.find(key) == cell {
			return in.value(key), nil
		}
	}
	for _, start := range slices.Backward(starts) {
		value := in.value(start)
		if err := in.sound(value); value != "" && err != nil && a.find(start) == cell {
			return "", err
		}
	}
	if len(inside) == 0 {
		return "", errors.New("nothing that can be sent is in it")
	}
	return "", fmt.Errorf("the %d matchers inside it leave nothing of it", len(inside))
}

// laminar cuts intervals so that no two of them overlap in part: then they form a tree. It
// returns the parts of each interval that was cut.
//
// The ends of n intervals cut all keys into at most 2n+1 pieces. An interval is made of the
// largest groups of pieces that lie side by side in a binary tree of them: these are at most
// two for each level of the tree.
func laminar(patterns []pattern) (parts map[pattern][]pattern) {
	if !overlap(patterns) {
		return nil
	}
	var starts []string
	for _, p := range patterns {
		starts = append(starts, p.text)
		if behind, ok := keyAfter(p.last); ok {
			starts = append(starts, behind)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	parts = map[pattern][]pattern{}
	for _, p := range patterns {
		if _, done := parts[p]; !done {
			low := sort.SearchStrings(starts, p.text)
			high := len(starts)
			if behind, ok := keyAfter(p.last); ok {
				high = sort.SearchStrings(starts, behind)
			}
			parts[p] = groups(starts, p.last, low, high, 0, len(starts), nil)
		}
	}
	return parts
}

// groups adds the groups of the pieces from low on, up to high, that are in the part of the
// tree from first to end. The last key is the end of the last piece.
func groups(starts []string, last string, low, high, first, end int, out []pattern) []pattern {
	low, high = max(low, first), min(high, end)
	switch {
	case low >= high:
		return out
	case low == first && high == end:
		if end < len(starts) {
			last, _ = keyBefore(starts[end])
		}
		return append(out, interval(starts[first], last))
	}
	middle := (first + end) / 2
	out = groups(starts, last, low, high, first, middle, out)
	return groups(starts, last, low, high, middle, end, out)
}

// overlap reports whether two intervals overlap in part.
func overlap(patterns []pattern) bool {
	sorted := slices.SortedFunc(slices.Values(patterns), pattern.compare)
	var open []pattern
	for _, p := range sorted {
		for len(open) > 0 && open[len(open)-1].last < p.text {
			open = open[:len(open)-1]
		}
		if len(open) > 0 && open[len(open)-1].last < p.last {
			return true
		}
		open = append(open, p)
	}
	return false
}

// findInterval gives a request a value of a dimension of intervals that has some atoms, and
// none of the others. Where there is one, the lowest one is at the beginning of an interval
// with it, behind the end of an interval without it, or the first value of all. So the
// search has no limit.
func (v *values) findInterval(in intervals, l literals, request *policy.Request) bool {
	starts := []string{in.key(in.natural())}
	for _, at := range l.present {
		p := v.intervalOf(at)
		if second, ok := keyAfter(p.text); ok {
			starts = append(starts, second)
		}
		starts = append(starts, p.text)
	}
	for _, at := range l.absent {
		if start, ok := keyAfter(v.intervalOf(at).last); ok {
			starts = append(starts, start)
		}
	}
	for _, start := range append(starts, "") {
		candidate := *request
		key, ok := in.firstKey(start)
		if !ok {
			continue
		}
		in.put(&candidate, in.value(key))
		if v.fits(l, &candidate) {
			*request = candidate
			return true
		}
	}
	return false
}

// intervalOf returns the interval of an atom.
func (v *values) intervalOf(at int32) pattern {
	a := &v.atoms[at]
	return v.cover.table.row(a.dimension, a.is.Attribute).pattern(a.is.Match)
}
