package mistake

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/refusal"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// place is the place of a gate in a program.
type place struct {
	shadow bool
	// route is the index of the gate's route, and -1 for a gate of the inbound.
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

// placedGate is a gate of a program and its place.
type placedGate struct {
	place
	gate policy.Gate
}

// placeGates returns every gate of a program.
func placeGates(p policy.Program) []placedGate {
	var out []placedGate
	add := func(gates []policy.Gate, in place) {
		for i, gate := range gates {
			in.index = i
			out = append(out, placedGate{in, gate})
		}
	}
	add(p.Gates, place{route: -1})
	add(p.Shadows, place{shadow: true, route: -1})
	for i, route := range p.Routes {
		add(route.Gates, place{route: i})
		add(route.Shadows, place{shadow: true, route: i})
	}
	return out
}

// replaceGate returns the program with another gate in a place. The rest is shared.
func replaceGate(p policy.Program, of place, gate policy.Gate) policy.Program {
	put := func(gates []policy.Gate) []policy.Gate {
		gates = slices.Clone(gates)
		gates[of.index] = gate
		return gates
	}
	switch {
	case of.route >= 0:
		p.Routes = slices.Clone(p.Routes)
		route := &p.Routes[of.route]
		if of.shadow {
			route.Shadows = put(route.Shadows)
		} else {
			route.Gates = put(route.Gates)
		}
	case of.shadow:
		p.Shadows = put(p.Shadows)
	default:
		p.Gates = put(p.Gates)
	}
	return p
}

// inRoutes makes every mistake in what tells the routes of a program that serves nothing else.
func inRoutes(p policy.Program) []Mistake {
	if !p.RoutesOnly || len(p.Routes) == 0 {
		return nil
	}
	var out []Mistake
	for i, route := range p.Routes {
		for _, m := range mutateCondition(route.When, nil) {
			mutant := p
			mutant.Routes = slices.Clone(p.Routes)
			mutant.Routes[i].When = m.condition
			out = append(out, Mistake{Kind: m.kind, Where: fmt.Sprintf("route %d (%s)", i+1, route.Name), Program: mutant})
		}
	}
	forAll, reversed := p, p
	last := p.Routes[len(p.Routes)-1]
	forAll.RoutesOnly = false
	forAll.Gates, forAll.Shadows = slices.Concat(p.Gates, last.Gates), slices.Concat(p.Shadows, last.Shadows)
	reversed.Routes = slices.Clone(p.Routes)
	slices.Reverse(reversed.Routes)
	return append(out, Mistake{RouteForAll, last.Name, forAll}, Mistake{RoutesReversed, "all routes", reversed})
}

// inGate makes every mistake in one gate.
func inGate(p policy.Program, original placedGate) []Mistake {
	var out []Mistake
	mutant := func(k Kind, where string, change func(*policy.Gate)) {
		gate := original.gate
		change(&gate)
		out = append(out, Mistake{Kind: k, Where: original.String() + where, Program: replaceGate(p, original.place, gate)})
	}
	for _, list := range mutateList(original.gate.Rules) {
		mutant(list.kind, list.where, func(g *policy.Gate) { g.Rules = list.rules })
	}
	if rules, read := withoutNames(original.gate.Rules); read {
		mutant(NoInspector, "", func(g *policy.Gate) { g.Rules = rules })
	}
	if asked := original.gate.Asks; asked != nil {
		mutant(FailModeInverted, ", "+asked.Provider, func(g *policy.Gate) { *g = invertFailMode(*g) })
	}
	if original.gate.Form != policy.Named {
		mutant(NoMatchInverted, ", no match", func(g *policy.Gate) { g.Default.Effect = policy.Allow - g.Default.Effect })
		mutant(NoMatchDropped, ", no match", func(g *policy.Gate) { g.Default = policy.Verdict{} })
	}
	return out
}

// invertFailMode returns a gate whose authorizer fails the other way. The condition of each rule is an
// And of what it matches and of what the authorizer refuses.
func invertFailMode(g policy.Gate) policy.Gate {
	asked := *g.Asks
	asked.FailOpen = !asked.FailOpen
	g.Asks, g.Refuses, g.Rules = &asked, refusal.Refused(asked, g.Layer), slices.Clone(g.Rules)
	for i := range g.Rules {
		if both, ok := g.Rules[i].When.(policy.And); ok && len(both) == 2 {
			g.Rules[i].When = policy.And{both[0], g.Refuses}
		}
	}
	return g
}

// withoutNames returns the rules as Envoy judges by them without a TLS inspector: no server
// name ever matches. It reports whether a rule asks for one.
func withoutNames(rules []policy.Rule) (out []policy.Rule, read bool) {
	unread := rewrite.Leaves(func(c policy.Condition) policy.Condition {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.SNI {
			read = true
			return policy.Never
		}
		return c
	})
	out = slices.Clone(rules)
	for i, rule := range out {
		if rule.When != nil {
			out[i].When = rewrite.Condition(rule.When, unread)
		}
		then, within := withoutNames(rule.Then)
		out[i].Then, read = then, read || within
	}
	return out, read
}

// mutatedList is a list of rules with one mistake.
type mutatedList struct {
	kind  Kind
	where string
	rules []policy.Rule
}

// mutateList makes each mistake in a list of rules and in the lists of its rules.
func mutateList(rules []policy.Rule) []mutatedList {
	var out []mutatedList
	where := func(i int) string { return fmt.Sprintf(", rule %d (%s)", i+1, rules[i].Verdict) }
	asked := valuesAsked(rules)
	for i, rule := range rules {
		if moved, ok := moveAfterAllows(rules, i); ok {
			out = append(out, mutatedList{DenyMoved, where(i), moved})
		}
		for _, m := range mutateCondition(rule.When, asked.besides(i)) {
			changed := slices.Clone(rules)
			changed[i].When = m.condition
			out = append(out, mutatedList{m.kind, where(i), changed})
		}
		for _, m := range mutateList(rule.Then) {
			changed := slices.Clone(rules)
			changed[i].Then = m.rules
			out = append(out, mutatedList{m.kind, where(i) + m.where, changed})
		}
	}
	if last := len(rules) - 1; last >= 0 {
		out = append(out, mutatedList{LastRuleLost, where(last), slices.Clone(rules[:last])})
		for i := range ends(last) {
			out = append(out, mutatedList{RuleLost, where(i), slices.Delete(slices.Clone(rules), i, i+1)})
		}
	}
	return out
}

// moveAfterAllows moves a deny after the last allow of its list. It reports whether an allow
// follows the deny.
func moveAfterAllows(rules []policy.Rule, i int) ([]policy.Rule, bool) {
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

// swapped exchanges the enforced gate and the shadow of each layer.
func swapped(p policy.Program) []Mistake {
	var out []Mistake
	for i, shadow := range p.Shadows {
		n := shadow.Position(p.Gates)
		if n == len(p.Gates) || p.Gates[n].Layer != shadow.Layer {
			continue
		}
		m := p
		m.Gates, m.Shadows = slices.Clone(p.Gates), slices.Clone(p.Shadows)
		m.Gates[n], m.Shadows[i] = shadow, p.Gates[n]
		m.Gates[n].Name, m.Gates[n].Preceding = "", 0
		m.Shadows[i].Name, m.Shadows[i].Preceding = shadow.Name, shadow.Preceding
		out = append(out, Mistake{Kind: ShadowSwapped, Where: shadow.Layer.String(), Program: m})
	}
	return out
}

// mutations are a condition and its mutants, each with one mistake.
type mutations struct {
	original policy.Condition
	mutants  []mutatedCondition
}

type mutatedCondition struct {
	kind      Kind
	condition policy.Condition
}

// mutateCondition returns the mutants of a condition. Mutants of the condition itself come
// before mutants of its operands. The function other returns a value that another rule compares the same
// attribute with, see [values.besides]; it may be nil.
func mutateCondition(c policy.Condition, other func(policy.Is) (policy.Is, bool)) []mutatedCondition {
	return rewrite.Condition(c, rewrite.Shape[mutations]{
		And: func(operands []mutations) mutations {
			m := mutateOperands(operands, func(all []policy.Condition) policy.Condition { return policy.And(all) })
			if all := m.original.(policy.And); len(all) > 1 {
				m.mutants = slices.Insert(m.mutants, 0, mutatedCondition{AndToOr, policy.Or(all)})
				for i, of := range all {
					without := slices.Delete(slices.Clone(all), i, i+1)
					kind := ConditionDropped
					if _, not := of.(policy.Not); not {
						kind = ExceptionDropped
					} else if asksForClaim(of) {
						kind = ClaimDropped
					}
					m.mutants = append(m.mutants, mutatedCondition{kind, without})
				}
			}
			return m
		},
		Or: func(operands []mutations) mutations {
			m := mutateOperands(operands, func(all []policy.Condition) policy.Condition { return policy.Or(all) })
			if all := m.original.(policy.Or); len(all) > 1 {
				if oneOfSeveral(all) {
					m.mutants = slices.Insert(m.mutants, 0, mutatedCondition{OrToAnd, policy.And(all)})
				}
				for i := range ends(len(all)) {
					m.mutants = append(m.mutants, mutatedCondition{AlternativeLost, slices.Delete(slices.Clone(all), i, i+1)})
				}
			}
			return m
		},
		Not: func(operand mutations) mutations {
			m := mutateOperands([]mutations{operand}, func(all []policy.Condition) policy.Condition { return policy.Not{Condition: all[0]} })
			m.mutants = append(m.mutants, mutatedCondition{NotDropped, operand.original})
			return m
		},
		Leaf: func(c policy.Condition) mutations {
			m := mutations{original: c, mutants: mutateLeaf(c)}
			if is, ok := c.(policy.Is); ok && other != nil {
				if value, ok := other(is); ok {
					m.mutants = append(m.mutants, mutatedCondition{AlternativeAdded, policy.Or{is, value}})
				}
			}
			return m
		},
	}).mutants
}

// mutateOperands joins operands, and makes a mutant of each mutant of one of them.
func mutateOperands(operands []mutations, join func([]policy.Condition) policy.Condition) mutations {
	all := make([]policy.Condition, len(operands))
	for i := range operands {
		all[i] = operands[i].original
	}
	m := mutations{original: join(all)}
	for i := range operands {
		for _, mutant := range operands[i].mutants {
			changed := slices.Clone(all)
			changed[i] = mutant.condition
			m.mutants = append(m.mutants, mutatedCondition{mutant.kind, join(changed)})
		}
	}
	return m
}
