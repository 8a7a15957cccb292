package classes

import (
	"cmp"
	"fmt"
	"slices"
)

// ref is the index of a class or, complemented, of a node.
type ref int32

// noRef is where no request is.
const noRef ref = -1 << 31

// node tells requests apart by the innermost of some patterns.
type node struct {
	// parent is the node above; noRef for the root.
	parent    ref
	dimension int
	// keys are the patterns in their order, the first of them around the others. kids has
	// the class or the node below each key.
	keys []int32
	kids []ref
	// ranks is not nil in a node of names. There, the first of the keys that covers a
	// name of the caller tells, and the last of the kids is for callers without such a
	// name. The keys are in the order of the questions, and ranks lists them in
	// the order of the patterns.
	ranks []int32
}

// builder makes the tree of the classes.
type builder struct {
	walk
	programs []compiledProgram
	cover    *Cover
	limit    int
	full     bool
	// used are the cells of the witnesses.
	used [][]bool
}

func newBuilder(c *Cover, limit int) *builder {
	b := &builder{walk: walk{axes: c.axes, names: c.names, state: c.start()}, cover: c, limit: limit}
	b.marks, b.used = make([][]bool, len(c.axes)), make([][]bool, len(c.axes))
	for d, a := range c.axes {
		if a != nil {
			b.marks[d], b.used[d] = make([]bool, len(a.patterns)), make([]bool, len(a.patterns))
		}
	}
	return b
}

// build makes the part of the tree for requests of the present state.
func (b *builder) build(parent ref) ref {
	if b.full {
		return noRef
	}
	b.run(b.programs)
	d, settled := b.dimension, !b.stopped
	switch {
	case d < 0:
		return b.class(parent)
	case d == callers && b.names != nil:
		return b.branch(parent)
	}
	before := b.state[d]
	keys := b.keys(before.key)
	kids := make([]ref, len(keys))
	b.expect(len(keys))
	self := ref(^len(b.cover.nodes))
	b.cover.nodes = append(b.cover.nodes, node{parent: parent, dimension: d, keys: keys, kids: kids})
	fresh := b.mark(d, keys)
	for i, key := range keys {
		kids[i] = noRef
		if cell, ok := b.pick(d, key); ok {
			b.state[d] = view{cut: true, key: key, cell: cell, settled: settled || b.single(d, key)}
			kids[i] = b.build(self)
		}
	}
	b.state[d] = before
	for _, key := range fresh {
		b.marks[d][key] = false
	}
	return self
}

// expect makes room for the classes of n keys: a long list that grows entry by entry is copied
// again and again.
func (b *builder) expect(n int) {
	c := b.cover
	n = min(n, b.limit-len(c.Classes))
	c.Classes, c.regions = slices.Grow(c.Classes, n), slices.Grow(c.regions, n*len(b.state))
}

// keys are the wanted patterns, and the pattern whose region they cut.
func (b *builder) keys(around int32) []int32 {
	keys := append([]int32{around}, b.wanted...)
	slices.Sort(keys)
	return slices.Clip(slices.Compact(keys))
}

// mark marks the keys, and returns the keys that were not marked before.
func (b *builder) mark(d int, keys []int32) (fresh []int32) {
	for _, key := range keys {
		if !b.marks[d][key] {
			b.marks[d][key] = true
			fresh = append(fresh, key)
		}
	}
	return fresh
}

// pick returns the cell that stands for the region of a key: the cell of the key itself,
// if a request is in it. The rest stands for all that is outside the keys.
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

// single reports whether the region of a key is one cell, so that there is nothing more
// to tell.
func (b *builder) single(d int, key int32) bool {
	a := b.axes[d]
	for cell := key + 1; cell < a.ends[key]; cell = a.ends[cell] {
		if !b.marks[d][cell] {
			return false
		}
	}
	return true
}

func (b *builder) class(parent ref) ref {
	c := b.cover
	if len(c.Classes) == b.limit {
		if !b.full {
			b.full = true
			c.Sampled = append(c.Sampled, fmt.Sprintf("there are more than %d classes, and no others were looked for", b.limit))
		}
		return noRef
	}
	self := ref(len(c.Classes))
	// It is made in its place, because a class is large.
	c.Classes = append(c.Classes, Class{cover: c, self: self, parent: parent})
	class := &c.Classes[self]
	for d, v := range b.state {
		switch {
		case c.axes[d] == nil:
		case d == callers && b.names != nil:
			b.giveNames(class)
		case !c.axes[d].settled:
			c.put(&class.Witness, d, v.cell)
		}
	}
	if !c.canBeSent(&class.Witness) {
		c.Classes = c.Classes[:self]
		return noRef
	}
	for d, v := range b.state {
		c.regions = append(c.regions, region{v.cut, v.key})
		if a := c.axes[d]; a != nil && !a.settled && (d != callers || b.names == nil) {
			b.used[d][v.cell] = true
		}
	}
	return self
}

// branch makes the node that tells callers apart by the patterns that are wanted, first
// the callers who have a name for none of them.
func (b *builder) branch(parent ref) ref {
	n := node{parent: parent, dimension: callers, keys: slices.Clone(b.wanted), ranks: make([]int32, len(b.wanted))}
	n.kids = slices.Repeat([]ref{noRef}, len(n.keys)+1)
	b.expect(len(n.kids))
	for i := range n.ranks {
		n.ranks[i] = int32(i)
	}
	slices.SortFunc(n.ranks, func(i, j int32) int { return cmp.Compare(n.keys[i], n.keys[j]) })
	self := ref(^len(b.cover.nodes))
	b.cover.nodes = append(b.cover.nodes, n)

	before := b.names.progress()
	if !slices.ContainsFunc(n.keys, func(cell int32) bool { return !b.names.assume(cell, no) }) {
		n.kids[len(n.keys)] = b.build(self)
	}
	b.names.forget(before)
	for i, cell := range n.keys {
		without := b.names.progress()
		if b.names.assume(cell, yes) {
			n.kids[i] = b.build(self)
		}
		b.names.forget(without)
		if !b.names.assume(cell, no) {
			break
		}
	}
	b.names.forget(before)
	return self
}

// giveNames gives a class the names of its witness.
func (b *builder) giveNames(class *Class) {
	cells := b.names.caller()
	b.names.setNames(&class.Witness, cells)
	for _, cell := range cells {
		b.used[callers][cell] = true
	}
	if n := len(b.names.present); n > 0 {
		last := b.names.present[n-1]
		if b.cover.edges == nil {
			b.cover.edges = make(map[int32]ref)
		}
		if _, ok := b.cover.edges[last]; !ok {
			b.cover.edges[last] = class.self
		}
	}
}

// kid returns the index of the kid for callers who have names for some patterns.
func (n *node) kid(covering []int32) int {
	kid := len(n.keys)
	for _, cell := range covering {
		i, ok := slices.BinarySearchFunc(n.ranks, cell, func(rank, cell int32) int { return cmp.Compare(n.keys[rank], cell) })
		if ok {
			kid = min(kid, int(n.ranks[i]))
		}
	}
	return kid
}

// asked returns the patterns that cover a name of the callers of a class, and the patterns
// that cover none, as far as they were asked, in the order of asking.
func (c Class) asked() (present, absent []int32) {
	child := c.self
	for at := c.parent; at != noRef; child, at = at, c.cover.nodes[^at].parent {
		n := &c.cover.nodes[^at]
		if n.ranks == nil {
			continue
		}
		kid := slices.Index(n.kids, child)
		if kid < len(n.keys) {
			present = append(present, n.keys[kid])
		}
		for _, cell := range slices.Backward(n.keys[:kid]) {
			absent = append(absent, cell)
		}
	}
	slices.Reverse(present)
	slices.Reverse(absent)
	return present, absent
}
