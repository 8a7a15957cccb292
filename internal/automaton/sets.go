package automaton

import (
	"encoding/binary"
	"slices"
)

// sets is the part of the deterministic automaton of a language that was needed so far.
type sets struct {
	language *Language
	start    int32
	states   []set
	numbers  map[string]int32
	// next has the state behind each state and class of bytes, counted from 1; 0 where it is
	// not known yet.
	next []int32
	// universal is true for a state from which the language has every text that goes on with
	// bytes of the alphabet.
	universal []bool
	alphabet  bytes
	// size is about the number of 4 bytes that are kept.
	size int
}

// set is a state: the nodes in which a text can be.
type set struct {
	nodes   []int32
	accepts bool
	// loops are the bytes that lead from an accepting node back to it: whatever follows of
	// them, the text is of the language.
	loops []bytes
	// bound is the price of the cheapest way to the end of a text.
	bound int32
}

// dead is the state of a text that no text of the language begins with.
const dead = 0

func newSets(of *Language) *sets {
	s := &sets{language: of, numbers: map[string]int32{}}
	s.number(nil)
	s.start = s.number(slices.Clone(of.starts))
	return s
}

// number returns the state of a set of nodes. It takes the nodes over.
func (s *sets) number(nodes []int32) int32 {
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	key := keyOf(nodes)
	if at, ok := s.numbers[key]; ok {
		return at
	}
	state := set{nodes: nodes, bound: unreachable}
	for _, at := range nodes {
		n := &s.language.nodes[at]
		state.bound = min(state.bound, s.language.bounds[at])
		if n.accepts {
			state.accepts = true
			if n.loops != (bytes{}) {
				state.loops = append(state.loops, n.loops)
			}
		}
	}
	at := int32(len(s.states))
	s.numbers[key] = at
	s.states = append(s.states, state)
	s.universal = append(s.universal, state.hasAll(&s.alphabet))
	s.next = append(s.next, make([]int32, len(s.language.sample))...)
	s.size += 2*len(nodes) + len(s.language.sample) + 32
	return at
}

// step returns the state behind a state and a class of bytes.
func (s *sets) step(at int32, class uint8) int32 {
	if to := s.next[int(at)*len(s.language.sample)+int(class)]; to != 0 {
		return to - 1
	}
	return s.newStep(at, class)
}

func (s *sets) newStep(at int32, class uint8) int32 {
	var nodes []int32
	for _, n := range s.states[at].nodes {
		nodes = append(nodes, s.language.next[int(n)*len(s.language.sample)+int(class)]...)
	}
	to := s.number(nodes)
	s.next[int(at)*len(s.language.sample)+int(class)] = to + 1
	return to
}

// goOnWith says of which bytes texts are made.
func (s *sets) goOnWith(alphabet bytes) {
	if s.alphabet == alphabet {
		return
	}
	s.alphabet = alphabet
	for at := range s.states {
		s.universal[at] = s.states[at].hasAll(&alphabet)
	}
}

// hasAll reports whether the language has every text that goes on with bytes of an alphabet.
func (s *set) hasAll(alphabet *bytes) bool {
	for i := range s.loops {
		if alphabet.subsetOf(&s.loops[i]) {
			return true
		}
	}
	return false
}

// maxMatcherSize bounds what a language keeps for matching.
const maxMatcherSize = 1 << 18

// Matches reports whether a text is of the language.
func (l *Language) Matches(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.matcher == nil || l.matcher.size > maxMatcherSize {
		l.matcher = newSets(l)
	}
	at := l.matcher.start
	for i := range len(text) {
		if at = l.matcher.step(at, l.class[text[i]]); at == dead {
			return false
		}
		if l.matcher.size > 2*maxMatcherSize {
			nodes := l.matcher.states[at].nodes
			l.matcher = newSets(l)
			at = l.matcher.number(nodes)
		}
	}
	return l.matcher.states[at].accepts
}

func keyOf(numbers []int32) string {
	key := make([]byte, 0, len(numbers)*4)
	for _, n := range numbers {
		key = binary.LittleEndian.AppendUint32(key, uint32(n))
	}
	return string(key)
}
