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
	// Routes are asked in order. For the requests of the first that matches, its
	// gates and shadows stand in the place of the program's own on L7.
	Routes []Route
}

// Gate is a list of rules of which the first that matches decides; where none
// does, Default decides. The zero value denies everybody on L4.
type Gate struct {
	Layer   Layer
	Form    Form
	Rules   []Rule
	Default Verdict
}

// Rule gives its verdict to the requests that When matches. A rule whose When is
// nil never matches.
type Rule struct {
	Verdict
	When Condition
	// Then are asked first for a request that When matches; the verdict stands
	// where none of them matches.
	Then []Rule
}

// Matches reports whether the rule applies to the request.
func (r Rule) Matches(req *Request) bool { return r.When != nil && r.When.Holds(req) }

// Equal reports whether two programs have the same gates, shadows and rules in
// the same order. Programs that merely decide alike are not equal.
func (p Program) Equal(q Program) bool { return reflect.DeepEqual(p, q) }

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
	for _, route := range p.Routes {
		fmt.Fprintf(&b, "route %s when %s\n", route.Name, route.When)
		for line := range strings.Lines(Program{Gates: route.Gates, Shadows: route.Shadows}.String()) {
			b.WriteString("  " + line)
		}
	}
	return b.String()
}

func (g Gate) write(b *strings.Builder, title string) {
	if g.Form == Named {
		title += " of named rules"
	}
	fmt.Fprintf(b, "%s %s\n", title, g.Layer)
	writeRules(b, g.Rules, g.Default, "  ")
}

func writeRules(b *strings.Builder, rules []Rule, fallback Verdict, indent string) {
	for _, rule := range rules {
		when := rule.When
		if when == nil {
			when = Never
		}
		if len(rule.Then) == 0 {
			fmt.Fprintf(b, "%s%s when %s\n", indent, rule.Verdict, when)
			continue
		}
		fmt.Fprintf(b, "%swhen %s\n", indent, when)
		writeRules(b, rule.Then, rule.Verdict, indent+"  ")
	}
	fmt.Fprintf(b, "%selse %s\n", indent, fallback)
}
