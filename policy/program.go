package policy

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/meshproof/meshproof/internal/authorizer"
)

// Program is the decision of one inbound. A request passes when every gate lets it
// pass. Gates are asked in order, those of L4 before those of L7. A shadow observes and
// never decides. The zero value has no gate and lets everything pass. A program must
// not be changed after it was handed on.
type Program struct {
	Gates   []Gate
	Shadows []Gate
	// Routes are asked in order. The first route that matches a request replaces the
	// program's own gates and shadows on L7 by its own.
	Routes []Route
	// RoutesOnly is true where the inbound answers 404 to the requests that no route matches.
	// No gate on L7 judges them, so that the program has such gates in its routes only.
	RoutesOnly bool
}

// Gate is a list of rules. The first rule that matches decides. Where no rule matches,
// Default decides. The zero value denies everybody on L4.
//
// A gate whose default has the effect [Log] only logs: all its rules log, it lets every
// request pass, and it never decides.
type Gate struct {
	// Name tells several shadows apart. It is the shadow_rules_stat_prefix of their filter.
	// Gates that are no shadows have no name: their order tells them apart.
	Name    string
	Layer   Layer
	Form    Form
	Rules   []Rule
	Default Verdict
	// Asks is the authorizer that decides about the requests that the rules match; nil where the
	// rules decide. When of such a rule is an And of two: what it matches, and Refuses, which
	// holds for the requests that the authorizer refuses.
	Asks    *authorizer.Authorizer
	Refuses Condition
	// Preceding is the number of gates in front of a shadow, 0 for other gates. Envoy asks the
	// shadow only where these gates, and all gates of a lower layer, let the request pass.
	Preceding int
}

// Logs reports whether the gate only logs.
func (g Gate) Logs() bool { return g.Default.Effect == Log }

// Position returns the place of a shadow among the gates of its program: the number of
// gates that have to let a request pass before Envoy asks the shadow.
func (g Gate) Position(gates []Gate) int {
	for i := len(gates); i > g.Preceding; i-- {
		if gates[i-1].Layer < g.Layer {
			return i
		}
	}
	return g.Preceding
}

// Rule gives its verdict to the requests that When matches. A rule whose When is nil
// never matches.
type Rule struct {
	Verdict
	When Condition
	// Then holds rules that are asked first for a request that When matches. The
	// verdict stands where none of them matches.
	Then []Rule
}

// Matches reports whether the rule applies to the request.
func (r Rule) Matches(req *Request) bool { return r.When != nil && r.When.Holds(req) }

// Equal reports whether two programs have the same gates, shadows and rules in the same
// order. Two other programs are not equal, even where they decide every request alike.
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
	if p.RoutesOnly {
		fmt.Fprintf(&b, "else %s\n", NoRoute)
	}
	return b.String()
}

func (g Gate) write(b *strings.Builder, title string) {
	if g.Name != "" {
		title += " " + g.Name
	}
	if g.Form == Named {
		title += " of named rules"
	}
	if g.Asks != nil {
		title += " that ask " + g.Asks.Provider
	}
	fmt.Fprintf(b, "%s %s", title, g.Layer)
	if g.Preceding > 0 {
		fmt.Fprintf(b, " behind %d gates", g.Preceding)
	}
	b.WriteString("\n")
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
