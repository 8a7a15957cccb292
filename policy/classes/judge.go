package classes

import (
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
)

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

// expr is a condition whose leaves are numbers of patterns.
type expr struct {
	op       op
	operands []expr
	// dimension is what opLeaf looks at, and cell the number of the pattern.
	dimension int
	cell      int32
	// id is the number of the condition, where a [simplifier] gave it one.
	id int32
}

type op uint8

const (
	opNever op = iota
	opAlways
	opAll
	opAny
	opNot
	opLeaf
	// opName asks whether the pattern covers a name of the caller.
	opName
)

// list is a compiled list of rules.
type list struct {
	steps    []step
	fallback policy.Effect
	// touches has those of each dimension.
	touches []touches
	// base is made when it is needed, see [walk.base]. The last one is for no dimension.
	base [][]int32
}

// step is one alternative of one rule.
type step struct {
	when expr
	// asked is the same condition in its simplest form, and number is the step's own. They are for a
	// cover that is regular.
	asked  expr
	number int32
	effect policy.Effect
	// inner is asked first, where it is not nil.
	inner *list
}

// compiledProgram has gates that are asked one after the other, for all requests or for
// the requests of a route.
type compiledProgram struct {
	routes []compiledRoute
	gates  compiledGates
}

type compiledRoute struct {
	when expr
	// step is the question for the route, for a cover that is regular.
	step step
	compiledGates
}

type compiledGates struct{ gates, shadows []*list }

type compiler struct {
	table *table
	axes  []*axis
	// sets is true where callers are sets of names. Otherwise marked is true where the
	// patterns of names have a mark, see [leaf.markedPattern].
	sets, marked bool
	// regular is not nil where leaves are numbers of atoms.
	regular *regular
}

func (c compiler) program(p policy.Program) compiledProgram {
	lists := func(gates []policy.Gate) []*list {
		out := make([]*list, len(gates))
		for i, g := range gates {
			out[i] = c.list(g.Rules, g.Default.Effect)
		}
		return out
	}
	out := compiledProgram{gates: compiledGates{lists(p.Gates), lists(p.Shadows)}}
	ofConnections := func(gates []policy.Gate, compiled []*list) []*list {
		var out []*list
		for i, g := range gates {
			if g.Layer != policy.L7 {
				out = append(out, compiled[i])
			}
		}
		return out
	}
	for _, route := range p.Routes {
		if route.When == nil {
			continue
		}
		out.routes = append(out.routes, compiledRoute{when: c.condition(route.When), compiledGates: compiledGates{
			gates:   append(ofConnections(p.Gates, out.gates.gates), lists(route.Gates)...),
			shadows: append(ofConnections(p.Shadows, out.gates.shadows), lists(route.Shadows)...),
		}})
	}
	return out
}

func (c compiler) list(rules []policy.Rule, fallback policy.Effect) *list {
	l := &list{fallback: fallback, touches: make([]touches, len(c.axes)), base: make([][]int32, len(c.axes)+1)}
	for _, r := range rules {
		if r.When == nil {
			continue
		}
		s := step{effect: r.Effect}
		if len(r.Then) > 0 {
			s.inner = c.list(r.Then, r.Effect)
		}
		l.addSteps(c.condition(r.When), s)
	}
	looks := make([][]touch, len(c.axes))
	for i := range l.steps {
		addLooks(looks, &l.steps[i].when, int32(i))
	}
	for d, of := range looks {
		if len(of) > 0 && c.axes[d] != nil {
			l.touches[d] = newTouches(of, len(c.axes[d].patterns))
		}
	}
	return l
}

// addSteps makes a step of each operand of an outer Or.
func (l *list) addSteps(when expr, s step) {
	if when.op != opAny {
		s.when = when
		l.steps = append(l.steps, s)
		return
	}
	for _, operand := range when.operands {
		l.addSteps(operand, s)
	}
}

// addLooks adds the looks of a step to those of each dimension.
func addLooks(looks [][]touch, e *expr, step int32) {
	if e.op == opLeaf {
		looks[e.dimension] = append(looks[e.dimension], touch{e.cell, step})
	}
	for i := range e.operands {
		addLooks(looks, &e.operands[i], step)
	}
}

func (c compiler) condition(when policy.Condition) expr {
	return rewrite.Condition(when, rewrite.Shape[expr]{
		And:  func(operands []expr) expr { return expr{op: opAll, operands: operands} },
		Or:   func(operands []expr) expr { return expr{op: opAny, operands: operands} },
		Not:  func(operand expr) expr { return expr{op: opNot, operands: []expr{operand}} },
		Leaf: c.leaf,
	})
}

func (c compiler) leaf(when policy.Condition) expr {
	if when == policy.Always {
		return expr{op: opAlways}
	}
	if c.regular != nil {
		return c.regular.leaf(when)
	}
	l, ok := c.table.leafOf(when)
	if !ok || c.axes[l.dimension] == nil {
		return expr{op: opNever}
	}
	e := expr{op: opLeaf, dimension: l.dimension}
	p := l.pattern
	switch {
	case c.sets && l.dimension == callers:
		e.op = opName
	case c.marked:
		p = l.markedPattern()
	}
	a := c.axes[l.dimension]
	if parts, cut := a.parts[p]; cut {
		one := expr{op: opAny}
		for _, part := range parts {
			e.cell = a.number(part)
			one.operands = append(one.operands, e)
		}
		return one
	}
	e.cell = a.number(p)
	return e
}
