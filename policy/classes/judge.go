package classes

// truth says whether a condition is known to hold.
type truth uint8

const (
	unknown truth = iota
	no
	yes
)

// judge says whether a condition is known to hold, and collects the matchers that would
// tell. For a condition on several attributes it asks for the caller first.
//
// Where callers are sets of names, it assumes that a pattern it asks for covers no name:
// then it collects the next questions for callers without such a name.
func (w *walk) judge(e *expr) truth {
	known := w.eval(e)
	for known == unknown && w.names != nil && (w.dimension < 0 || w.dimension == callers) {
		cell, ok := w.name(e)
		if !ok {
			break
		}
		w.dimension, w.wanted = callers, append(w.wanted, cell)
		if !w.names.assume(cell, no) {
			w.stopped = true
			return unknown
		}
		known = w.eval(e)
	}
	if known != unknown {
		return known
	}
	if w.dimension < 0 {
		for d := range w.axes {
			if w.want(e, d) {
				w.dimension = d
				break
			}
		}
	} else if !w.want(e, w.dimension) {
		w.stopped = true
	}
	return unknown
}

// name returns the first pattern of names that an undecided condition depends on.
func (w *walk) name(e *expr) (int32, bool) {
	if w.eval(e) != unknown {
		return 0, false
	}
	if e.op == opName {
		return e.cell, true
	}
	for i := range e.operands {
		if cell, ok := w.name(&e.operands[i]); ok {
			return cell, true
		}
	}
	return 0, false
}

// want collects the matchers of a dimension that an undecided condition depends on,
// and reports whether there are any.
func (w *walk) want(e *expr, d int) bool {
	if w.eval(e) != unknown {
		return false
	}
	if e.op == opLeaf {
		if e.dimension == d {
			w.wanted = append(w.wanted, e.cell)
		}
		return e.dimension == d
	}
	wanted := false
	for i := range e.operands {
		wanted = w.want(&e.operands[i], d) || wanted
	}
	return wanted
}

func (w *walk) eval(e *expr) truth {
	switch e.op {
	case opNever:
		return no
	case opAlways:
		return yes
	case opNot:
		return negate(w.eval(&e.operands[0]))
	case opAll:
		return w.fold(e.operands, no)
	case opAny:
		return w.fold(e.operands, yes)
	case opName:
		if w.names == nil {
			return unknown
		}
		return w.names.known[e.cell]
	default:
		return w.leaf(e)
	}
}

func negate(known truth) truth {
	switch known {
	case no:
		return yes
	case yes:
		return no
	default:
		return unknown
	}
}

// fold returns the decisive truth if one of the operands has it, and its opposite
// if all of them have that.
func (w *walk) fold(operands []expr, decisive truth) truth {
	known := negate(decisive)
	for i := range operands {
		switch w.eval(&operands[i]) {
		case decisive:
			return decisive
		case unknown:
			known = unknown
		}
	}
	return known
}

func (w *walk) leaf(e *expr) truth {
	v, a := &w.state[e.dimension], w.axes[e.dimension]
	switch {
	case v.settled && a.covers(e.cell, v.cell), !v.settled && a.covers(e.cell, v.key):
		return yes
	case v.settled || !a.covers(v.key, e.cell):
		return no
	}
	marks := w.marks[e.dimension]
	for cell := e.cell; marks != nil && cell != v.key; cell = a.parents[cell] {
		if marks[cell] {
			return no
		}
	}
	return unknown
}
