package authorization

import (
	"slices"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// lintSplit warns of the first rule of an ALLOW that is for requests of everybody, beside one that is
// for all requests of some callers: their author may have meant one rule.
func (p Policy) lintSplit() []policy.Warning {
	if p.resource.Spec.Action != actionAllow {
		return nil
	}
	ofCallers := slices.IndexFunc(p.rules, func(r rule) bool { return len(r.from) > 0 && len(r.to) == 0 && len(r.when) == 0 })
	ofRequests := slices.IndexFunc(p.rules, func(r rule) bool { return len(r.from) == 0 && len(r.to) > 0 && len(r.when) == 0 })
	if ofCallers < 0 || ofRequests < 0 {
		return nil
	}
	return []policy.Warning{p.warn(warning.SplitRule, p.rules[ofRequests].field,
		"the rule lets in every caller, and %s lets in every request of its callers: write from and to in one item if both have to hold", p.rules[ofCallers].field)}
}

// lintOpen warns of a rule of an ALLOW that asks for nothing, beside one that does: nothing bounds callers and requests then.
func (p Policy) lintOpen() []policy.Warning {
	asks := func(r rule) bool { return len(r.from) > 0 || len(r.to) > 0 || len(r.when) > 0 }
	i := slices.IndexFunc(p.rules, func(r rule) bool { return !asks(r) })
	other := slices.IndexFunc(p.rules, asks)
	if p.resource.Spec.Action != actionAllow || i < 0 || other < 0 {
		return nil
	}
	return []policy.Warning{p.warn(warning.RuleForEverybody, p.rules[i].field,
		"the rule has no conditions and lets in every request, so that %s bounds nothing: add conditions, or delete the rule", p.rules[other].field)}
}
