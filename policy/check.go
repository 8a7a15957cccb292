package policy

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/meshproof/meshproof/internal/endpoint"
)

// Check reports the first thing that gives a program no meaning: a condition that
// cannot be judged on the layer of its gate (on L4 there is neither method nor path), a
// condition on an attribute that the form of its gate does not show, a kind of match
// that the attribute does not admit, a gate of named rules that depends on an order, a
// gate that both decides and logs, or shadows that evidence could not tell apart. The
// lowering of a dialect settles all of this before it builds a program.
func (p Program) Check() error {
	if err := checkGates(p.Gates, p.Shadows); err != nil {
		return err
	}
	for _, gate := range slices.Concat(p.Gates, p.Shadows) {
		if p.RoutesOnly && gate.Layer == L7 {
			return errors.New("policy: a program that serves its routes only has a gate on L7 that is no route's: no request meets it")
		}
	}
	for _, route := range p.Routes {
		if err := route.check(p); err != nil {
			return err
		}
	}
	return nil
}

// checkGates checks the gates and shadows that are asked together.
func checkGates(gates, shadows []Gate) error {
	for i, gate := range gates {
		if gate.Name != "" || gate.Preceding != 0 {
			return fmt.Errorf("policy: gate %d has the name %q and stands behind %d gates: only a shadow says so", i, gate.Name, gate.Preceding)
		}
		if err := gate.check(); err != nil {
			return err
		}
	}
	for i, shadow := range shadows {
		if err := shadow.check(); err != nil {
			return err
		}
		if err := checkPlace(shadow, gates, shadows[:i]); err != nil {
			return err
		}
	}
	return nil
}

// checkPlace checks a shadow against the gates and the shadows in front of it.
func checkPlace(shadow Gate, gates, before []Gate) error {
	if shadow.Asks != nil {
		return fmt.Errorf("policy: shadow %q asks %s: a shadow decides nothing", shadow.Name, shadow.Asks.Provider)
	}
	if shadow.Logs() {
		return fmt.Errorf("policy: shadow %q logs: a shadow decides nothing, a gate that logs is for that", shadow.Name)
	}
	if shadow.Preceding < 0 || shadow.Preceding > len(gates) {
		return fmt.Errorf("policy: shadow %q stands behind %d gates: the program has %d", shadow.Name, shadow.Preceding, len(gates))
	}
	for _, gate := range gates[:shadow.Preceding] {
		if gate.Layer > shadow.Layer {
			return fmt.Errorf("policy: shadow %q on %s stands behind a gate on %s: Envoy judges a connection first", shadow.Name, shadow.Layer, gate.Layer)
		}
	}
	for _, other := range before {
		switch {
		case other.Name == shadow.Name:
			return fmt.Errorf("policy: two shadows have the name %q: give each a name of its own", shadow.Name)
		case other.Layer > shadow.Layer || other.Position(gates) > shadow.Position(gates):
			return fmt.Errorf("policy: shadow %q stands in the list behind %q, but Envoy asks it earlier: list shadows in the order of their places", shadow.Name, other.Name)
		}
	}
	return nil
}

func (g Gate) check() error {
	if g.Layer > L7 || g.Form > Named {
		return fmt.Errorf("policy: a gate has the unknown layer %d or the unknown form %d", g.Layer, g.Form)
	}
	if g.Default.Effect > Log {
		return fmt.Errorf("policy: the default of an %s gate has an unknown effect: %s", g.Layer, g.Default)
	}
	if g.Form == Named && g.Default.Origin != "" {
		return fmt.Errorf("policy: a gate of named rules has a default without a name, it cannot say %s", g.Default)
	}
	if g.Logs() && g.Form != Named {
		return fmt.Errorf("policy: an %s gate of %s rules logs: a gate that logs has named rules", g.Layer, g.Form)
	}
	if g.Asks != nil && (g.Form != Named || g.Default.Effect != Allow || g.Refuses == nil) {
		return fmt.Errorf("policy: an %s gate asks %s: it needs named rules that deny, and the requests that are refused", g.Layer, g.Asks.Provider)
	}
	last := ""
	for _, rule := range g.Rules {
		if g.Asks != nil && !rule.asks(g.Refuses) {
			return fmt.Errorf("policy: rule %s of a gate that asks %s: its condition is no And of what it matches and of what is refused", rule.Verdict, g.Asks.Provider)
		}
		if err := g.checkRule(rule); err != nil {
			return err
		}
		if g.Form == Ordered {
			continue
		}
		switch effect := g.namedEffect(); {
		case rule.Effect != effect || len(rule.Then) > 0:
			return fmt.Errorf("policy: rule %s: beside the default %q a named rule has the effect %q, and no rules within", rule.Verdict, g.Default, effect)
		case rule.Origin < last:
			return fmt.Errorf("policy: rule %s stands behind %q, but named rules are asked in the order of their names", rule.Verdict, last)
		}
		last = rule.Origin
	}
	return nil
}

// namedEffect returns the one effect that the named rules of the gate have.
func (g Gate) namedEffect() Effect {
	switch g.Default.Effect {
	case Allow:
		return Deny
	case Log:
		return Log
	default:
		return Allow
	}
}

func (g Gate) checkRule(rule Rule) error {
	if rule.Effect > Log {
		return fmt.Errorf("policy: a rule has an unknown effect: %s", rule.Verdict)
	}
	if rule.Effect == Log && !g.Logs() {
		return fmt.Errorf("policy: rule %s: its gate decides: a rule that logs belongs to a gate that logs", rule.Verdict)
	}
	if g.Layer < L7 && layerOf(rule.When) > g.Layer {
		return fmt.Errorf("policy: rule %s: condition %q cannot be judged by an %s gate", rule.Verdict, rule.When, g.Layer)
	}
	for c := range Walk(rule.When) {
		if err := g.Form.checkCondition(c); err != nil {
			return fmt.Errorf("policy: rule %s: condition %q %w", rule.Verdict, c, err)
		}
	}
	for _, then := range rule.Then {
		if err := g.checkRule(then); err != nil {
			return err
		}
	}
	return nil
}

// checkCondition reports why a condition, without those inside it, has no meaning in a
// gate of the form.
func (f Form) checkCondition(c Condition) error {
	is, ok := c.(Is)
	switch {
	case !ok:
		return nil
	case is.Attribute == nil:
		return errors.New("names no attribute")
	case !is.Attribute.shownBy(f):
		return fmt.Errorf("cannot be judged by a gate of %s rules", f)
	case !is.Attribute.admits(is.Match.Kind):
		return fmt.Errorf("cannot be judged: the attribute %s has no match of the kind %s", is.Attribute.Name, is.Match.Kind)
	default:
		if err := is.check(); err != nil {
			return fmt.Errorf("cannot be judged: %w", err)
		}
		return nil
	}
}

// check reports what gives a leaf no meaning. A port and an address have one text each: Envoy
// compares some of them as numbers, and others as texts.
func (c Is) check() error {
	// The only ranges of a family are those of numbers in a token.
	switch ofNumbers := c.Attribute.Family != ""; {
	case c.Match.Kind == Range && ofNumbers != c.Match.ofNumbers():
		return fmt.Errorf("the range %s is not one of the attribute %s: a range of ports is 8000-8999, one of numbers [1,7)", c.Match.Value, c.Attribute.Name)
	case c.Match.Kind == Exact && ofNumbers && c.Attribute.admits(Range):
		return c.Match.check()
	}
	if c.Match.Kind == Exact && c.Attribute.admits(Range) {
		_, err := endpoint.Port(c.Match.Value)
		return err
	}
	if c.Match.Kind == Exact && c.Attribute.admits(CIDR) {
		_, err := endpoint.Address(c.Match.Value)
		return err
	}
	return c.Match.check()
}

// asks reports whether the rule has the form of a rule of a gate that asks an authorizer.
func (r Rule) asks(refuses Condition) bool {
	both, ok := r.When.(And)
	return ok && len(both) == 2 && reflect.DeepEqual(both[1], refuses)
}
