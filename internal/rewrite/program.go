package rewrite

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Program returns the program with each attribute that a rule asks for changed, knowing the layer
// of the gate. What tells its routes apart stays as it is.
func Program(p policy.Program, change func(layer policy.Layer, is policy.Is) policy.Condition) policy.Program {
	of := func(from []policy.Gate) []policy.Gate {
		out := slices.Clone(from)
		for i, g := range out {
			out[i].Rules = rules(g.Rules, Leaves(func(leaf policy.Condition) policy.Condition {
				if is, ok := leaf.(policy.Is); ok {
					return change(g.Layer, is)
				}
				return leaf
			}))
		}
		return out
	}
	p.Gates, p.Shadows, p.Routes = of(p.Gates), of(p.Shadows), slices.Clone(p.Routes)
	for i, route := range p.Routes {
		p.Routes[i].Gates, p.Routes[i].Shadows = of(route.Gates), of(route.Shadows)
	}
	return p
}

func rules(from []policy.Rule, to Shape[policy.Condition]) []policy.Rule {
	out := slices.Clone(from)
	for i, rule := range out {
		if rule.When != nil {
			out[i].When = Condition(rule.When, to)
		}
		out[i].Then = rules(rule.Then, to)
	}
	return out
}
