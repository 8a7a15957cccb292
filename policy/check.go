package policy

import "fmt"

// Check reports the first thing that gives a program no meaning: a condition that
// cannot be judged on the layer of its gate (on L4 there is neither method nor
// path), a condition on an attribute that the form of its gate does not show, or
// a gate of named rules that depends on an order. Lowering has to settle all of
// this before a program is built.
func (p Program) Check() error {
	for _, gates := range [][]Gate{p.Gates, p.Shadows} {
		for _, gate := range gates {
			if err := gate.check(); err != nil {
				return err
			}
		}
	}
	for _, route := range p.Routes {
		if err := route.check(); err != nil {
			return err
		}
	}
	return nil
}

func (g Gate) check() error {
	if g.Form == Named && g.Default != (Verdict{}) {
		return fmt.Errorf("policy: a gate of named rules denies without a name where none matches, it cannot say %s", g.Default)
	}
	last := ""
	for _, rule := range g.Rules {
		if err := g.checkRule(rule); err != nil {
			return err
		}
		if g.Form == Ordered {
			continue
		}
		switch {
		case rule.Effect != Allow || len(rule.Then) > 0:
			return fmt.Errorf("policy: rule %s: a named rule allows, and nothing else", rule.Verdict)
		case rule.Origin < last:
			return fmt.Errorf("policy: rule %s stands behind %q, but named rules are asked in the order of their names", rule.Verdict, last)
		}
		last = rule.Origin
	}
	return nil
}

func (g Gate) checkRule(rule Rule) error {
	if rule.When != nil {
		if rule.When.Layer() > g.Layer {
			return fmt.Errorf("policy: rule %s: condition %q cannot be judged by an %s gate", rule.Verdict, rule.When, g.Layer)
		}
		if unseen := g.Form.unseen(rule.When); unseen != nil {
			return fmt.Errorf("policy: rule %s: condition %q cannot be judged by a gate of %s rules", rule.Verdict, unseen, g.Form)
		}
	}
	for _, then := range rule.Then {
		if err := g.checkRule(then); err != nil {
			return err
		}
	}
	return nil
}

// unseen returns the part of the condition that the form does not show, nil for
// none.
func (f Form) unseen(c Condition) Condition {
	switch c := c.(type) {
	case And:
		return f.unseenIn(c)
	case Or:
		return f.unseenIn(c)
	case Not:
		return f.unseen(c.Of)
	case Identity:
		if f == Named {
			return c
		}
	case URI:
		if f == Ordered {
			return c
		}
	}
	return nil
}

func (f Form) unseenIn(cs []Condition) Condition {
	for _, c := range cs {
		if unseen := f.unseen(c); unseen != nil {
			return unseen
		}
	}
	return nil
}
