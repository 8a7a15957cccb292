package classes

import (
	"encoding/binary"
	"slices"
)

// simplifier turns conditions into shorter ones of the same meaning, in which no operand is
// repeated. It guarantees that two conditions have the same number only if they mean the same: the
// order, the nesting and the repetition of operands make no difference. A compiler may write a
// condition once for each source of a rule, and a search would try each of them.
type simplifier struct {
	numbers map[string]int32
	// seen has the numbers of the operands that were met in the round of the same number.
	seen  []int32
	round int32
	key   []byte
}

// simplest returns the shorter condition. The operands keep their order.
func (s *simplifier) simplest(e *expr) expr {
	switch e.op {
	case opNot:
		of := s.simplest(&e.operands[0])
		switch of.op {
		case opNot:
			return of.operands[0]
		case opAlways:
			return s.numbered(expr{op: opNever})
		case opNever:
			return s.numbered(expr{op: opAlways})
		}
		return s.numbered(expr{op: opNot, operands: []expr{of}})
	case opAll, opAny:
		operands := make([]expr, len(e.operands))
		for i := range e.operands {
			operands[i] = s.simplest(&e.operands[i])
		}
		return s.combine(e.op, operands)
	default:
		return s.numbered(*e)
	}
}

// combine combines operands that are as simple as they can be.
func (s *simplifier) combine(op op, operands []expr) expr {
	neutral, other := opAlways, opAny
	if op == opAny {
		neutral, other = opNever, opAll
	}
	flat := make([]expr, 0, len(operands))
	s.begin()
	for _, operand := range operands {
		one := []expr{operand}
		switch operand.op {
		case neutral:
			continue
		case op:
			one = operand.operands
		case opAlways, opNever:
			return operand
		}
		for _, o := range one {
			if !s.has(o.id) {
				s.see(o.id)
				flat = append(flat, o)
			}
		}
		// An operand that was taken apart is met too.
		s.see(operand.id)
	}
	// A or (A and B) is A, and A and (A or B) too.
	flat = slices.DeleteFunc(flat, func(o expr) bool {
		return o.op == other && slices.ContainsFunc(o.operands, func(inner expr) bool { return s.has(inner.id) })
	})
	switch len(flat) {
	case 0:
		return s.numbered(expr{op: neutral})
	case 1:
		return flat[0]
	}
	if common, rest := s.factor(other, flat); len(common) > 0 {
		alternatives := make([]expr, len(rest))
		for i, of := range rest {
			alternatives[i] = s.combine(other, of)
		}
		return s.combine(other, append(common, s.combine(op, alternatives)))
	}
	return s.numbered(expr{op: op, operands: flat})
}

// factor takes out what is an operand of each: (A and B) or (A and C) is A and (B or C).
func (s *simplifier) factor(op op, all []expr) (common []expr, rest [][]expr) {
	if slices.ContainsFunc(all, func(e expr) bool { return e.op != op }) {
		return nil, nil
	}
	common = slices.Clone(all[0].operands)
	for _, e := range all[1:] {
		s.begin()
		for _, o := range e.operands {
			s.see(o.id)
		}
		if common = slices.DeleteFunc(common, func(o expr) bool { return !s.has(o.id) }); len(common) == 0 {
			return nil, nil
		}
	}
	s.begin()
	for _, o := range common {
		s.see(o.id)
	}
	for _, e := range all {
		rest = append(rest, slices.DeleteFunc(slices.Clone(e.operands), func(o expr) bool { return s.has(o.id) }))
	}
	return common, rest
}

// numbered gives a condition its number, from 1.
func (s *simplifier) numbered(e expr) expr {
	s.key = append(s.key[:0], byte(e.op))
	if e.op == opLeaf {
		s.key = binary.AppendUvarint(s.key, uint64(e.cell))
	}
	ids := make([]int32, len(e.operands))
	for i := range e.operands {
		ids[i] = e.operands[i].id
	}
	slices.Sort(ids)
	for _, id := range ids {
		s.key = binary.AppendUvarint(s.key, uint64(id))
	}
	id, ok := s.numbers[string(s.key)]
	if !ok {
		id = int32(len(s.numbers)) + 1
		s.numbers[string(s.key)] = id
	}
	e.id = id
	return e
}

func (s *simplifier) begin() { s.round++ }

func (s *simplifier) has(id int32) bool { return int(id) < len(s.seen) && s.seen[id] == s.round }

func (s *simplifier) see(id int32) {
	if n := len(s.numbers) + 1; len(s.seen) < n {
		s.seen = append(s.seen, make([]int32, n-len(s.seen))...)
	}
	s.seen[id] = s.round
}
