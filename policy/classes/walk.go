package classes

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// view says where the value of a dimension is: in the region of a key. The region has
// everything that the key covers, without the marked patterns inside it.
type view struct {
	// cut is false where nothing is known; the key is then 0.
	cut bool
	key int32
	// cell stands for the region. Once the dimension is settled, all matchers that can
	// still matter agree on the whole region, so that the cell alone is compared.
	cell    int32
	settled bool
}

// walk goes through the programs as far as the state of a request tells the way, and
// collects the matchers that would tell more of it.
type walk struct {
	axes []*axis
	// marks are the patterns that the value of a dimension was compared with before.
	marks [][]bool
	// state has the known facts of the request, a view for each dimension.
	state []view
	// names has the known facts of the caller where callers are sets of names, else nil.
	names *names
	// wanted are the matchers to ask next, all of one dimension. The dimension is -1
	// where all is decided. They are the matchers of the first undecided step, and of the
	// undecided steps behind it as long as they look at the dimension too.
	wanted    []int32
	dimension int
	// stopped is true where there are undecided steps that look at other dimensions.
	stopped bool
}

func (w *walk) run(programs []compiledProgram) {
	w.dimension, w.stopped, w.wanted = -1, false, w.wanted[:0]
	if w.names != nil {
		defer w.names.forget(w.names.progress())
	}
	for i := range programs {
		w.program(&programs[i], enforcing)
		w.program(&programs[i], observing)
	}
}

func enforcing(c compiledGates) []*list { return c.gates }
func observing(c compiledGates) []*list { return c.shadows }

func (w *walk) program(p *compiledProgram, side func(compiledGates) []*list) {
	for i := range p.routes {
		route := &p.routes[i]
		known := w.judge(&route.when)
		if known == no {
			continue
		}
		w.gates(side(route.compiledGates))
		if known == yes || w.stopped {
			return
		}
	}
	w.gates(side(p.gates))
}

func (w *walk) gates(lists []*list) {
	for _, l := range lists {
		if w.stopped || w.list(l)&^(1<<policy.Deny) == 0 {
			return
		}
	}
}

// effects are the effects that are still possible, a bit for each.
type effects uint8

func (w *walk) list(l *list) effects {
	var possible effects
	base, touched := w.candidates(l)
	for len(base)+len(touched) > 0 && !w.stopped {
		s := &l.steps[takeNext(&base, &touched)]
		known := w.judge(&s.when)
		switch {
		case known == no:
			continue
		case s.inner == nil:
			possible |= 1 << s.effect
		default:
			possible |= w.list(s.inner)
		}
		if known == yes {
			return possible
		}
	}
	return possible | 1<<l.fallback
}

// takeNext takes the lowest number off two ordered lists.
func takeNext(a, b *[]int32) int32 {
	if len(*b) == 0 || len(*a) > 0 && (*a)[0] < (*b)[0] {
		a, b = b, a
	}
	i := (*b)[0]
	*b = (*b)[1:]
	if len(*a) > 0 && (*a)[0] == i {
		*a = (*a)[1:]
	}
	return i
}

// candidates returns the steps that can hold by what is known of one dimension. It takes
// the dimension that leaves the fewest. Base are the steps that need no match of the
// dimension, touched are the steps that look at a pattern that matches, or may match.
func (w *walk) candidates(l *list) (base, touched []int32) {
	best, fewest := len(w.state), len(l.steps)
	for d := range w.state {
		if v := &w.state[d]; v.settled || v.key != 0 {
			n := len(w.base(l, d))
			w.matching(d, func(from, to int32) { n += len(l.touches[d].inRange(from, to)) })
			if n < fewest {
				best, fewest = d, n
			}
		}
	}
	if best == len(w.state) {
		return w.base(l, best), nil
	}
	touched = make([]int32, 0, fewest)
	w.matching(best, func(from, to int32) { touched = append(touched, l.touches[best].inRange(from, to)...) })
	slices.Sort(touched)
	return w.base(l, best), slices.Compact(touched)
}

// matching calls f with ranges of patterns. No pattern outside of them matches.
func (w *walk) matching(d int, f func(from, to int32)) {
	v, a := &w.state[d], w.axes[d]
	cell := v.cell
	if !v.settled {
		cell = v.key
		f(cell+1, a.ends[cell])
	}
	for ; cell != 0; cell = a.parents[cell] {
		f(cell, cell+1)
	}
	f(0, 1)
}

// nowhere is a cell that no pattern covers.
const nowhere = -1

// base returns the steps of a list that can hold although no matcher of the dimension
// matches, for all values of the other dimensions. The number behind the last dimension is
// for the steps that can hold at all.
func (w *walk) base(l *list, dimension int) []int32 {
	if l.base[dimension] != nil {
		return l.base[dimension]
	}
	state := make([]view, len(w.state))
	if dimension < len(state) {
		state[dimension] = view{settled: true, cell: nowhere}
	}
	steps := make([]int32, 0, 8)
	blank := walk{axes: w.axes, marks: make([][]bool, len(state)), state: state}
	for i := range l.steps {
		if blank.eval(&l.steps[i].when) != no {
			steps = append(steps, int32(i))
		}
	}
	l.base[dimension] = steps
	return steps
}
