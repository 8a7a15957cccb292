package mutation

import (
	"fmt"
	"iter"
	"slices"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
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

// replaceGate returns the program with another gate at a place. The rest is shared.
func replaceGate(p policy.Program, at place, gate policy.Gate) policy.Program {
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

// gateMutants makes every mistake in one gate.
func gateMutants(p policy.Program, at place, gate policy.Gate) []Mutant {
	var out []Mutant
	mutant := func(k Kind, where string, changed policy.Gate) {
		out = append(out, Mutant{Kind: k, Where: at.String() + where, Program: replaceGate(p, at, changed)})
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
	out[len(out)-1].dropped = &droppedDefault{original: p, place: at, gate: gate}
	return out
}

// list is a list of rules with one mistake.
type list struct {
	kind  Kind
	rules []policy.Rule
}

// mutatedLists yields each mistake in a list of rules and in the lists of its rules.
func mutatedLists(rules []policy.Rule) iter.Seq2[string, list] {
	return func(yield func(string, list) bool) {
		for i, rule := range rules {
			where := fmt.Sprintf(", rule %d (%s)", i+1, rule.Verdict)
			if moved, ok := moveAfterAllows(rules, i); ok && !yield(where, list{DenyMoved, moved}) {
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

// swapMutants exchanges the enforced gate and the shadow of each layer.
func swapMutants(p policy.Program) []Mutant {
	var out []Mutant
	for i, shadow := range p.Shadows {
		n := shadow.Position(p.Gates)
		if n == len(p.Gates) || p.Gates[n].Layer != shadow.Layer {
			continue
		}
		m := p
		m.Gates, m.Shadows = slices.Clone(p.Gates), slices.Clone(p.Shadows)
		m.Gates[n], m.Shadows[i] = shadow, p.Gates[n]
		m.Gates[n].Name, m.Gates[n].Behind = "", 0
		m.Shadows[i].Name, m.Shadows[i].Behind = shadow.Name, shadow.Behind
		out = append(out, Mutant{Kind: ShadowSwapped, Where: shadow.Layer.String(), Program: m})
	}
	return out
}

// droppedDefault is a gate that loses its default verdict after compilation. A program
// cannot express a gate without a default.
type droppedDefault struct {
	original policy.Program
	place    place
	gate     policy.Gate
}

// removeFrom removes the default verdict from the filters.
func (d droppedDefault) removeFrom(f xds.Filters) {
	var engines []*matcherv3.Matcher
	add := func(enforced, observed *matcherv3.Matcher, rules, shadowRules *rbacv3.RBAC) {
		if d.place.shadow {
			enforced, rules = observed, shadowRules
		}
		if enforced != nil || rules != nil {
			engines = append(engines, enforced)
		}
	}
	gates, http := d.original.Gates, f.HTTP
	if d.place.shadow {
		gates = d.original.Shadows
	}
	if d.place.route >= 0 {
		route := d.original.Routes[d.place.route]
		if gates = route.Gates; d.place.shadow {
			gates = route.Shadows
		}
		http = nil
		for _, compiled := range f.Routes {
			if compiled.Name == route.Name {
				http = compiled.HTTP
			}
		}
	}
	if d.gate.Layer == policy.L4 {
		for _, filter := range f.Network {
			add(filter.Matcher, filter.ShadowMatcher, filter.Rules, filter.ShadowRules)
		}
	} else {
		for _, filter := range http {
			add(filter.Matcher, filter.ShadowMatcher, filter.Rules, filter.ShadowRules)
		}
	}
	// The engines of a layer have the order of its gates.
	index := 0
	for _, gate := range gates[:d.place.index] {
		if gate.Layer == d.gate.Layer {
			index++
		}
	}
	if index < len(engines) {
		d.removeNoMatch(engines[index])
	}
}

// removeNoMatch removes each no-match action with the default verdict. A matcher that looks
// up identities has one under every key.
func (d droppedDefault) removeNoMatch(m *matcherv3.Matcher) {
	if m == nil {
		return
	}
	if end := m.GetOnNoMatch(); d.isDefault(end) {
		m.OnNoMatch = nil
	} else {
		d.removeNoMatch(end.GetMatcher())
	}
	for _, field := range m.GetMatcherList().GetMatchers() {
		d.removeNoMatch(field.GetOnMatch().GetMatcher())
	}
	for _, maps := range []*matcherv3.Matcher_MatcherTree_MatchMap{m.GetMatcherTree().GetExactMatchMap(), m.GetMatcherTree().GetPrefixMatchMap()} {
		for _, on := range maps.GetMap() {
			d.removeNoMatch(on.GetMatcher())
		}
	}
}

func (d droppedDefault) isDefault(on *matcherv3.Matcher_OnMatch) bool {
	var action rbacv3.Action
	if on.GetAction() == nil || on.GetAction().GetTypedConfig().UnmarshalTo(&action) != nil {
		return false
	}
	allows := action.GetAction() == rbacv3.RBAC_ALLOW
	return action.GetName() == d.gate.Default.Origin && allows == (d.gate.Default.Effect == policy.Allow)
}

// mutations are a condition and its mutants, each with one mistake.
type mutations struct {
	original policy.Condition
	mutants  iter.Seq2[Kind, policy.Condition]
}

// mutatedConditions yields the mutants of a condition. Mutants of the condition itself come
// before mutants of its operands.
func mutatedConditions(c policy.Condition) iter.Seq2[Kind, policy.Condition] {
	return policy.Rewrite(c, policy.Shape[mutations]{
		And: func(operands []mutations) mutations {
			all := policy.And(originals(operands))
			return mutations{all, func(yield func(Kind, policy.Condition) bool) {
				if len(all) > 1 && !yield(AndToOr, policy.Or(all)) {
					return
				}
				for kind, changed := range mutatedOperands(operands) {
					if !yield(kind, policy.And(changed)) {
						return
					}
				}
			}}
		},
		Or: func(operands []mutations) mutations {
			return mutations{policy.Or(originals(operands)), func(yield func(Kind, policy.Condition) bool) {
				for kind, changed := range mutatedOperands(operands) {
					if !yield(kind, policy.Or(changed)) {
						return
					}
				}
			}}
		},
		Not: func(operand mutations) mutations {
			return mutations{policy.Not{Of: operand.original}, func(yield func(Kind, policy.Condition) bool) {
				for kind, changed := range operand.mutants {
					if !yield(kind, policy.Not{Of: changed}) {
						return
					}
				}
			}}
		},
		Leaf: func(c policy.Condition) mutations {
			return mutations{c, func(yield func(Kind, policy.Condition) bool) {
				if is, ok := c.(policy.Is); ok && is.Match.Kind == policy.Exact {
					for _, kind := range is.Attribute.Kinds {
						if kind != policy.Exact && !yield(ExactToPrefix, policy.Is{Attribute: is.Attribute, Match: policy.Match{Kind: kind, Value: is.Match.Value}}) {
							return
						}
					}
				}
			}}
		},
	}).mutants
}

func originals(operands []mutations) []policy.Condition {
	out := make([]policy.Condition, len(operands))
	for i := range operands {
		out[i] = operands[i].original
	}
	return out
}

// mutatedOperands yields the operands with one mistake in one of them.
func mutatedOperands(operands []mutations) iter.Seq2[Kind, []policy.Condition] {
	return func(yield func(Kind, []policy.Condition) bool) {
		all := originals(operands)
		for i := range operands {
			for kind, operand := range operands[i].mutants {
				changed := slices.Clone(all)
				changed[i] = operand
				if !yield(kind, changed) {
					return
				}
			}
		}
	}
}
