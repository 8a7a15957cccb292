package classes

import (
	"cmp"
	"slices"

	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
)

// expr is a condition whose leaves are numbers of patterns.
type expr struct {
	op       op
	operands []expr
	// dimension is what opLeaf looks at, and cell the number of the pattern.
	dimension int
	cell      int32
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
	// touches tells, for each dimension, which steps look at which patterns, in the
	// order of the patterns.
	touches [][]touch
	// base is made when it is needed, see [walk.base]. The last one is for no dimension.
	base [][]int32
}

// step is one alternative of one rule.
type step struct {
	when   expr
	effect policy.Effect
	// then is asked first, where it is not nil.
	then *list
}

type touch struct{ cell, step int32 }

// compiledProgram has gates that are asked one after the other, for all requests or for
// the requests of a route.
type compiledProgram struct {
	routes []compiledRoute
	own    compiledGates
}

type compiledRoute struct {
	when expr
	compiledGates
}

type compiledGates struct{ gates, shadows []*list }

type compiler struct {
	axes []*axis
	// sets is true where callers are sets of names. Otherwise marked is true where the
	// patterns of names have a mark, see [leaf.markedPattern].
	sets, marked bool
}

func (c compiler) program(p policy.Program) compiledProgram {
	lists := func(gates []policy.Gate) []*list {
		out := make([]*list, len(gates))
		for i, g := range gates {
			out[i] = c.list(g.Rules, g.Default.Effect)
		}
		return out
	}
	out := compiledProgram{own: compiledGates{lists(p.Gates), lists(p.Shadows)}}
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
			gates:   append(ofConnections(p.Gates, out.own.gates), lists(route.Gates)...),
			shadows: append(ofConnections(p.Shadows, out.own.shadows), lists(route.Shadows)...),
		}})
	}
	return out
}

func (c compiler) list(rules []policy.Rule, fallback policy.Effect) *list {
	l := &list{fallback: fallback, touches: make([][]touch, len(c.axes)), base: make([][]int32, len(c.axes)+1)}
	for _, r := range rules {
		if r.When == nil {
			continue
		}
		s := step{effect: r.Effect}
		if len(r.Then) > 0 {
			s.then = c.list(r.Then, r.Effect)
		}
		l.addSteps(c.condition(r.When), s)
	}
	for i := range l.steps {
		l.touch(&l.steps[i].when, int32(i))
	}
	for d := range l.touches {
		slices.SortFunc(l.touches[d], func(a, b touch) int { return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.step, b.step)) })
		l.touches[d] = slices.Compact(l.touches[d])
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

func (l *list) touch(e *expr, step int32) {
	if e.op == opLeaf {
		l.touches[e.dimension] = append(l.touches[e.dimension], touch{e.cell, step})
	}
	for i := range e.operands {
		l.touch(&e.operands[i], step)
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
	l, ok := leafOf(when)
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
	e.cell = c.axes[l.dimension].number(p)
	return e
}
