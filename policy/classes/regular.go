package classes

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
)

// regular is the part of a cover for programs with matches of any kind: each match is a
// regular language. A class is then an outcome: the requests for which the same steps of
// all lists decide. Each outcome has a request, or none is possible, or the search for it
// met its limit and [Cover.Sampled] names the patterns.
type regular struct {
	cover      *Cover
	values     values
	atoms      []atom
	numbers    map[policy.Is]int32
	programs   []compiledProgram
	steps      []*step
	simplifier simplifier
	// classes has the class of each outcome, and hits the steps that decide in each class.
	classes map[string]int
	hits    [][]int32
	limit   int
	full    bool
	// solved counts the values that were tried.
	solved int
	// memory has what is known of atoms for the request that was asked last.
	memory memory
}

// atom is a match of an attribute.
type atom struct {
	is        policy.Is
	dimension int
	perName   bool
	// embed is as in [row], where values of the dimension are more than the attribute.
	embed    func(*automaton.Language) *automaton.Language
	language *automaton.Language
}

// cutRegular makes the cover of programs with matches of any kind.
func cutRegular(c *Cover, limit int, on Surface, s *survey) *Cover {
	r := &regular{cover: c, numbers: map[policy.Is]int32{}, simplifier: simplifier{numbers: map[string]int32{}}, classes: map[string]int{}, limit: limit}
	c.regular = r
	for _, p := range c.programs {
		r.programs = append(r.programs, compiler{table: c.table, axes: make([]*axis, len(c.table.rows)), regular: r}.program(p))
	}
	for i := range r.programs {
		r.number(&r.programs[i])
	}
	r.values = newValues(r, on, s)
	for _, when := range s.opaque {
		c.Sampled = append(c.Sampled, fmt.Sprintf("condition %q: requests that meet it were not looked for", when))
	}
	if s.mixed() {
		c.sampleNames()
	}
	t := tour{regular: r, known: map[int32]bool{}, request: r.values.start()}
	t.program(0)
	if r.full {
		c.Sampled = append(c.Sampled, fmt.Sprintf("there are more than %d classes, and no others were looked for", limit))
	}
	r.finish(s)
	c.Sampled = append(c.Sampled, r.values.sampled()...)
	return c
}

// leaf returns the number of the atom of a leaf.
func (r *regular) leaf(when policy.Condition) expr {
	l, ok := r.cover.table.leafOf(when)
	if !ok {
		return expr{op: opNever}
	}
	is := when.(policy.Is)
	at, ok := r.numbers[is]
	if !ok {
		at = int32(len(r.atoms))
		r.numbers[is] = at
		r.atoms = append(r.atoms, atom{is: is, dimension: l.dimension, perName: l.perName})
	}
	return expr{op: opLeaf, dimension: l.dimension, cell: at}
}

// number numbers the steps of a program.
func (r *regular) number(p *compiledProgram) {
	each := func(of compiledGates) {
		for _, lists := range [][]*list{of.gates, of.shadows} {
			for _, l := range lists {
				r.numberList(l)
			}
		}
	}
	for i := range p.routes {
		route := &p.routes[i]
		r.numberStep(&route.step, route.when)
		each(route.compiledGates)
	}
	each(p.gates)
}

func (r *regular) numberList(l *list) {
	for i := range l.steps {
		s := &l.steps[i]
		if s.number != 0 {
			return
		}
		r.numberStep(s, s.when)
		if s.inner != nil {
			r.numberList(s.inner)
		}
	}
}

// numberStep numbers a step, from 1.
func (r *regular) numberStep(s *step, when expr) {
	s.when, s.asked = when, r.simplifier.simplest(&when)
	r.steps = append(r.steps, s)
	s.number = int32(len(r.steps))
}

// condition turns a compiled condition back.
func (r *regular) condition(e *expr) policy.Condition {
	operands := make([]policy.Condition, len(e.operands))
	for i := range e.operands {
		operands[i] = r.condition(&e.operands[i])
	}
	switch e.op {
	case opAlways:
		return policy.Always
	case opAll:
		return policy.And(operands)
	case opAny:
		return policy.Or(operands)
	case opNot:
		return policy.Not{Condition: operands[0]}
	case opLeaf:
		return r.atoms[e.cell].is
	default:
		return policy.Never
	}
}

// memory remembers which atoms a request meets.
type memory struct {
	request *policy.Request
	truths  []truth
	asked   []int32
}

// ask makes the memory one of another request.
func (r *regular) ask(request *policy.Request) *memory {
	m := &r.memory
	if m.truths == nil {
		m.truths = make([]truth, len(r.atoms))
	}
	for _, at := range m.asked {
		m.truths[at] = unknown
	}
	m.request, m.asked = request, m.asked[:0]
	return m
}

// hasAtom reports whether the request of the memory has an atom.
func (r *regular) hasAtom(m *memory, at int32) bool {
	if m.truths[at] == unknown {
		m.truths[at] = no
		if r.atoms[at].is.Holds(m.request) {
			m.truths[at] = yes
		}
		m.asked = append(m.asked, at)
	}
	return m.truths[at] == yes
}

// holds reports whether a request meets a condition.
func (r *regular) holds(m *memory, e *expr) bool {
	switch e.op {
	case opAlways:
		return true
	case opLeaf:
		return r.hasAtom(m, e.cell)
	case opNot:
		return !r.holds(m, &e.operands[0])
	case opAll, opAny:
		for i := range e.operands {
			if r.holds(m, &e.operands[i]) == (e.op == opAny) {
				return e.op == opAny
			}
		}
		return e.op == opAll
	default:
		return false
	}
}

func outcome(hits []int32) string {
	key := make([]byte, 0, 2*len(hits))
	for _, hit := range hits {
		key = binary.AppendUvarint(key, uint64(hit))
	}
	return string(key)
}

// locate finds the class of a request by the steps that decide.
func (r *regular) locate(request policy.Request) (int, bool) {
	m := &memory{request: &request, truths: make([]truth, len(r.atoms))}
	var hits []int32
	for i := range r.programs {
		p := &r.programs[i]
		of := p.gates
		for n := range p.routes {
			if route := &p.routes[n]; r.holds(m, &route.when) {
				hits, of = append(hits, route.step.number), route.compiledGates
				break
			}
		}
		for _, lists := range [][]*list{of.gates, of.shadows} {
			for _, l := range lists {
				var effect policy.Effect
				if hits, effect = r.follow(m, l, hits); effect == policy.Deny {
					break
				}
			}
		}
	}
	at, ok := r.classes[outcome(hits)]
	if !ok {
		at = Unclassed
	}
	return at, ok
}

func (r *regular) follow(m *memory, l *list, hits []int32) ([]int32, policy.Effect) {
	for i := range l.steps {
		s := &l.steps[i]
		switch {
		case !r.holds(m, &s.when):
		case s.inner != nil:
			return r.follow(m, s.inner, append(hits, s.number))
		default:
			return append(hits, s.number), s.effect
		}
	}
	return append(hits, 0), l.fallback
}

// describe says which requests are of a class: by the conditions that decide.
func (r *regular) describe(class int) string {
	var parts []string
	for _, hit := range r.hits[class] {
		// A condition that all requests meet tells none apart.
		if hit > 0 && r.steps[hit-1].when.op != opAlways {
			if text := r.condition(&r.steps[hit-1].when).String(); !slices.Contains(parts, text) {
				parts = append(parts, text)
			}
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case len(r.cover.Classes) == 1:
		return "every request"
	default:
		return "any other request"
	}
}

// each calls f with the atoms of a condition.
func (r *regular) each(e *expr, f func(at int32)) {
	if e.op == opLeaf {
		f(e.cell)
	}
	for i := range e.operands {
		r.each(&e.operands[i], f)
	}
}

// finish counts the dimensions, and hides the atoms that no witness has.
func (r *regular) finish(s *survey) {
	used := make([]bool, len(r.atoms))
	cells := make([]map[string]bool, len(r.values.spaces))
	for i := range r.cover.Classes {
		m := r.ask(&r.cover.Classes[i].Witness)
		for _, hit := range r.hits[i] {
			if hit > 0 {
				r.each(&r.steps[hit-1].when, func(at int32) { used[at] = used[at] || r.hasAtom(m, at) })
			}
		}
		for d := range cells {
			if cells[d] == nil {
				cells[d] = map[string]bool{}
			}
			cells[d][r.values.read(d, m.request)] = true
		}
	}
	unreachable := make([][]Unreachable, len(r.values.spaces))
	for at, a := range r.atoms {
		if used[at] || r.values.unknown(a.dimension) {
			continue
		}
		request := r.values.start()
		switch r.values.find(a.dimension, literals{present: []int32{int32(at)}}, &request) {
		case automaton.Found:
			if class, ok := r.locate(request); ok && r.cover.canBeSent(&request) {
				r.hide(class, request, a.is)
			}
		case automaton.Empty:
			unreachable[a.dimension] = append(unreachable[a.dimension], Unreachable{a.is.String(), errNothing})
		}
	}
	for d, of := range r.cover.table.rows {
		if len(s.leaves[d]) == 0 || r.values.unknown(d) {
			continue
		}
		dim := Dimension{Name: r.values.name(d), Matchers: distinct(s.leaves[d]), Cells: len(cells[d]), Unreachable: unreachable[d]}
		for _, row := range of {
			dim.Attributes = append(dim.Attributes, row.attribute)
		}
		r.cover.Dimensions = append(r.cover.Dimensions, dim)
	}
}

func (r *regular) hide(class int, request policy.Request, is policy.Is) {
	c := r.cover
	if c.hidden == nil {
		c.hidden = make(map[int32][]Neighbour)
	}
	c.hidden[int32(class)] = append(c.hidden[int32(class)], Neighbour{Request: request, Why: "a matcher that is never asked: " + is.String()})
}
