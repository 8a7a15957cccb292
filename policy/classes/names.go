package classes

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// names knows a caller as a set of names: for each pattern, whether it covers one of the
// names. Where a pattern covers a name, each pattern around it does so too. Where a pattern
// covers no name, no pattern inside it does.
//
// A set of names is a caller if a SPIFFE ID can stand in front. The empty set is a
// caller without any name.
type names struct {
	// axis has a name for each cell, and firsts a name that can stand in front.
	*axis
	firsts *axis
	known  []truth
	// trail are the patterns in the order of their discovery. present are the
	// patterns that were assumed to cover a name.
	trail, present []int32
	// uris says which cells have a URI as their witness.
	uris []bool
}

func newNames(space *callerSpace, patterns []pattern) *names {
	n := &names{axis: newAxis(nameSpace{space}, patterns), firsts: newAxis(firstSpace{nameSpace{space}}, patterns)}
	n.known, n.uris = make([]truth, len(n.patterns)), make([]bool, len(n.patterns))
	for i, name := range n.firsts.witnesses {
		cell := int32(i)
		if n.firsts.reachable(cell) {
			n.witnesses[cell] = name
			delete(n.unreachable, cell)
		}
		if n.start == 0 && n.reachable(cell) {
			n.start = cell
		}
	}
	for i, name := range n.witnesses {
		n.uris[i] = isURI(name)
	}
	return n
}

// progress is a point to go back to.
type progress struct{ trail, present int }

func (n *names) progress() progress { return progress{len(n.trail), len(n.present)} }

// forget goes back to what was known before.
func (n *names) forget(since progress) {
	for _, cell := range n.trail[since.trail:] {
		n.known[cell] = unknown
	}
	n.trail, n.present = n.trail[:since.trail], n.present[:since.present]
}

func (n *names) learn(cell int32, t truth) {
	if n.known[cell] == unknown {
		n.known[cell] = t
		n.trail = append(n.trail, cell)
	}
}

// assume adds that a pattern covers one of the names, or none, and reports whether there
// is still such a caller.
func (n *names) assume(cell int32, t truth) bool {
	if n.known[cell] != unknown {
		return n.known[cell] == t
	}
	if t == yes {
		n.present = append(n.present, cell)
		n.learn(cell, yes)
		for at := cell; at != 0; {
			at = n.parents[at]
			n.learn(at, yes)
		}
		return n.possible(cell)
	}
	for at := cell; at < n.ends[cell]; at++ {
		n.learn(at, no)
	}
	return n.possible(cell)
}

// possible reports whether there are still names for the pattern of a cell and for the
// patterns around it, and a name that can stand in front.
func (n *names) possible(cell int32) bool {
	for {
		if n.known[cell] == yes && n.pick(cell) < 0 {
			return false
		}
		if cell == 0 {
			return n.known[0] != yes || n.front() >= 0
		}
		cell = n.parents[cell]
	}
}

// pick returns a cell for a name that a pattern covers, if possible the pattern's own.
func (n *names) pick(cell int32) int32 { return n.openCell(n.axis, cell) }

// front returns a cell for a name that can stand in front.
func (n *names) front() int32 { return n.openCell(n.firsts, 0) }

// openCell returns the first cell inside a pattern that has a name and may have a name of the
// caller, and a negative number where there is none.
func (n *names) openCell(a *axis, cell int32) int32 {
	for at, end := cell, n.ends[cell]; at < end; {
		switch {
		case n.known[at] == no:
			at = n.ends[at]
		case a.reachable(at):
			return at
		default:
			at++
		}
	}
	return nowhere
}

// caller returns the cells of the names of a caller that fits all known facts, the name in
// front first. It returns none for a caller without any name.
func (n *names) caller() []int32 {
	if len(n.trail) == 0 {
		return n.withFront([]int32{n.start})
	}
	var cells []int32
	for _, cell := range n.innermost(n.present) {
		cells = append(cells, n.pick(cell))
	}
	return n.withFront(cells)
}

// innermost returns the patterns that have no other pattern inside them, in order.
func (n *names) innermost(cells []int32) []int32 {
	cells = slices.Sorted(slices.Values(cells))
	out := cells[:0]
	for i, cell := range cells {
		if i+1 == len(cells) || !n.covers(cell, cells[i+1]) {
			out = append(out, cell)
		}
	}
	return out
}

// outermost returns the patterns that are inside no other pattern, in the order given.
func (n *names) outermost(cells []int32) []int32 {
	among := make([]bool, len(n.patterns))
	for _, cell := range cells {
		among[cell] = true
	}
	return slices.DeleteFunc(cells, func(cell int32) bool {
		for cell != 0 {
			if cell = n.parents[cell]; among[cell] {
				return true
			}
		}
		return false
	})
}

// withFront puts a cell whose name can stand in front before the others.
func (n *names) withFront(cells []int32) []int32 {
	if i := slices.IndexFunc(cells, n.firsts.reachable); i >= 0 {
		first := cells[i]
		return slices.Insert(slices.Delete(cells, i, i+1), 0, first)
	}
	if front := n.front(); front >= 0 {
		return slices.Insert(cells, 0, front)
	}
	return nil
}

// setNames makes a caller with names of the cells send the request.
func (n *names) setNames(r *policy.Request, cells []int32) {
	r.URIs, r.DNS = nil, nil
	for _, cell := range cells {
		if name := n.witnesses[cell]; n.uris[cell] {
			r.URIs = append(r.URIs, name)
		} else {
			r.DNS = append(r.DNS, name)
		}
	}
}

// covering returns the patterns that cover a name of the caller, in no order.
func (n *names) covering(r *policy.Request) []int32 {
	var out []int32
	for _, name := range slices.Concat(r.URIs, r.DNS) {
		for cell := n.find(name); ; cell = n.parents[cell] {
			out = append(out, cell)
			if cell == 0 {
				break
			}
		}
	}
	return out
}
