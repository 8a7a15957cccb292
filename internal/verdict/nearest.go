package verdict

import (
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/policy"
)

// The bounds of the search for the nearest rule: how many rules and alternatives are compared, how many edits
// count as near, and how long a value may be.
const (
	nearestRules  = 1000
	nearestEdits  = 20
	nearestLength = 300
)

// NearestRule returns the allow that the request comes nearest to, in words, where the request
// is denied because no rule matches. It is "" where no allow is near, and for any other
// decision.
func (in Inbound) NearestRule(r policy.Request) string {
	if d := in.Decide(r); d.Effect != policy.Deny || d.Origin != "default" {
		return ""
	}
	nearest, least, left := "", nearestEdits+1, nearestRules
	var search func(rules []policy.Rule, outer int)
	search = func(rules []policy.Rule, outer int) {
		for _, rule := range rules {
			if left--; left < 0 || rule.When == nil {
				return
			}
			search(rule.Then, outer+editsOf(rule.When, &r))
			if len(rule.Then) > 0 || rule.Effect != policy.Allow {
				continue
			}
			ways, ok := rule.When.(policy.Or)
			if !ok {
				ways = policy.Or{rule.When}
			}
			for _, way := range ways {
				if left--; left < 0 {
					return
				}
				if edits := outer + editsOf(way, &r); edits < least {
					nearest, least = rule.Verdict.String()+" when "+abridge(way.String()), edits
				}
			}
		}
	}
	for _, gate := range in.Program.Gates {
		search(gate.Rules, 0)
	}
	return nearest
}

// editsOf counts the edits of the request after which the condition would hold. What no edit
// brings about counts as far.
func editsOf(c policy.Condition, r *policy.Request) int {
	const far = nearestEdits + 1
	if c == nil {
		return far
	}
	if c.Holds(r) {
		return 0
	}
	switch c := c.(type) {
	case policy.And:
		all := 0
		for _, of := range c {
			all += editsOf(of, r)
		}
		return all
	case policy.Or:
		least := far
		for _, of := range c {
			least = min(least, editsOf(of, r))
		}
		return least
	case policy.Is:
		if c.Attribute == nil || c.Attribute.Text == nil {
			return far
		}
		text, ok := c.Attribute.Text(r)
		if !ok || len(text) > nearestLength || len(c.Match.Value) > nearestLength {
			return far
		}
		if c.Match.Kind != policy.Exact {
			text = text[:min(len(text), len(c.Match.Value))]
		}
		return spelling.Distance(text, c.Match.Value)
	default:
		return far
	}
}
