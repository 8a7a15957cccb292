package classes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// axis is a dimension as the matchers of some programs cut it.
type axis struct {
	space
	*family
	// witnesses has a sound value for each cell that is not in unreachable.
	witnesses []string
	// unreachable has the cells that no request is in, with the reason.
	unreachable map[int32]error
	// rest is the cell of what no matcher covers, and start the cell that stands for all
	// of them.
	rest, start int32
	// settled is true where every request of the layer has the same value.
	settled bool
	// parts has the patterns that some intervals were cut into, see [laminar].
	parts map[pattern][]pattern
}

// newAxis looks for a witness of each cell.
func newAxis(s space, patterns []pattern) *axis {
	in, ofIntervals := s.(intervals)
	var parts map[pattern][]pattern
	if ofIntervals {
		if parts = laminar(patterns); parts != nil {
			patterns = slices.Concat(slices.Collect(maps.Values(parts))...)
		}
	}
	f := newFamily(patterns)
	a := &axis{parts: parts, space: s, family: f, witnesses: make([]string, len(f.patterns)), unreachable: make(map[int32]error)}
	callers, ofCallers := s.(*callerSpace)
	for i, p := range a.patterns {
		value, err := a.search(int32(i))
		if a.witnesses[i] = value; err != nil {
			a.unreachable[int32(i)] = err
		}
		if ofCallers && callers.isRest(p) {
			a.rest = int32(i)
		}
	}
	if ofIntervals {
		a.prefer(in.natural())
	}
	return a
}

// prefer lets a value stand for its cell, and the cell for all cells.
func (a *axis) prefer(value string) {
	if a.sound(value) == nil {
		a.start = a.find(a.key(value))
		a.witnesses[a.start] = value
	}
}

// firstCaller returns the cell of callers that stands for all of them. A caller that a
// rule names says more than a caller that no rule names.
func (a *axis) firstCaller() int32 {
	for cell := a.rest + 1; int(cell) < len(a.patterns); cell++ {
		if a.witnesses[cell] != "" {
			return cell
		}
	}
	return a.rest
}

// reachable reports whether a request is in the cell.
func (a *axis) reachable(cell int32) bool { return a.unreachable[cell] == nil }

// search returns a sound value of a cell, or why there is none. It first completes the
// pattern itself. Where that fails, it tries every junction: each value of the cell
// turns away, at some character, from the texts that lead to the patterns inside it.
func (a *axis) search(cell int32) (string, error) {
	if in, ok := a.space.(intervals); ok {
		return a.searchInterval(in, cell)
	}
	p := a.patterns[cell]
	if p.kind == policy.Exact {
		value := a.value(p.text)
		if a.key(value) != p.text {
			return "", fmt.Errorf("no request has the %s %q", a.name(), value)
		}
		if err := a.sound(value); err != nil {
			return "", err
		}
		return value, nil
	}
	inside := a.children(cell)
	viable := true
	for n := 0; viable && n <= len(inside); n++ {
		value, leads, ok := a.try(cell, p.text, n)
		if ok {
			return value, nil
		}
		viable = leads
	}
	if viable {
		if value, ok := a.searchJunctions(cell, inside); ok {
			return value, nil
		}
	}
	// The last resort is a caller without any name.
	if a.sound("") == nil && a.find(a.key("")) == cell {
		return "", nil
	}
	return "", a.emptiness(p, inside)
}

// searchJunctions tries each character behind each junction.
func (a *axis) searchJunctions(cell int32, inside []int32) (string, bool) {
	for _, junction := range a.junctions(cell, inside) {
		for _, c := range []byte(a.alphabet()) {
			for n := range len(inside) + 1 {
				value, leads, ok := a.try(cell, junction+string(c), n)
				if ok {
					return value, true
				}
				if !leads {
					break
				}
			}
		}
	}
	return "", false
}

// try reports whether completing the text leads into the cell, and whether it leads
// anywhere at all.
func (a *axis) try(cell int32, text string, n int) (value string, leads, ok bool) {
	for _, value := range a.complete(text, n) {
		if a.sound(value) != nil {
			continue
		}
		leads = true
		if a.find(a.key(value)) == cell {
			return value, true, true
		}
	}
	return "", leads, false
}

// junctions are the texts from which a value can turn away from the patterns inside the
// cell.
func (a *axis) junctions(cell int32, inside []int32) []string {
	own := len(a.patterns[cell].text)
	seen := make(map[string]bool)
	var out []string
	for _, child := range inside {
		text := a.patterns[child].text
		for end := own; end < len(text); end++ {
			if !seen[text[:end]] {
				seen[text[:end]] = true
				out = append(out, text[:end])
			}
		}
	}
	return out
}

// emptiness says why no value is in the cell of a prefix.
func (a *axis) emptiness(p pattern, inside []int32) error {
	values := a.complete(p.text, 0)
	for _, value := range values {
		if a.sound(value) == nil {
			return fmt.Errorf("the %d matchers inside it leave nothing of it", len(inside))
		}
	}
	if len(values) > 0 && strings.HasPrefix(a.key(values[0]), p.text) {
		return a.sound(values[0])
	}
	return errors.New("nothing that can be sent begins so")
}

// pattern is a matcher in the form that is the same for every dimension: it covers a text
// that is the pattern's own (Exact), or that begins with it (Prefix), or that is between it
// and the last text (Range), see [intervals].
type pattern struct {
	text string
	kind policy.MatchKind
	last string
}

func (p pattern) covers(text string) bool {
	switch p.kind {
	case policy.Exact:
		return text == p.text
	case policy.Prefix:
		return strings.HasPrefix(text, p.text)
	default:
		return p.text <= text && text <= p.last
	}
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
		closeUntil(func(q pattern) bool { return q.kind != policy.Exact && q.covers(p.text) }, i)
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
	if order := strings.Compare(p.text, q.text); order != 0 {
		return order
	}
	return cmp.Or(int(q.kind)-int(p.kind), strings.Compare(q.last, p.last))
}

// number returns the number of one of the family's patterns.
func (f *family) number(p pattern) int32 {
	i, _ := slices.BinarySearchFunc(f.patterns, p, pattern.compare)
	return int32(i)
}

// find returns the cell of a text. Everything that sorts between a prefix of the
// text and the text itself has that prefix too, so that the innermost pattern is
// the last pattern that does not sort behind the text, or a pattern around it.
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
