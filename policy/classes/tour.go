package classes

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// tour goes through the programs by every way that a request can take. It holds a request
// that takes the way so far.
type tour struct {
	*regular
	request     policy.Request
	obligations []obligation
	// known has the truth of the conditions on the way.
	known map[int32]bool
	hits  []int32
}

// obligation is a condition that holds, or does not hold, for the requests of a way.
type obligation struct {
	step *step
	want bool
}

func (t *tour) program(i int) {
	if i == len(t.programs) {
		t.class()
		return
	}
	p := &t.programs[i]
	t.route(p, 0, func(of compiledGates) {
		t.gates(of.gates, func() { t.gates(of.shadows, func() { t.program(i + 1) }) })
	})
}

func (t *tour) route(p *compiledProgram, i int, then func(compiledGates)) {
	if i == len(p.routes) {
		then(p.gates)
		return
	}
	route := &p.routes[i]
	t.branch(&route.step, func() {
		t.hits = append(t.hits, route.step.number)
		then(route.compiledGates)
		t.hits = t.hits[:len(t.hits)-1]
	}, func() { t.route(p, i+1, then) })
}

// gates asks gates until one denies.
func (t *tour) gates(lists []*list, then func()) {
	if len(lists) == 0 {
		then()
		return
	}
	t.list(lists[0], 0, func(e policy.Effect) {
		if e == policy.Deny {
			then()
		} else {
			t.gates(lists[1:], then)
		}
	})
}

// list asks the steps of a list from the given one on.
func (t *tour) list(l *list, from int, then func(policy.Effect)) {
	before := len(t.obligations)
	request := t.request
	defer func() { t.forget(before, request) }()
	for i := from; i < len(l.steps); i++ {
		s := &l.steps[i]
		met := func() {
			t.hits = append(t.hits, s.number)
			if s.inner != nil {
				t.list(s.inner, 0, then)
			} else {
				then(s.effect)
			}
			t.hits = t.hits[:len(t.hits)-1]
		}
		if holds, ok := t.known[s.asked.id]; ok {
			if holds {
				met()
				return
			}
			continue
		}
		if !t.askBoth(s, met) {
			return
		}
	}
	t.hits = append(t.hits, 0)
	then(l.fallback)
	t.hits = t.hits[:len(t.hits)-1]
}

// branch goes on with requests that meet a step, and with the others.
func (t *tour) branch(s *step, met, missed func()) {
	if holds, ok := t.known[s.asked.id]; ok {
		if holds {
			met()
		} else {
			missed()
		}
		return
	}
	before, request := len(t.obligations), t.request
	if t.askBoth(s, met) {
		missed()
	}
	t.forget(before, request)
}

// askBoth goes on with requests that meet a step. Then it turns to those that do not, and
// reports whether there are any.
func (t *tour) askBoth(s *step, met func()) bool {
	if t.full {
		return false
	}
	before, request := len(t.obligations), t.request
	holds := t.holds(t.ask(&t.request), &s.when)
	if t.oblige(s, true, holds) {
		met()
	}
	t.forget(before, request)
	return t.oblige(s, false, !holds)
}

// oblige narrows the way. Fits is true where the request is still on it.
func (t *tour) oblige(s *step, want, fits bool) bool {
	t.obligations = append(t.obligations, obligation{s, want})
	t.known[s.asked.id] = want
	if fits {
		return true
	}
	request, ok := t.solve(t.obligations, t.request)
	if ok {
		t.request = request
	}
	return ok
}

func (t *tour) forget(before int, request policy.Request) {
	for _, o := range t.obligations[before:] {
		delete(t.known, o.step.asked.id)
	}
	t.obligations, t.request = t.obligations[:before], request
}

func (t *tour) class() {
	r, c := t.regular, t.cover
	if len(c.Classes) == r.limit {
		r.full = true
		return
	}
	r.classes[outcome(t.hits)] = len(c.Classes)
	r.hits = append(r.hits, slices.Clone(t.hits))
	c.Classes = append(c.Classes, Class{Witness: t.request, cover: c, self: ref(len(c.Classes)), parent: noRef})
}
