package classes

import "slices"

// dimensions is a set of dimensions, a bit for each. Dimensions beyond the last bit share it with those of claims, and those
// that are made of the names of a caller share another one.
type dimensions uint64

const everything = ^dimensions(0)

// clash says why there is no request: the atoms that were asked of the values of some dimensions
// contradict the obligations, whatever is asked of the other dimensions. Where another value of
// another dimension was tried last, the next one need not be tried.
type clash struct {
	dimensions dimensions
	// elsewhere is true where the last choice has no part in it.
	elsewhere bool
}

// dimension returns the set of one dimension, with those that share its bit, and whether it is
// alone.
func (s *solving) dimension(d int) (of dimensions, alone bool) {
	const last = 63
	switch s.values.spaces[d].(type) {
	case claimSpace, claimListSpace, *claimSpace, *claimListSpace:
		// A claim has one form: a value of one takes that of another away, and an object those of its members.
		return 1 << last, false
	}
	if slices.ContainsFunc(s.cover.table.rows[d], func(r *row) bool { return r.names }) {
		return 1 << callers, false
	}
	return 1 << min(d, last), d > callers && d < last
}

func (l literals) none() bool { return len(l.present) == 0 && len(l.absent) == 0 }

// mostRounds bounds how often the open conditions are looked at.
const mostRounds = 32

// infer notes what follows from the obligations alone: where a condition has to hold, all operands
// of an And do, and the only operand of an Or that can. It returns false where the obligations
// contradict each other.
func (s *solving) infer() bool {
	s.truths = make([]truth, len(s.simplifier.numbers)+1)
	var open []obliged
	for _, o := range s.obligations {
		open = append(open, obliged{&o.step.asked, truthOf(o.want)})
	}
	for range mostRounds {
		var left []obliged
		progress := false
		for len(open) > 0 {
			o := open[len(open)-1]
			open = open[:len(open)-1]
			known := s.inferred(o.when)
			if known == negate(o.want) {
				return false
			}
			if known == unknown {
				progress, s.truths[o.when.id] = true, o.want
			}
			switch parts, decided := s.parts(o); {
			case decided:
				open = append(open, parts...)
			case len(parts) == 0:
				return false
			default:
				left = append(left, o)
			}
		}
		if open = left; !progress {
			break
		}
	}
	return true
}

// obliged is a condition that has to hold, or must not.
type obliged struct {
	when *expr
	want truth
}

// parts returns what has to be so of the operands. Where that is not decided yet, it returns the
// operands of which one has to be so.
func (s *solving) parts(o obliged) (of []obliged, decided bool) {
	e, want := o.when, o.want
	switch {
	case e.op == opNot:
		return []obliged{{&e.operands[0], negate(want)}}, true
	case e.op != opAll && e.op != opAny:
		return nil, true
	}
	all := (e.op == opAll) == (want == yes)
	for i := range e.operands {
		known := s.inferred(&e.operands[i])
		switch {
		case !all && known == want:
			return nil, true
		case all || known != negate(want):
			of = append(of, obliged{&e.operands[i], want})
		}
	}
	return of, all || len(of) == 1
}

// inferred returns what is known of a condition.
func (s *solving) inferred(e *expr) truth {
	if s.truths == nil {
		return unknown
	}
	if known := s.truths[e.id]; known != unknown {
		return known
	}
	switch e.op {
	case opAlways:
		return yes
	case opNever:
		return no
	case opNot:
		return negate(s.inferred(&e.operands[0]))
	case opAll, opAny:
		decisive := truthOf(e.op == opAny)
		all := negate(decisive)
		for i := range e.operands {
			switch s.inferred(&e.operands[i]) {
			case decisive:
				return decisive
			case unknown:
				all = unknown
			}
		}
		return all
	default:
		return unknown
	}
}

func truthOf(holds bool) truth {
	if holds {
		return yes
	}
	return no
}
