package policy

import (
	"fmt"
	"reflect"
	"strings"
)

// Program is the decision of one inbound. A request passes when every gate lets
// it pass; a shadow observes and never decides. The zero value has no gate and
// lets everything pass. A program is immutable once it was handed on.
type Program struct {
	Gates   []Gate
	Shadows []Gate
}

// Gate is a list of rules of which the first that matches decides; where none
// does, Default decides. The zero value denies everybody on L4.
type Gate struct {
	Layer   Layer
	Rules   []Rule
	Default Verdict
}

// Rule gives its verdict to the requests that When matches. A rule whose When is
// nil never matches.
type Rule struct {
	Verdict
	When Condition
}

// Matches reports whether the rule applies to the request.
func (r Rule) Matches(req *Request) bool { return r.When != nil && r.When.Holds(req) }

// Equal reports whether two programs have the same gates, shadows and rules in
// the same order. Programs that merely decide alike are not equal.
func (p Program) Equal(q Program) bool { return reflect.DeepEqual(p, q) }

// Check reports the first condition that cannot be judged on the layer of its
// gate, for such a program has no meaning: on L4 there is neither method nor
// path. Lowering has to settle this before a program is built.
func (p Program) Check() error {
	for _, gates := range [][]Gate{p.Gates, p.Shadows} {
		for _, gate := range gates {
			for _, rule := range gate.Rules {
				if rule.When != nil && rule.When.Layer() > gate.Layer {
					return fmt.Errorf("policy: rule %s: condition %q cannot be judged by an %s gate", rule.Verdict, rule.When, gate.Layer)
				}
			}
		}
	}
	return nil
}

// String returns the program's text form: one line per gate and rule, in the
// order of evaluation.
func (p Program) String() string {
	var b strings.Builder
	for _, gate := range p.Gates {
		gate.write(&b, "gate")
	}
	for _, shadow := range p.Shadows {
		shadow.write(&b, "shadow")
	}
	return b.String()
}

func (g Gate) write(b *strings.Builder, title string) {
	fmt.Fprintf(b, "%s %s\n", title, g.Layer)
	for _, rule := range g.Rules {
		when := rule.When
		if when == nil {
			when = Never
		}
		fmt.Fprintf(b, "  %s when %s\n", rule.Verdict, when)
	}
	fmt.Fprintf(b, "  else %s\n", g.Default)
}
