package classes

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// ref is the index of a class or, complemented, of a node.
type ref int32

// nobody is where no request is.
const nobody ref = -1 << 31

// node tells requests apart by the innermost of some patterns.
type node struct {
	// parent is the node above; nobody for the root.
	parent    ref
	dimension int
	// keys are the patterns in their order, the first of them around the others, and
	// kids what is below each.
	keys []int32
	kids []ref
	// ranks is not nil where the node is of names: the first of the keys that covers
	// one of the caller's tells, and the last of the kids is for who has none. The
	// keys are in the order in which they are asked, and ranks lists them in their own.
	ranks []int32
}

// builder makes the tree of the classes.
type builder struct {
	walk
	courses []course
	cover   *Cover
	limit   int
	full    bool
	// used are the cells of the witnesses.
	used [dimensions][]bool
}

func newBuilder(c *Cover, limit int) *builder {
	b := &builder{walk: walk{axes: &c.axes, names: c.names}, cover: c, limit: limit}
	for d, a := range c.axes {
		b.marks[d], b.used[d] = make([]bool, len(a.patterns)), make([]bool, len(a.patterns))
	}
	return b
}

// build makes the part of the tree that is for requests of the given state.
func (b *builder) build(at state, parent ref) ref {
	if b.full {
		return nobody
	}
	b.run(b.courses, &at)
	d, settled := b.dimension, !b.stopped
	switch {
	case d < 0:
		return b.class(&at, parent)
	case d == callers && b.names != nil:
		return b.branch(at, parent)
	}
	keys := b.keys(at[d].key)
	kids := make([]ref, len(keys))
	self := ref(^len(b.cover.nodes))
	b.cover.nodes = append(b.cover.nodes, node{parent: parent, dimension: d, keys: keys, kids: kids})
	fresh := b.mark(d, keys)
	for i, key := range keys {
		kids[i] = nobody
		if cell, ok := b.pick(d, key); ok {
			at[d] = view{cut: true, key: key, cell: cell, settled: settled || b.single(d, key)}
			kids[i] = b.build(at, self)
		}
	}
	for _, key := range fresh {
		b.marks[d][key] = false
	}
	return self
}

// keys are the wanted patterns, and the one whose region they cut.
func (b *builder) keys(around int32) []int32 {
	keys := append([]int32{around}, b.wanted...)
	slices.Sort(keys)
	return slices.Clip(slices.Compact(keys))
}

// mark marks the keys, and returns those that were not marked before.
func (b *builder) mark(d int, keys []int32) (fresh []int32) {
	for _, key := range keys {
		if !b.marks[d][key] {
			b.marks[d][key] = true
			fresh = append(fresh, key)
		}
	}
	return fresh
}

// pick returns the cell to stand for the region of a key: that of the key itself,
// if a request is in it. Of all that is outside the keys, it is the rest.
func (b *builder) pick(d int, key int32) (int32, bool) {
	a := b.axes[d]
	if key == 0 && !b.marks[d][a.rest] && a.reachable(a.rest) {
		return a.rest, true
	}
	for cell := key; cell < a.ends[key]; {
		switch {
		case cell != key && b.marks[d][cell]:
			cell = a.ends[cell]
		case a.reachable(cell):
			return cell, true
		default:
			cell++
		}
	}
	return 0, false
}

// single reports whether the region of a key is one cell, so that there is nothing
// more to tell.
func (b *builder) single(d int, key int32) bool {
	a := b.axes[d]
	for cell := key + 1; cell < a.ends[key]; cell = a.ends[cell] {
		if !b.marks[d][cell] {
			return false
		}
	}
	return true
}

func (b *builder) class(at *state, parent ref) ref {
	c := b.cover
	if len(c.Classes) == b.limit {
		if !b.full {
			b.full = true
			c.Sampled = append(c.Sampled, fmt.Sprintf("there are more than %d classes, and no others were looked for", b.limit))
		}
		return nobody
	}
	self := ref(len(c.Classes))
	class := Class{cover: c, self: self, parent: parent}
	for d, v := range at {
		class.regions[d] = region{v.cut, v.key}
		switch {
		case d == callers && b.names != nil:
			b.caller(&class)
		case d == callers || c.layer == policy.L7:
			c.put(&class.Witness, d, v.cell)
			b.used[d][v.cell] = true
		}
	}
	c.Classes = append(c.Classes, class)
	return self
}
