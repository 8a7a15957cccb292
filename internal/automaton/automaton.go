// Package automaton has the sets of texts that a string matcher of Envoy tells from the
// others: regular languages over bytes.
//
// It guarantees that a text is matched exactly where Envoy matches it, for all 256 bytes; a
// [Search] answers whether there is a text that is in some languages and not in others. It
// knows no policy, and nothing of what callers can send.
package automaton

import (
	"fmt"
	"slices"
	"sync"
)

// Encoding is how a regular expression reads bytes. Package behavior says which Envoy
// reads them how.
type Encoding uint8

// The encodings of RE2.
const (
	// Latin1 takes each byte for a character.
	Latin1 Encoding = iota
	// UTF8 takes bytes that are no UTF-8 for no character: no expression matches them.
	UTF8
)

// Language is a set of texts, as an automaton that reads bytes. The automaton is built for
// one direction of reading. It can be used from several goroutines.
type Language struct {
	nodes  []node
	starts []int32
	// class has the class of each byte: the automaton does not tell bytes of one class
	// apart. sample has a byte of each class.
	class  [256]uint8
	sample []byte
	// next has the nodes behind each node and class of bytes.
	next [][]int32
	// bounds is the price of the cheapest way from each node to the end of a text.
	bounds []int32

	// alphabet are the bytes of all texts.
	alphabet bytes

	mu      sync.Mutex
	matcher *sets

	reversed func() *Language
}

// node is a state of the nondeterministic automaton.
type node struct {
	edges   []edge
	accepts bool
	// loops are the bytes that lead back to the node.
	loops bytes
}

// edge leads to a node with each byte from low to high.
type edge struct {
	low, high byte
	target    int32
}

// bytes is a set of bytes.
type bytes [4]uint64

func (b *bytes) add(c byte)      { b[c>>6] |= 1 << (c & 63) }
func (b *bytes) has(c byte) bool { return b[c>>6]&(1<<(c&63)) != 0 }

// subsetOf reports whether every byte is in another set too.
func (b *bytes) subsetOf(other *bytes) bool {
	return b[0]&^other[0] == 0 && b[1]&^other[1] == 0 && b[2]&^other[2] == 0 && b[3]&^other[3] == 0
}

// maxNodes bounds the automaton of one pattern.
const maxNodes = 5000

// draft is a language in the making.
type draft struct{ nodes []node }

func (d *draft) add(accepts bool) int32 {
	d.nodes = append(d.nodes, node{accepts: accepts})
	return int32(len(d.nodes) - 1)
}

func (d *draft) join(from, to int32, low, high byte) {
	d.nodes[from].edges = append(d.nodes[from].edges, edge{low, high, to})
}

// literal adds a way for each of the bytes. The letters of ASCII match in any case where
// fold is set.
func (d *draft) literal(from int32, text string, fold bool) int32 {
	for i := range len(text) {
		to := d.add(false)
		c := text[i]
		d.join(from, to, c, c)
		if lower := c | 0x20; fold && lower >= 'a' && lower <= 'z' {
			d.join(from, to, c^0x20, c^0x20)
		}
		from = to
	}
	return from
}

// Literal returns the texts that are the value (neither open), begin with it (openEnd), end
// with it (openStart), or contain it (both). With fold, the letters of ASCII match in any
// case.
func Literal(value string, openStart, openEnd, fold bool) *Language {
	var d draft
	start := d.add(false)
	if openStart {
		d.join(start, start, 0, 255)
	}
	end := d.literal(start, value, fold)
	d.nodes[end].accepts = true
	if openEnd && (end != start || !openStart) {
		d.join(end, end, 0, 255)
	}
	return d.finish([]int32{start})
}

// Segments returns the value and everything that goes on with a slash behind it.
func Segments(value string) *Language {
	var d draft
	start := d.add(false)
	end := d.literal(start, value, false)
	d.nodes[end].accepts = true
	below := d.add(true)
	d.join(end, below, '/', '/')
	d.join(below, below, 0, 255)
	return d.finish([]int32{start})
}

// finish trims nodes from which no text ends, and prepares the tables.
func (d *draft) finish(starts []int32) *Language {
	l := trimmed(d.nodes, starts)
	l.classify()
	l.measure()
	l.reversed = sync.OnceValue(l.reverse)
	return l
}

// trimmed keeps the nodes that a text of the language comes through.
func trimmed(nodes []node, starts []int32) *Language {
	back := make([][]int32, len(nodes))
	var open []int32
	live := make([]bool, len(nodes))
	for i := range nodes {
		for _, e := range nodes[i].edges {
			back[e.target] = append(back[e.target], int32(i))
		}
		if nodes[i].accepts {
			live[i] = true
			open = append(open, int32(i))
		}
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, from := range back[at] {
			if !live[from] {
				live[from] = true
				open = append(open, from)
			}
		}
	}
	number := make([]int32, len(nodes))
	for i := range number {
		number[i] = -1
	}
	l := &Language{}
	take := func(at int32) int32 {
		if number[at] < 0 {
			number[at] = int32(len(l.nodes))
			l.nodes = append(l.nodes, node{accepts: nodes[at].accepts})
			open = append(open, at)
		}
		return number[at]
	}
	for _, start := range starts {
		if live[start] {
			l.starts = append(l.starts, take(start))
		}
	}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		self := number[at]
		for _, e := range nodes[at].edges {
			if live[e.target] {
				to := take(e.target)
				l.nodes[self].edges = append(l.nodes[self].edges, edge{e.low, e.high, to})
			}
		}
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		for _, e := range n.edges {
			for c := int(e.low); c <= int(e.high); c++ {
				l.alphabet.add(byte(c))
				if e.target == int32(i) {
					n.loops.add(byte(c))
				}
			}
		}
	}
	return l
}

// classify groups the bytes that no edge tells apart.
func (l *Language) classify() {
	var cuts [257]bool
	for i := range l.nodes {
		for _, e := range l.nodes[i].edges {
			cuts[e.low], cuts[int(e.high)+1] = true, true
		}
	}
	// Bytes of different ranges are still alike where the same edges have them.
	seen := map[string]uint8{}
	var signature []byte
	last := uint8(0)
	for c := range 256 {
		if c > 0 && !cuts[c] {
			l.class[c] = last
			continue
		}
		signature = signature[:0]
		n := uint32(0)
		for i := range l.nodes {
			for _, e := range l.nodes[i].edges {
				if e.low <= byte(c) && byte(c) <= e.high {
					signature = append(signature, byte(n), byte(n>>8), byte(n>>16))
				}
				n++
			}
		}
		id, ok := seen[string(signature)]
		if !ok {
			id = uint8(len(l.sample))
			seen[string(signature)] = id
			l.sample = append(l.sample, byte(c))
		}
		l.class[c], last = id, id
	}
	l.next = make([][]int32, len(l.nodes)*len(l.sample))
	for i := range l.nodes {
		for class, c := range l.sample {
			var to []int32
			for _, e := range l.nodes[i].edges {
				if e.low <= c && c <= e.high {
					to = append(to, e.target)
				}
			}
			l.next[i*len(l.sample)+class] = to
		}
	}
}

// nodesAfter returns the nodes behind a node and a byte.
func (l *Language) nodesAfter(at int32, c byte) []int32 {
	return l.next[int(at)*len(l.sample)+int(l.class[c])]
}

// reverse returns the language of the reversed texts.
func (l *Language) reverse() *Language {
	d := draft{nodes: make([]node, len(l.nodes))}
	var starts []int32
	for i := range l.nodes {
		for _, e := range l.nodes[i].edges {
			d.join(e.target, int32(i), e.low, e.high)
		}
		if l.nodes[i].accepts {
			starts = append(starts, int32(i))
		}
	}
	for _, start := range l.starts {
		d.nodes[start].accepts = true
	}
	return d.finish(starts)
}

// Minus returns the texts of a language that none of the others has. It is for small
// languages, and returns an error where the result is too large: many times larger than the language.
func (l *Language) Minus(others ...*Language) (*Language, error) {
	all := make([]*sets, 0, len(others)+1)
	for _, of := range append([]*Language{l}, others...) {
		all = append(all, newSets(of))
	}
	var d draft
	numbers := map[string]int32{}
	var tuples [][]int32
	take := func(tuple []int32) int32 {
		key := keyOf(tuple)
		at, ok := numbers[key]
		if !ok {
			accepts := all[0].states[tuple[0]].accepts
			for i, other := range all[1:] {
				accepts = accepts && !other.states[tuple[i+1]].accepts
			}
			at = d.add(accepts)
			numbers[key] = at
			tuples = append(tuples, tuple)
		}
		return at
	}
	first := make([]int32, len(all))
	for i, of := range all {
		first[i] = of.start
	}
	take(first)
	// alike is true for a byte that no language tells from the byte in front of it.
	var alike [256]bool
	for c := 1; c < 256; c++ {
		alike[c] = !slices.ContainsFunc(all, func(of *sets) bool { return of.language.class[c] != of.language.class[c-1] })
	}
	most := max(maxNodes, 8*len(l.nodes))
	for i := 0; i < len(tuples); i++ {
		if len(tuples) > most {
			return nil, fmt.Errorf("the difference of the languages has more than %d nodes", most)
		}
		low := 0
		last := int32(-1)
		for c := range 257 {
			to := int32(-1)
			switch {
			case c == 256:
			case alike[c]:
				to = last
			default:
				tuple := make([]int32, len(all))
				for k, of := range all {
					tuple[k] = of.step(tuples[i][k], of.language.class[c])
				}
				if tuple[0] != dead {
					to = take(tuple)
				}
			}
			if to != last || c == 256 {
				if last >= 0 {
					d.join(int32(i), last, byte(low), byte(c-1))
				}
				low, last = c, to
			}
		}
	}
	return d.finish([]int32{0}), nil
}
