package proof

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Rule is a rule of a program, and how many of the proof's requests it decides. The default
// of a gate is its last rule.
type Rule struct {
	Gate   policy.Layer
	Shadow bool
	// Route is the name of the route that has the gate; empty for a gate of the inbound.
	Route   string
	Verdict policy.Verdict
	// When is the condition in the program's text form. For a rule within
	// another rule, the outer condition comes first. It is empty for a default.
	When string
	// Group is true for a rule with rules within it. It decides the requests that none of
	// them matches.
	Group bool
	// Decided counts the requests that the rule decides. Met counts the requests that match
	// a rule that never decides.
	Decided, Met int
	// HiddenBy are the rules that decide in place of a rule that matches and never decides,
	// the most frequent first, at most three.
	HiddenBy []string
}

// Dead reports whether the rule decides no request: no request matches it, or other rules
// always decide first. Where the cover is complete, that is true of all requests. A default
// and a group are safeguards, and never dead.
func (r Rule) Dead() bool { return r.Decided == 0 && r.When != "" && !r.Group }

// String returns the rule in the text form of a program.
func (r Rule) String() string {
	if r.When == "" {
		return "else " + r.Verdict.String()
	}
	return fmt.Sprintf("%s when %s", r.Verdict, r.When)
}

// counter counts what the rules of one gate do.
type counter struct {
	rules []*Rule
	// meets says of each rule whether a request matches it and the rules around it.
	meets []func(*policy.Request) bool
	// deciding has the rule that decides each request.
	deciding []decided
}

// decided is a request and the rule that decides it.
type decided struct {
	request *policy.Request
	rule    *Rule
}

// rules counts which requests of the proof each rule of an inbound decides.
func (p *Proof) rules(inbound int) []Rule {
	program := p.Inbounds[inbound].Program
	var out []Rule
	count := func(gate policy.Gate, shadow bool, route string, reaches func(*policy.Request) bool) {
		c := &counter{}
		c.add(gate.Rules, "", func(*policy.Request) bool { return true })
		c.rules = append(c.rules, &Rule{Verdict: gate.Default})
		for i := range p.asked {
			if a := &p.asked[i]; a.inbound == inbound && reaches(&a.request) {
				c.count(gate, &a.request)
			}
		}
		for i, r := range c.rules {
			r.Gate, r.Shadow, r.Route = gate.Layer, shadow, route
			if r.Dead() {
				c.explain(i)
			}
			out = append(out, *r)
		}
	}
	routed := func(r *policy.Request) int {
		return slices.IndexFunc(program.Routes, func(route policy.Route) bool { return route.Takes(r) })
	}
	// countAll counts the gates and shadows that judge the requests of a route, -1 for
	// those of the inbound itself. L4 judges the requests of all routes.
	countAll := func(route int, name string, gates, shadows []policy.Gate) {
		reaches := func(gate policy.Gate, behind int) func(*policy.Request) bool {
			before := policy.Program{Gates: gates[:behind]}
			return func(r *policy.Request) bool {
				return (route < 0 && gate.Layer == policy.L4 || routed(r) == route) && policy.Decide(before, *r).Effect == policy.Allow
			}
		}
		for i, gate := range gates {
			if route < 0 || gate.Layer == policy.L7 {
				count(gate, false, name, reaches(gate, i))
			}
		}
		for _, shadow := range shadows {
			count(shadow, true, name, reaches(shadow, shadow.Position(gates)))
		}
	}
	countAll(-1, "", program.Gates, program.Shadows)
	for i, route := range program.Routes {
		var gates []policy.Gate
		for _, gate := range program.Gates {
			if gate.Layer == policy.L4 {
				gates = append(gates, gate)
			}
		}
		countAll(i, route.Name, append(gates, route.Gates...), route.Shadows)
	}
	return out
}

// add lists rules in the order of the questions. A rule stands behind the rules within
// it, because it decides where none of them does.
func (c *counter) add(rules []policy.Rule, outer string, around func(*policy.Request) bool) {
	for _, rule := range rules {
		when := outer + text(rule.When)
		meets := func(r *policy.Request) bool { return around(r) && rule.Matches(r) }
		if len(rule.Then) > 0 {
			c.add(rule.Then, when+", and ", meets)
		}
		c.rules = append(c.rules, &Rule{Verdict: rule.Verdict, When: when, Group: len(rule.Then) > 0})
		c.meets = append(c.meets, meets)
	}
}

// text returns the text form of a condition.
func text(when policy.Condition) string {
	if when == nil {
		return policy.Never.String()
	}
	return when.String()
}

// count finds the rule that decides a request. It walks in the order of add.
func (c *counter) count(gate policy.Gate, r *policy.Request) {
	index := 0
	var walk func(rules []policy.Rule, reached bool) bool
	walk = func(rules []policy.Rule, reached bool) bool {
		for _, rule := range rules {
			matches := reached && rule.Matches(r)
			if walk(rule.Then, matches) || matches {
				return true
			}
			index++
		}
		return false
	}
	walk(gate.Rules, true)
	c.rules[index].Decided++
	c.deciding = append(c.deciding, decided{r, c.rules[index]})
}

// explain says of a rule that never decides which rules decide instead.
func (c *counter) explain(i int) {
	hidden := map[string]int{}
	for _, d := range c.deciding {
		if c.meets[i](d.request) {
			c.rules[i].Met++
			hidden[d.rule.String()]++
		}
	}
	c.rules[i].HiddenBy = mostFrequent(hidden)
}

// mostFrequent returns up to three keys, those with the greatest counts.
func mostFrequent(counts map[string]int) []string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b))
	})
	return keys[:min(len(keys), 3)]
}
