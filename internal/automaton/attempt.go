package automaton

import (
	"encoding/binary"
	"slices"
)

// attempt is one way of searching: A* over the combinations of states.
type attempt struct {
	members, excluded []*Language
	det               []*sets // of members, nil where nodes stand for themselves
	negative          []*sets
	bytes             []byte
	// classes has, for each of the bytes, its class in each of the excluded languages.
	classes [][]uint8
	limit   int

	width   int
	tuples  []int32
	parents []int32
	labels  []byte
	costs   []int32
	seen    map[string]int32
	key     []byte
	next    []int32
	open    queue
	// visits counts the combinations that were met, those that were known too.
	visits   int
	overflow bool
	// work counts the states that were looked at.
	work int
}

// visitsEach is how often a way of searching may meet each of its combinations: many languages
// with several next states each have more ways to the same ones than there is time for.
const visitsEach = 64

func (s *Search) attempt(in, out []*Language, deterministic bool, limit int) (string, Answer) {
	a := attempt{members: in, excluded: out, limit: limit, width: len(in) + len(out), seen: map[string]int32{}}
	a.key, a.next = make([]byte, 4*a.width), make([]int32, a.width)
	if deterministic {
		for _, l := range in {
			a.det = append(a.det, s.setsOf(l))
		}
	}
	for _, l := range out {
		of := s.setsOf(l)
		of.goOnWith(in[0].alphabet)
		a.negative = append(a.negative, of)
	}
	before := a.size()
	defer func() {
		s.size += a.size() - before
		s.work += a.work
	}()
	a.chooseBytes()
	a.begin(0)
	for len(a.open) > 0 {
		f, at := a.open.pop()
		tuple := a.tuples[int(at)*a.width : int(at+1)*a.width]
		if f > a.costs[at]+a.lowerBound(tuple) {
			continue
		}
		if a.accepts(tuple) {
			return a.text(at), Found
		}
		a.expand(at)
		if a.overflow || a.size()-before > maxQuestionSize {
			return "", Limited
		}
	}
	return "", Empty
}

func (a *attempt) size() (n int) {
	for _, of := range a.det {
		n += of.size
	}
	for _, of := range a.negative {
		n += of.size
	}
	return n
}

// chooseBytes takes the cheapest of the bytes that no language tells apart.
func (a *attempt) chooseBytes() {
	seen := map[string]bool{}
	signature := make([]byte, 0, a.width)
	for _, c := range byPrice {
		if !a.members[0].alphabet.has(c) {
			continue
		}
		signature = signature[:0]
		for _, l := range a.members {
			signature = append(signature, l.class[c])
		}
		for _, l := range a.excluded {
			signature = append(signature, l.class[c])
		}
		if !seen[string(signature)] {
			seen[string(signature)] = true
			a.bytes = append(a.bytes, c)
			a.classes = append(a.classes, slices.Clone(signature[len(a.members):]))
		}
	}
}

// begin adds every combination of first states.
func (a *attempt) begin(i int) {
	switch {
	case i == a.width:
		a.visit(-1, 0, 0)
	case i >= len(a.members):
		a.next[i] = a.negative[i-len(a.members)].start
		a.begin(i + 1)
	case a.det != nil:
		a.next[i] = a.det[i].start
		a.begin(i + 1)
	default:
		for _, at := range a.members[i].starts {
			if a.overflow {
				return
			}
			a.next[i] = at
			a.begin(i + 1)
		}
	}
}

func (a *attempt) expand(at int32) {
	for i, c := range a.bytes {
		a.work += a.width
		if a.goesOn(at, c) && a.negate(at, a.classes[i]) {
			a.product(at, c, 0)
		}
		if a.overflow {
			return
		}
	}
}

// goesOn reports whether every language of in has texts that go on with a byte. There are few
// of them, and they leave few bytes to ask the languages of out about.
func (a *attempt) goesOn(at int32, c byte) bool {
	for i, l := range a.members {
		from := a.tuples[int(at)*a.width+i]
		if a.det != nil && a.det[i].step(from, l.class[c]) == dead || a.det == nil && len(l.nodesAfter(from, c)) == 0 {
			return false
		}
	}
	return true
}

// negate steps the languages of out, by the class that a byte has in each. It reports false
// where one of them has every text from here on.
func (a *attempt) negate(at int32, classes []uint8) bool {
	tuple := a.tuples[int(at)*a.width+len(a.members) : int(at+1)*a.width]
	next := a.next[len(a.members):]
	for i, of := range a.negative {
		to := of.step(tuple[i], classes[i])
		if of.universal[to] {
			return false
		}
		next[i] = to
	}
	return true
}

// product visits every combination of the next states of the languages of in.
func (a *attempt) product(at int32, c byte, i int) {
	if i == len(a.members) {
		a.visit(at, c, a.costs[at]+price(c))
		return
	}
	from := a.tuples[int(at)*a.width+i]
	if a.det != nil {
		if to := a.det[i].step(from, a.members[i].class[c]); to != dead {
			a.next[i] = to
			a.product(at, c, i+1)
		}
		return
	}
	for _, to := range a.members[i].nodesAfter(from, c) {
		if a.overflow {
			return
		}
		a.next[i] = to
		a.product(at, c, i+1)
	}
}

// visit adds the next combination.
func (a *attempt) visit(from int32, c byte, cost int32) {
	a.work += a.width
	if a.visits++; a.visits > visitsEach*a.limit {
		a.overflow = true
		return
	}
	for i, n := range a.next {
		binary.LittleEndian.PutUint32(a.key[4*i:], uint32(n))
	}
	at, ok := a.seen[string(a.key)]
	switch {
	case ok && a.costs[at] <= cost:
		return
	case ok:
		a.costs[at], a.parents[at], a.labels[at] = cost, from, c
	case len(a.parents) >= a.limit:
		a.overflow = true
		return
	default:
		at = int32(len(a.parents))
		a.seen[string(a.key)] = at
		a.tuples = append(a.tuples, a.next...)
		a.parents, a.labels, a.costs = append(a.parents, from), append(a.labels, c), append(a.costs, cost)
	}
	if far := a.lowerBound(a.next); far < unreachable {
		a.open.push(cost+far, at)
	}
}

// lowerBound is a price that no way to a text from a combination can be below.
func (a *attempt) lowerBound(tuple []int32) int32 {
	far := int32(0)
	for i, l := range a.members {
		if a.det != nil {
			far = max(far, a.det[i].states[tuple[i]].bound)
		} else {
			far = max(far, l.bounds[tuple[i]])
		}
	}
	return far
}

func (a *attempt) accepts(tuple []int32) bool {
	for i, l := range a.members {
		if a.det != nil && !a.det[i].states[tuple[i]].accepts || a.det == nil && !l.nodes[tuple[i]].accepts {
			return false
		}
	}
	for i, of := range a.negative {
		if of.states[tuple[len(a.members)+i]].accepts {
			return false
		}
	}
	return true
}

func (a *attempt) text(at int32) string {
	var out []byte
	for ; a.parents[at] >= 0; at = a.parents[at] {
		out = append(out, a.labels[at])
	}
	slices.Reverse(out)
	return string(out)
}
