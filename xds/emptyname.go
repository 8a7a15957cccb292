package xds

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// checkNames refuses what StringMatcher does not take: a name that begins with nothing
// in particular. Whoever means every name says so with a constant.
func checkNames(p policy.Program) error {
	gates := slices.Concat(p.Gates, p.Shadows)
	for _, route := range p.Routes {
		gates = slices.Concat(gates, route.Gates, route.Shadows)
	}
	for _, gate := range gates {
		for _, rule := range gate.Rules {
			if gate.Form == policy.Named && hasEmptyPrefix(rule.When) {
				return fmt.Errorf("rule %s: condition %q compares a name with an empty prefix", rule.Verdict, rule.When)
			}
		}
	}
	return nil
}

func hasEmptyPrefix(c policy.Condition) bool {
	switch c := c.(type) {
	case policy.URI:
		return c.Kind == policy.Prefix && c.Value == ""
	case policy.And:
		return slices.ContainsFunc(c, hasEmptyPrefix)
	case policy.Or:
		return slices.ContainsFunc(c, hasEmptyPrefix)
	case policy.Not:
		return hasEmptyPrefix(c.Of)
	default:
		return false
	}
}
