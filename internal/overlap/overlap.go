// Package overlap finds the inbounds that several targets select together, and as few others as possible.
//
// What a change lets in may show only where a certain target selects an inbound, or two do, and all others that would hide
// it do not. Package overlap guarantees that each least set of further targets has an inbound; each target has to ask for
// something of each property by itself: a label, a namespace, a port. The given targets select each inbound that it returns.
// It does not guarantee to find all where a target asks for one property or another.
package overlap

import (
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
)

// A Space is all inbounds that targets tell apart.
type Space struct {
	targets    []capability.Target
	blank      policy.Inbound
	properties []property
	// possible are the targets that select an inbound at all, conditions those among them that have to be known.
	possible, conditions set
	tried                int
}

// mostStates bounds the least sets that are looked at for given targets.
const mostStates = 512

// New returns the space of the targets around a blank inbound: with each value of each property by which a target
// tells inbounds apart.
func New(blank policy.Inbound, targets []capability.Target) *Space {
	s := &Space{targets: targets, blank: blank, possible: newSet(len(targets)), conditions: newSet(len(targets))}
	samples := []policy.Inbound{blank}
	var least []policy.Inbound
	for i, t := range targets {
		in := t.Fit(blank)
		least = append(least, in)
		if !t.Selects(in) {
			continue
		}
		s.possible.add(i)
		if t.Conditions {
			s.conditions.add(i)
		}
		samples = append(samples, in)
		if t.Vary != nil {
			samples = append(samples, t.Vary(in)...)
		}
	}
	for _, p := range propertiesOf(samples) {
		known := map[string]bool{}
		for _, sample := range samples {
			if text := p.text(sample); !known[text] {
				known[text] = true
				p.values = append(p.values, value{sample: sample, meets: newSet(len(targets))})
			}
		}
		if len(p.values) > 1 {
			s.hold(p, least)
			p.least = s.leastValues(p.values)
			s.properties = append(s.properties, p)
		}
	}
	return s
}

// Tried is how many inbounds were held against a target.
func (s *Space) Tried() int { return s.tried }

// hold holds each value of a property against each target, in the least inbound of the target. It is asked millions of
// times in a large set, so all values of a property are written into one copy of that inbound.
func (s *Space) hold(p property, least []policy.Inbound) {
	s.tried += len(p.values) * len(s.targets)
	for i, t := range s.targets {
		if !s.possible.has(i) {
			continue
		}
		in := detached(least[i])
		for _, v := range p.values {
			if p.copy(&in, v.sample); t.Selects(in) {
				v.meets.add(i)
			}
		}
	}
}

// hides reports whether an inbound that a set of targets selects shows no more than one that another set selects: the
// other set is a part of it, with the same conditions.
func (s *Space) hides(other, by set) bool {
	return by.isWithin(other) && by.isSameAmong(other, s.conditions)
}

// addLeast adds an item to those of which none makes another one needless, by the sets of targets that the items have.
func addLeast[T any](s *Space, out []T, one T, setOf func(T) set) []T {
	own := setOf(one)
	if slices.ContainsFunc(out, func(o T) bool { return s.hides(own, setOf(o)) }) {
		return out
	}
	return append(slices.DeleteFunc(out, func(o T) bool { return s.hides(setOf(o), own) }), one)
}

// leastValues returns the values that no other one makes needless.
func (s *Space) leastValues(all []value) (out []value) {
	for _, v := range all {
		out = addLeast(s, out, v, func(v value) set { return v.meets })
	}
	return out
}

// state is a set of targets that still select an inbound, with the samples whose properties it has so far.
type state struct {
	alive  set
	last   *state
	sample policy.Inbound
}

// Least returns an inbound for each least set of targets that select one where the given targets do. Sets that
// differ in their conditions are not held against each other. Whole is false where there are more sets than a bound.
func (s *Space) Least(given ...int) (found []policy.Inbound, whole bool) {
	want := newSet(len(s.targets))
	for _, i := range given {
		if !s.possible.has(i) {
			return nil, true
		}
		want.add(i)
	}
	states := []*state{{alive: s.possible}}
	for _, p := range s.properties {
		values := slices.DeleteFunc(slices.Clone(p.values), func(v value) bool { return !want.isWithin(v.meets) })
		if len(values) == len(p.values) {
			values = p.least
		} else {
			values = s.leastValues(values)
		}
		if states = s.extend(states, values); len(states) > mostStates {
			return nil, false
		}
	}
	for _, end := range states {
		in := s.inbound(end)
		if slices.ContainsFunc(given, func(i int) bool { return !s.targets[i].Selects(in) }) {
			continue
		}
		// A target may say more of an inbound that it selects, such as its protocol.
		for _, i := range given {
			in = s.targets[i].Fit(in)
		}
		found = append(found, in)
	}
	return found, true
}

// extend returns the states with each of the values, without those that another one makes needless.
func (s *Space) extend(states []*state, values []value) (out []*state) {
	for _, was := range states {
		for _, v := range values {
			one := &state{was.alive.intersect(v.meets), was, v.sample}
			if out = addLeast(s, out, one, func(st *state) set { return st.alive }); len(out) > mostStates {
				return out
			}
		}
	}
	return out
}

// inbound returns the blank inbound with the properties of a state.
func (s *Space) inbound(end *state) policy.Inbound {
	in := detached(s.blank)
	for i := len(s.properties) - 1; i >= 0; i-- {
		s.properties[i].copy(&in, end.sample)
		end = end.last
	}
	return in
}
