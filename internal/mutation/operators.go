package mutation

import (
	"fmt"
	"iter"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// place is where a gate of a program stands.
type place struct {
	shadow bool
	// route is the index of the route that has the gate, -1 for the inbound's own.
	route, index int
}

func (p place) String() string {
	text := fmt.Sprintf("gate %d", p.index+1)
	if p.shadow {
		text = fmt.Sprintf("shadow %d", p.index+1)
	}
	if p.route >= 0 {
		text = fmt.Sprintf("route %d, %s", p.route+1, text)
	}
	return text
}

// gates yields every gate of a program.
func gates(p policy.Program) iter.Seq2[place, policy.Gate] {
	return func(yield func(place, policy.Gate) bool) {
		each := func(gates []policy.Gate, at place) bool {
			for i, gate := range gates {
				at.index = i
				if !yield(at, gate) {
					return false
				}
			}
			return true
		}
		if !each(p.Gates, place{route: -1}) || !each(p.Shadows, place{shadow: true, route: -1}) {
			return
		}
		for i, route := range p.Routes {
			if !each(route.Gates, place{route: i}) || !each(route.Shadows, place{shadow: true, route: i}) {
				return
			}
		}
	}
}

// with returns the program with another gate at a place. The rest is shared.
func with(p policy.Program, at place, gate policy.Gate) policy.Program {
	put := func(gates []policy.Gate) []policy.Gate {
		gates = slices.Clone(gates)
		gates[at.index] = gate
		return gates
	}
	switch {
	case at.route >= 0:
		p.Routes = slices.Clone(p.Routes)
		route := &p.Routes[at.route]
		if at.shadow {
			route.Shadows = put(route.Shadows)
		} else {
			route.Gates = put(route.Gates)
		}
	case at.shadow:
		p.Shadows = put(p.Shadows)
	default:
		p.Gates = put(p.Gates)
	}
	return p
}

// ofGate makes every mistake there is to make in one gate.
func ofGate(p policy.Program, at place, gate policy.Gate) []Mutant {
	var out []Mutant
	mutant := func(k Kind, where string, changed policy.Gate) {
		out = append(out, Mutant{Kind: k, Where: at.String() + where, Program: with(p, at, changed)})
	}
	for where, rules := range mutatedLists(gate.Rules) {
		changed := gate
		changed.Rules = rules.rules
		mutant(rules.kind, where, changed)
	}
	if gate.Form == policy.Named {
		return out
	}
	inverted := gate
	inverted.Default.Effect = policy.Allow - gate.Default.Effect
	mutant(NoMatchInverted, ", no match", inverted)
	dropped := gate
	dropped.Default = policy.Verdict{}
	mutant(NoMatchDropped, ", no match", dropped)
	out[len(out)-1].strip = &stripped{original: p, at: at, gate: gate}
	return out
}

// list is a list of rules with one mistake.
type list struct {
	kind  Kind
	rules []policy.Rule
}

// mutatedLists yields each mistake in a list of rules, and in those within them.
func mutatedLists(rules []policy.Rule) iter.Seq2[string, list] {
	return func(yield func(string, list) bool) {
		for i, rule := range rules {
			where := fmt.Sprintf(", rule %d (%s)", i+1, rule.Verdict)
			if moved, ok := behindAllows(rules, i); ok && !yield(where, list{DenyMoved, moved}) {
				return
			}
			for kind, when := range mutatedConditions(rule.When) {
				changed := slices.Clone(rules)
				changed[i].When = when
				if !yield(where, list{kind, changed}) {
					return
				}
			}
			for within, then := range mutatedLists(rule.Then) {
				changed := slices.Clone(rules)
				changed[i].Then = then.rules
				if !yield(where+within, list{then.kind, changed}) {
					return
				}
			}
		}
		if n := len(rules); n > 0 {
			yield(fmt.Sprintf(", rule %d (%s)", n, rules[n-1].Verdict), list{LastRuleLost, slices.Clone(rules[:n-1])})
		}
	}
}

// behindAllows moves a deny behind the last allow of its list, if one stands behind it.
func behindAllows(rules []policy.Rule, i int) ([]policy.Rule, bool) {
	last := -1
	for n, rule := range rules {
		if rule.Effect == policy.Allow && len(rule.Then) == 0 {
			last = n
		}
	}
	if rules[i].Effect != policy.Deny || len(rules[i].Then) > 0 || last < i {
		return nil, false
	}
	moved := slices.Delete(slices.Clone(rules), i, i+1)
	return slices.Insert(moved, last, rules[i]), true
}

// swapped exchanges what is enforced with what is observed, layer by layer.
func swapped(p policy.Program) []Mutant {
	var out []Mutant
	for i, shadow := range p.Shadows {
		n := slices.IndexFunc(p.Gates, func(g policy.Gate) bool { return g.Layer == shadow.Layer })
		if n < 0 {
			continue
		}
		m := p
		m.Gates, m.Shadows = slices.Clone(p.Gates), slices.Clone(p.Shadows)
		m.Gates[n], m.Shadows[i] = shadow, p.Gates[n]
		out = append(out, Mutant{Kind: ShadowSwapped, Where: shadow.Layer.String(), Program: m})
	}
	return out
}
