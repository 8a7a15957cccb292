package verdict

import (
	"slices"

	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// OnItsPort returns the program of the inbound with every question for the port answered. So
// programs of inbounds with different ports can be compared.
func (in Inbound) OnItsPort() policy.Program {
	answer := rewrite.Leaves(func(c policy.Condition) policy.Condition {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.DestinationPort {
			return policy.Constant(is.Holds(&policy.Request{Port: in.Port}))
		}
		return c
	})
	settle := func(gates []policy.Gate) []policy.Gate {
		out := slices.Clone(gates)
		for i := range out {
			out[i].Rules = settleRules(out[i].Rules, answer)
		}
		return out
	}
	p := in.Program.Program
	p.Gates, p.Shadows, p.Routes = settle(p.Gates), settle(p.Shadows), slices.Clone(p.Routes)
	for i, route := range p.Routes {
		p.Routes[i].Gates, p.Routes[i].Shadows = settle(route.Gates), settle(route.Shadows)
	}
	return p
}

func settleRules(rules []policy.Rule, answer rewrite.Shape[policy.Condition]) []policy.Rule {
	out := slices.Clone(rules)
	for i, rule := range out {
		if rule.When != nil {
			out[i].When = rewrite.Condition(rule.When, answer)
		}
		out[i].Then = settleRules(rule.Then, answer)
	}
	return out
}
