package classes

import (
	"cmp"
	"slices"
)

// branch makes the node that tells callers apart by the patterns that are wanted,
// first those who have a name for none of them.
func (b *builder) branch(at state, parent ref) ref {
	n := node{parent: parent, dimension: callers, keys: slices.Clone(b.wanted), ranks: make([]int32, len(b.wanted))}
	n.kids = slices.Repeat([]ref{nobody}, len(n.keys)+1)
	for i := range n.ranks {
		n.ranks[i] = int32(i)
	}
	slices.SortFunc(n.ranks, func(i, j int32) int { return cmp.Compare(n.keys[i], n.keys[j]) })
	self := ref(^len(b.cover.nodes))
	b.cover.nodes = append(b.cover.nodes, n)

	before := b.names.progress()
	if !slices.ContainsFunc(n.keys, func(cell int32) bool { return !b.names.assume(cell, no) }) {
		n.kids[len(n.keys)] = b.build(at, self)
	}
	b.names.forget(before)
	for i, cell := range n.keys {
		without := b.names.progress()
		if b.names.assume(cell, yes) {
			n.kids[i] = b.build(at, self)
		}
		b.names.forget(without)
		if !b.names.assume(cell, no) {
			break
		}
	}
	b.names.forget(before)
	return self
}

// caller gives a class its witness.
func (b *builder) caller(class *Class) {
	cells := b.names.caller()
	b.names.give(&class.Witness, cells)
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
func (n *node) kid(met []int32) int {
	kid := len(n.keys)
	for _, cell := range met {
		i, ok := slices.BinarySearchFunc(n.ranks, cell, func(rank, cell int32) int { return cmp.Compare(n.keys[rank], cell) })
		if ok {
			kid = min(kid, int(n.ranks[i]))
		}
	}
	return kid
}

// asked returns the patterns that cover a name of the callers of a class, and those
// that do not, as far as they were asked, in this order.
func (c Class) asked() (present, absent []int32) {
	child := c.self
	for at := c.parent; at != nobody; child, at = at, c.cover.nodes[^at].parent {
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
