package classes

import (
	"slices"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
)

// maxSolving bounds the values that are tried for one way: a rule may have a thousand names, and
// each of them is tried. maxCutSolving bounds them where some searches met their limit before, or where
// all ways together came to mostSolving: the cover is sampled then.
const (
	maxSolving    = 20_000
	maxCutSolving = 50
	mostCuts      = 16
	mostSolving   = 1_000_000
)

// solving looks for a request that meets obligations. It repairs one obligation after the
// other: each repair adds an atom that the value of a dimension has to have, or must not
// have, and asks for another value. Where an obligation can be repaired in several ways, it
// tries each that can matter, see [clash]. So it finds a request, or there is none.
type solving struct {
	*regular
	obligations []obligation
	literals    []literals
	request     policy.Request
	steps       int
	limit       int
	// truths has what follows from the obligations alone, once it was asked, see [solving.infer].
	truths []truth
	// clash is about the last answer that there is no request.
	clash clash
}

// solve returns a request that meets the obligations, and false where there is none or where
// the search met its limit.
func (r *regular) solve(obligations []obligation, from policy.Request) (policy.Request, bool) {
	s := solving{regular: r, obligations: obligations, literals: make([]literals, len(r.values.spaces)), request: from, limit: maxSolving}
	if r.values.cuts > mostCuts || r.solved > mostSolving {
		s.limit = maxCutSolving
	}
	answer := s.run()
	r.solved += s.steps
	if answer == automaton.Limited && s.steps > s.limit {
		for _, l := range s.literals {
			r.values.noteLimit(l)
		}
	}
	return s.request, answer == automaton.Found
}

// patience is how many values are tried before it is asked what follows from the obligations alone.
const patience = 50

// run repairs the first obligation that the request does not meet. The last obligation
// is the newest, and comes first.
func (s *solving) run() automaton.Answer {
	if s.steps++; s.steps > s.limit {
		return automaton.Limited
	}
	if s.steps == patience && !s.infer() {
		s.clash = clash{}
		return automaton.Empty
	}
	m := s.ask(&s.request)
	last := len(s.obligations) - 1
	for i := range s.obligations {
		o := s.obligations[(i+last)%(last+1)]
		if s.holds(m, &o.step.asked) != o.want {
			return s.repair(&o.step.asked, o.want)
		}
	}
	answer := automaton.Found
	switch {
	case !s.cover.claimsCanBeSent(&s.request):
		answer = s.repairClaims()
	case !namesCanBeSent(&s.request):
		answer = s.repairCaller()
	}
	s.clash = clash{dimensions: everything}
	return answer
}

// repairCaller gives a request with DNS SANs a URI SAN.
func (s *solving) repairCaller() automaton.Answer {
	before := s.request
	l := s.literals[callers]
	text, answer := s.values.text(s.values.sets[callers], l)
	if answer == automaton.Found {
		s.request.URIs = []string{text}
		if answer = s.run(); answer != automaton.Found {
			s.request = before
		}
	}
	return answer
}

// repair makes a condition hold, or not, and goes on.
func (s *solving) repair(e *expr, want bool) automaton.Answer {
	switch e.op {
	case opLeaf:
		return s.add(e.cell, want)
	case opNot:
		return s.repair(&e.operands[0], !want)
	case opAll, opAny:
		if (e.op == opAll) == want {
			// All operands are needed. The others are looked at later.
			m := s.ask(&s.request)
			i := slices.IndexFunc(e.operands, func(operand expr) bool { return s.holds(m, &operand) != want })
			if i < 0 {
				return automaton.Limited
			}
			return s.repair(&e.operands[i], want)
		}
		return s.repairOne(e.operands, want)
	default:
		s.clash = clash{}
		return automaton.Empty
	}
}

// mostExcluded bounds the atoms that are excluded because no request has them.
const mostExcluded = 16

// repairOne makes one of several conditions hold, or not, and goes on. Where no request has an atom,
// the later ones need not be tried with it.
func (s *solving) repairOne(operands []expr, want bool) automaton.Answer {
	answer := automaton.Empty
	var before []literals
	var of dimensions
	excluded, elsewhere := 0, false
	if i := slices.IndexFunc(operands, func(e expr) bool { return s.inferred(&e) == truthOf(want) }); i >= 0 {
		operands = operands[i : i+1]
	}
	for i := range operands {
		if s.inferred(&operands[i]) == truthOf(!want) {
			continue
		}
		one := s.repair(&operands[i], want)
		if one == automaton.Found {
			return one
		} else if one == automaton.Limited {
			answer = one
			continue
		}
		of |= s.clash.dimensions
		if elsewhere = s.clash.elsewhere; elsewhere {
			answer = one
			break
		}
		if at, has, ok := literalOf(&operands[i], want); ok && excluded < mostExcluded {
			if excluded++; before == nil {
				before = slices.Clone(s.literals)
			}
			l := &s.literals[s.atoms[at].dimension]
			if has {
				l.absent = append(slices.Clip(l.absent), at)
			} else {
				l.present = append(slices.Clip(l.present), at)
			}
		}
	}
	if before != nil && (answer != automaton.Limited || s.steps <= s.limit) {
		s.literals = before
	}
	s.clash = clash{of, elsewhere}
	return answer
}

// literalOf returns the atom that a condition is about, and whether a request has to have it.
func literalOf(e *expr, want bool) (at int32, has, ok bool) {
	switch {
	case e.op == opLeaf:
		return e.cell, want, true
	case e.op == opNot, (e.op == opAll || e.op == opAny) && len(e.operands) == 1:
		return literalOf(&e.operands[0], want != (e.op == opNot))
	default:
		return 0, false, false
	}
}

// add asks for a value that has an atom, or has not, and goes on.
func (s *solving) add(at int32, want bool) automaton.Answer {
	d := s.atoms[at].dimension
	before, request := s.literals[d], s.request
	l := &s.literals[d]
	own, alone := s.dimension(d)
	if slices.Contains(l.present, at) || slices.Contains(l.absent, at) {
		s.clash = clash{dimensions: own}
		return automaton.Empty
	}
	if want {
		l.present = append(slices.Clip(l.present), at)
	} else {
		l.absent = append(slices.Clip(l.absent), at)
	}
	answer := s.values.find(d, *l, &s.request)
	s.clash = clash{dimensions: own}
	if answer == automaton.Found {
		if answer = s.run(); answer == automaton.Found {
			return answer
		}
		s.clash.elsewhere = s.clash.dimensions&own == 0
	}
	if answer != automaton.Limited || s.steps <= s.limit {
		s.literals[d] = before
	}
	if alone && before.none() {
		s.clash.dimensions &^= own
	}
	s.request = request
	return answer
}

// neighbours adds requests close to the border of a class: for each match of the steps that
// decide, the witness with a value on the other side of it, and values close to the
// witness's own.
func (r *regular) neighbours(class int, add func(policy.Request, string)) {
	witness := r.cover.Classes[class].Witness
	seen := make([]bool, len(r.atoms))
	touched := make([]bool, len(r.values.spaces))
	for _, hit := range r.hits[class] {
		if hit == 0 {
			continue
		}
		r.each(&r.steps[hit-1].when, func(at int32) {
			d := r.atoms[at].dimension
			if seen[at] || r.values.unknown(d) {
				return
			}
			seen[at], touched[d] = true, true
			l, why := literals{present: []int32{at}}, "with: "
			if r.atoms[at].is.Holds(&witness) {
				l, why = literals{absent: []int32{at}}, "without: "
			}
			other := witness
			if r.values.find(d, l, &other) == automaton.Found {
				add(other, why+r.atoms[at].is.String())
				if len(l.present) > 0 {
					// No witness may have the value: then nothing else asks at its border.
					r.addNeighbours(at, other, add)
					r.aroundValue(d, other, add)
				}
			}
			r.addNeighbours(at, witness, add)
		})
	}
	// A rule that excludes what the witness has does not decide, and has a border here too.
	for at := range r.atoms[:min(len(r.atoms), mostExcluding)] {
		if a := &r.atoms[at]; !seen[at] && !r.values.unknown(a.dimension) && a.is.Holds(&witness) {
			touched[a.dimension] = true
			r.addNeighbours(int32(at), witness, add)
		}
	}
	for d := range touched {
		if touched[d] {
			r.aroundValue(d, witness, add)
		}
	}
	if touched[callers] || !slices.Contains(touched, true) {
		r.otherCallers(witness, add)
	}
}

// mostExcluding bounds the matches that are tried for each class.
const mostExcluding = 64

// aroundValue adds values close to that of the witness.
func (r *regular) aroundValue(d int, witness policy.Request, add func(policy.Request, string)) {
	in := r.values.spaces[d]
	value := in.read(&witness)
	_, ofHeader := in.(headerSpace)
	if d == callers && len(witness.URIs) != 1 || value == "" && !ofHeader {
		return
	}
	key := value
	if d != callers {
		key = in.key(value)
	}
	for _, v := range neighboursOf(in, pattern{text: key, kind: policy.Exact}, value) {
		r.try(d, witness, v, add)
	}
}

func (r *regular) try(d int, witness policy.Request, v variant, add func(policy.Request, string)) {
	if in := r.values.spaces[d]; in.sound(v.value) == nil {
		in.put(&witness, v.value)
		add(witness, v.why)
	}
}

// addNeighbours adds values that are one step away from what an atom matches in the witness.
func (r *regular) addNeighbours(at int32, witness policy.Request, add func(policy.Request, string)) {
	a := &r.atoms[at]
	d := a.dimension
	value := r.values.spaces[d].read(&witness)
	if in, ok := r.values.spaces[d].(intervals); ok {
		for _, v := range in.neighbours(r.values.intervalOf(at), value) {
			r.try(d, witness, v, add)
		}
		return
	}
	if d == callers && len(witness.URIs) != 1 || value == "" || value == absent || r.cover.table.rows[d][0].several || a.is.Match.Kind != policy.Suffix && a.is.Match.Kind != policy.Contains && a.is.Match.Kind != policy.Regex {
		return
	}
	// The nearest text that is not matched has one byte less, or one byte more.
	for i := len(value) - 1; i >= 0; i-- {
		if shorter := value[:i] + value[i+1:]; !a.is.Match.Matches(shorter) && r.values.spaces[d].sound(shorter) == nil {
			r.try(d, witness, variant{shorter, "one byte less"}, add)
			break
		}
	}
	for i := len(value) - 1; i >= 0 && a.is.Match.Kind == policy.Regex; i-- {
		if other := value[:i] + "x" + value[i+1:]; value[i] == '.' && !a.is.Match.Matches(other) && r.values.spaces[d].sound(other) == nil {
			r.try(d, witness, variant{other, anotherThanDot}, add)
			break
		}
	}
	for i := len(value); i >= 0; i-- {
		if longer := value[:i] + "x" + value[i:]; !a.is.Match.Matches(longer) && r.values.spaces[d].sound(longer) == nil {
			r.try(d, witness, variant{longer, "one byte more"}, add)
			break
		}
	}
}

// otherCallers adds callers without a name and with several names.
func (r *regular) otherCallers(witness policy.Request, add func(policy.Request, string)) {
	nobody := witness
	nobody.URIs, nobody.DNS = nil, nil
	add(nobody, "no certificate")
	space := *r.values.spaces[callers].(*callerSpace)
	space.perName = r.values.perName()
	start := r.values.start()
	if len(witness.URIs) == 1 && len(start.URIs) == 1 && start.URIs[0] != witness.URIs[0] {
		for _, caller := range space.addNames(witness, witness.URIs[0], start.URIs[0]) {
			add(caller, "several names")
		}
	}
}
