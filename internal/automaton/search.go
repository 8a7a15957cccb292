package automaton

import (
	"encoding/binary"
	"slices"
)

// Answer says how a search ended.
type Answer uint8

// The answers.
const (
	// Limited: the search went beyond its limit. There may be a text or not.
	Limited Answer = iota
	// Found: there is a text.
	Found
	// Empty: there is no text.
	Empty
)

// Search looks for texts. It remembers what it learned of languages, and is for one goroutine.
type Search struct {
	// Limit is how many combinations of states one way of searching visits, 0 for
	// DefaultLimit.
	Limit int

	sets map[*Language]*sets
	size int
	// hard counts the questions that went to the limit.
	hard int
}

const (
	// DefaultLimit is far above what the rules of people ask for: thousands of mixed
	// patterns came to 300.
	DefaultLimit = 20000
	// quickLimit ends the first way of searching, which is the best one for nearly all
	// questions.
	quickLimit = 2000
	// maxStates bounds the states of all combinations, for questions of many languages.
	maxStates = 500_000
	// maxHard is how many questions may go to the limit. Later ones end at the quick limit.
	maxHard = 16
	// maxSearchSize bounds the memory of what is remembered, in units of 4 bytes, and
	// maxQuestionSize that of one way of searching.
	maxSearchSize   = 1 << 24
	maxQuestionSize = 1 << 22
)

// Shortest returns a text that all languages of in have and none of out has, the cheapest
// one: short, and of letters rather than of other characters. The first of in is the
// language of what can be sent.
func (s *Search) Shortest(in, out []*Language) (string, Answer) {
	if s.size > maxSearchSize {
		s.sets, s.size = nil, 0
	}
	for _, l := range in {
		if len(l.starts) == 0 {
			return "", Empty
		}
	}
	limit := s.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	limit = min(limit, max(quickLimit, maxStates/(len(in)+len(out))))
	text, answer := s.attempt(in, out, false, min(limit, quickLimit))
	if answer != Limited || s.hard >= maxHard || limit <= quickLimit {
		return text, answer
	}
	if text, answer = s.attempt(in, out, true, limit); answer != Limited {
		return text, answer
	}
	backIn, backOut := reversedOf(in), reversedOf(out)
	for _, deterministic := range []bool{false, true} {
		if text, answer := s.attempt(backIn, backOut, deterministic, limit); answer != Limited {
			back := []byte(text)
			slices.Reverse(back)
			return string(back), answer
		}
	}
	if limit > 2*quickLimit {
		text, answer = s.attempt(in, out, false, limit)
	}
	if answer == Limited {
		s.hard++
	}
	return text, answer
}

func reversedOf(all []*Language) []*Language {
	out := make([]*Language, len(all))
	for i, l := range all {
		out[i] = l.reversed()
	}
	return out
}

func (s *Search) setsOf(l *Language) *sets {
	if s.sets == nil {
		s.sets = map[*Language]*sets{}
	}
	if s.sets[l] == nil {
		s.sets[l] = newSets(l)
	}
	return s.sets[l]
}

// price is what a byte costs in a text.
func price(c byte) int32 {
	switch {
	case c >= 'a' && c <= 'z':
		return 4
	case c >= '0' && c <= '9', c == '/', c == '-':
		return 5
	case c == '.', c == ':', c == '_':
		return 7
	case c >= 'A' && c <= 'Z':
		return 8
	case c > ' ' && c < 0x7f:
		return 12
	default:
		return 20
	}
}

// byPrice are all bytes, the cheapest first.
var byPrice = func() (out [256]byte) {
	for c := range out {
		out[c] = byte(c)
	}
	slices.SortStableFunc(out[:], func(a, b byte) int { return int(price(a) - price(b)) })
	return out
}()

// unreachable is farther than the end of any text.
const unreachable = 1 << 30

// measure finds the cheapest way from each node to the end of a text.
func (l *Language) measure() {
	type way struct {
		from  int32
		price int32
	}
	back := make([][]way, len(l.nodes))
	l.far = make([]int32, len(l.nodes))
	var open queue
	for i := range l.nodes {
		l.far[i] = unreachable
		for _, e := range l.nodes[i].edges {
			cheapest := int32(unreachable)
			for c := int(e.low); c <= int(e.high); c++ {
				cheapest = min(cheapest, price(byte(c)))
			}
			back[e.to] = append(back[e.to], way{int32(i), cheapest})
		}
		if l.nodes[i].accepts {
			l.far[i] = 0
			open.push(0, int32(i))
		}
	}
	for len(open) > 0 {
		far, at := open.pop()
		if far > l.far[at] {
			continue
		}
		for _, w := range back[at] {
			if next := far + w.price; next < l.far[w.from] {
				l.far[w.from] = next
				open.push(next, w.from)
			}
		}
	}
}

// attempt is one way of searching: A* over the combinations of states.
type attempt struct {
	in, out  []*Language
	det      []*sets // of in, nil where nodes stand for themselves
	negative []*sets
	bytes    []byte
	limit    int

	width    int
	tuples   []int32
	parents  []int32
	by       []byte
	costs    []int32
	seen     map[string]int32
	key      []byte
	next     []int32
	open     queue
	overflow bool
}

func (s *Search) attempt(in, out []*Language, deterministic bool, limit int) (string, Answer) {
	a := attempt{in: in, out: out, limit: limit, width: len(in) + len(out), seen: map[string]int32{}}
	a.key, a.next = make([]byte, 4*a.width), make([]int32, a.width)
	if deterministic {
		for _, l := range in {
			a.det = append(a.det, s.setsOf(l))
		}
	}
	for _, l := range out {
		a.negative = append(a.negative, s.setsOf(l))
	}
	before := a.size()
	defer func() { s.size += a.size() - before }()
	a.chooseBytes()
	a.begin(0)
	for len(a.open) > 0 {
		f, at := a.open.pop()
		tuple := a.tuples[int(at)*a.width : int(at+1)*a.width]
		if f > a.costs[at]+a.far(tuple) {
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
		if !a.in[0].alphabet.has(c) {
			continue
		}
		signature = signature[:0]
		for _, l := range a.in {
			signature = append(signature, l.class[c])
		}
		for _, l := range a.out {
			signature = append(signature, l.class[c])
		}
		if !seen[string(signature)] {
			seen[string(signature)] = true
			a.bytes = append(a.bytes, c)
		}
	}
}

// begin adds every combination of first states.
func (a *attempt) begin(i int) {
	switch {
	case i == a.width:
		a.visit(-1, 0, 0)
	case i >= len(a.in):
		a.next[i] = a.negative[i-len(a.in)].start
		a.begin(i + 1)
	case a.det != nil:
		a.next[i] = a.det[i].start
		a.begin(i + 1)
	default:
		for _, at := range a.in[i].starts {
			a.next[i] = at
			a.begin(i + 1)
		}
	}
}

func (a *attempt) expand(at int32) {
	for _, c := range a.bytes {
		if a.negate(at, c) {
			a.product(at, c, 0)
		}
		if a.overflow {
			return
		}
	}
}

// negate steps the languages of out. It reports false where one of them has every text from
// here on.
func (a *attempt) negate(at int32, c byte) bool {
	tuple := a.tuples[int(at)*a.width : int(at+1)*a.width]
	for i, of := range a.negative {
		to := of.step(tuple[len(a.in)+i], c)
		if of.whole(to, &a.in[0].alphabet) {
			return false
		}
		a.next[len(a.in)+i] = to
	}
	return true
}

// product visits every combination of the next states of the languages of in.
func (a *attempt) product(at int32, c byte, i int) {
	if i == len(a.in) {
		a.visit(at, c, a.costs[at]+price(c))
		return
	}
	from := a.tuples[int(at)*a.width+i]
	if a.det != nil {
		if to := a.det[i].step(from, c); to != dead {
			a.next[i] = to
			a.product(at, c, i+1)
		}
		return
	}
	for _, to := range a.in[i].after(from, c) {
		a.next[i] = to
		a.product(at, c, i+1)
	}
}

// visit adds the next combination.
func (a *attempt) visit(from int32, c byte, cost int32) {
	for i, n := range a.next {
		binary.LittleEndian.PutUint32(a.key[4*i:], uint32(n))
	}
	at, ok := a.seen[string(a.key)]
	switch {
	case ok && a.costs[at] <= cost:
		return
	case ok:
		a.costs[at], a.parents[at], a.by[at] = cost, from, c
	case len(a.parents) >= a.limit:
		a.overflow = true
		return
	default:
		at = int32(len(a.parents))
		a.seen[string(a.key)] = at
		a.tuples = append(a.tuples, a.next...)
		a.parents, a.by, a.costs = append(a.parents, from), append(a.by, c), append(a.costs, cost)
	}
	if far := a.far(a.next); far < unreachable {
		a.open.push(cost+far, at)
	}
}

// far is a price that no way to a text from a combination can be below.
func (a *attempt) far(tuple []int32) int32 {
	far := int32(0)
	for i, l := range a.in {
		if a.det != nil {
			far = max(far, a.det[i].states[tuple[i]].far)
		} else {
			far = max(far, l.far[tuple[i]])
		}
	}
	return far
}

func (a *attempt) accepts(tuple []int32) bool {
	for i, l := range a.in {
		if a.det != nil && !a.det[i].states[tuple[i]].accepts || a.det == nil && !l.nodes[tuple[i]].accepts {
			return false
		}
	}
	for i, of := range a.negative {
		if of.states[tuple[len(a.in)+i]].accepts {
			return false
		}
	}
	return true
}

func (a *attempt) text(at int32) string {
	var out []byte
	for ; a.parents[at] >= 0; at = a.parents[at] {
		out = append(out, a.by[at])
	}
	slices.Reverse(out)
	return string(out)
}

// queue has numbers by their price, the cheapest first, the last one of the same price
// first. It is a heap.
type queue []entry

type entry struct {
	price, at int32
}

func (e entry) before(f entry) bool {
	return e.price < f.price || e.price == f.price && e.at > f.at
}

func (q *queue) push(price, at int32) {
	*q = append(*q, entry{price, at})
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h[i].before(h[up]) {
			break
		}
		h[i], h[up] = h[up], h[i]
		i = up
	}
}

func (q *queue) pop() (price, at int32) {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		next := 2*i + 1
		if next >= last {
			break
		}
		if next+1 < last && h[next+1].before(h[next]) {
			next++
		}
		if !h[next].before(h[i]) {
			break
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
	*q = h
	return top.price, top.at
}
