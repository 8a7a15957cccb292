package policy

import "iter"

// Conditions yields every condition of a program, of routes, gates and shadows alike, with
// all conditions inside it.
func (p Program) Conditions() iter.Seq[Condition] {
	return func(yield func(Condition) bool) {
		more := walkGates(p.Gates, yield) && walkGates(p.Shadows, yield)
		for _, route := range p.Routes {
			more = more && walk(route.When, yield) && walkGates(route.Gates, yield) && walkGates(route.Shadows, yield)
		}
	}
}

func walkGates(gates []Gate, yield func(Condition) bool) bool {
	for _, gate := range gates {
		if !walkRules(gate.Rules, yield) {
			return false
		}
	}
	return true
}

func walkRules(rules []Rule, yield func(Condition) bool) bool {
	for _, rule := range rules {
		if !walk(rule.When, yield) || !walkRules(rule.Then, yield) {
			return false
		}
	}
	return true
}

// Walk yields a condition and all conditions inside it, each before its operands. A
// missing condition yields nothing.
func Walk(c Condition) iter.Seq[Condition] {
	return func(yield func(Condition) bool) { walk(c, yield) }
}

func walk(c Condition, yield func(Condition) bool) bool {
	if c == nil {
		return true
	}
	if !yield(c) {
		return false
	}
	switch c := c.(type) {
	case And:
		return walkAll(c, yield)
	case Or:
		return walkAll(c, yield)
	case Not:
		return walk(c.Condition, yield)
	default:
		return true
	}
}

func walkAll(cs []Condition, yield func(Condition) bool) bool {
	for _, c := range cs {
		if !walk(c, yield) {
			return false
		}
	}
	return true
}
