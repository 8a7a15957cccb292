package sidecar

import (
	"fmt"
	"slices"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Program turns filters back into a program: what [xds.Compile] made of one decides
// as that one does, and so does what others made, as far as package policy can say
// what it asks for. It is there to cut requests into classes with [classes.Of].
//
// Each sentence of lost names the place of something that could not be said. Where
// there is none, [policy.Decide] judges every request as an Envoy of version 1.35 or
// later does, the target "*" and callers known by the subject of their certificate
// left out. Where there are some, only Envoy knows the verdict: a rule that asks for
// more than can be said decides nothing in the program. What can be said of it is
// asked by a gate in front, which lets everybody pass, so that the classes are cut by
// it all the same; an operand that cannot be said is missing there.
//
// Several filters of one layer become several gates. A filter that only logs becomes a
// gate that logs. A shadow has the name of its shadow_rules_stat_prefix, or where another
// shadow has that name, of its place. A port is not known here, see [Inbound.Program].
func Program(f xds.Filters) (p policy.Program, lost []string) { return programOf(f, 0) }

// Program is that of the inbound's filters. It knows the port that callers connect to,
// if the inbound has one.
func (i Inbound) Program() (p policy.Program, lost []string) {
	return programOf(i.Filters, i.Address.Port())
}

func programOf(f xds.Filters, port uint16) (policy.Program, []string) {
	t := translator{port: port}
	var p policy.Program
	for i, filter := range f.Network {
		t.filter(policy.L4, (*path)(nil).field("network").index(i), filter, &p.Gates, &p.Shadows)
	}
	for i, filter := range f.HTTP {
		t.filter(policy.L7, (*path)(nil).field("http").index(i), filter, &p.Gates, &p.Shadows)
	}
	t.routes(f.Routes, &p)
	return p, t.lost.sentences()
}

// translator turns filters into gates.
type translator struct {
	// port is the one that callers connect to; 0 where it is not known.
	port uint16
	// layer is that of the filter that is read.
	layer policy.Layer
	lost  losses
}

// rbacFilter is an RBAC filter of either layer.
type rbacFilter interface {
	GetMatcher() *matcherv3.Matcher
	GetShadowMatcher() *matcherv3.Matcher
	GetRules() *rbacv3.RBAC
	GetShadowRules() *rbacv3.RBAC
	GetShadowRulesStatPrefix() string
}

// filter adds the gates of a filter. Envoy judges by the matcher where there are rules
// beside it.
func (t *translator) filter(layer policy.Layer, at *path, f rbacFilter, gates, shadows *[]policy.Gate) {
	t.layer, t.lost.filter = layer, at.String()
	var enforced, observed []policy.Gate
	switch {
	case f.GetMatcher() != nil:
		enforced = t.matcherGates(f.GetMatcher(), at.field("matcher"))
	case f.GetRules() != nil:
		enforced = t.rulesGates(f.GetRules(), false, at.field("rules"))
	}
	switch {
	case f.GetShadowMatcher() != nil:
		observed = t.matcherGates(f.GetShadowMatcher(), at.field("shadow_matcher"))
	case f.GetShadowRules() != nil:
		observed = t.rulesGates(f.GetShadowRules(), true, at.field("shadow_rules"))
	}
	for i, shadow := range observed {
		// What only asks stands in front of the shadow itself.
		if shadow.Name = f.GetShadowRulesStatPrefix(); i < len(observed)-1 || named(*shadows, shadow.Name) {
			shadow.Name = fmt.Sprintf("%s %d", at, i)
		}
		shadow.Behind = behind(*gates, layer)
		*shadows = append(*shadows, shadow)
	}
	*gates = append(*gates, enforced...)
}

func named(shadows []policy.Gate, name string) bool {
	return slices.ContainsFunc(shadows, func(g policy.Gate) bool { return g.Name == name })
}

// behind returns the number of gates in front of a shadow, 0 where there are only those of
// lower layers.
func behind(gates []policy.Gate, layer policy.Layer) int {
	for i := len(gates); i > 0; i-- {
		if gates[i-1].Layer == layer {
			return len(gates)
		}
	}
	return 0
}

func (t *translator) matcherGates(m *matcherv3.Matcher, at *path) []policy.Gate {
	o := t.matcher(m, at)
	gate := policy.Gate{Layer: t.layer, Rules: o.rules}
	if o.verdict != nil {
		gate.Default = *o.verdict
	}
	return o.behindAsking(gate)
}

// draft is what the rules of a gate are gathered in.
type draft struct {
	rules []policy.Rule
	// asks is what can be said of rules that cannot be said whole.
	asks []policy.Rule
}

// outcome is what a match comes to: the rules of a nested matcher, and the verdict
// where none of them matches.
type outcome struct {
	draft
	// verdict is nil where there is none: then the rules behind the match are asked.
	verdict *policy.Verdict
	// unread is set where there is a verdict that cannot be read.
	unread bool
}

// add puts a rule behind those before it.
func (d *draft) add(when reading, o outcome) {
	switch {
	case when.is(policy.Never):
	case !when.whole || o.unread:
		d.ask(when.when, append(allowing(o.rules), o.asks...))
	default:
		if len(o.asks) > 0 {
			d.ask(when.when, o.asks)
		}
		if o.verdict != nil {
			d.rules = append(d.rules, policy.Rule{Verdict: *o.verdict, When: when.when, Then: o.rules})
			break
		}
		// A nested matcher without a verdict of its own lets the evaluation go on behind
		// it, which a rule with others in it does not.
		for _, rule := range o.rules {
			rule.When = allOf([]reading{when, exactly(rule.When)}).when
			d.rules = append(d.rules, rule)
		}
	}
}

func (d *draft) ask(when policy.Condition, then []policy.Rule) {
	if when == nil || when == policy.Always {
		d.asks = append(d.asks, then...)
		return
	}
	d.asks = append(d.asks, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow}, When: when, Then: then})
}

// allowing returns the rules with verdicts that let everybody pass.
func allowing(rules []policy.Rule) []policy.Rule {
	out := make([]policy.Rule, len(rules))
	for i, rule := range rules {
		out[i] = policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow}, When: rule.When, Then: allowing(rule.Then)}
	}
	return out
}

// behindAsking returns the gate behind the one that asks, if there is anything to ask.
func (d draft) behindAsking(gate policy.Gate) []policy.Gate {
	if len(d.asks) == 0 {
		return []policy.Gate{gate}
	}
	return []policy.Gate{asker(gate.Layer, d.asks), gate}
}

func asker(layer policy.Layer, rules []policy.Rule) policy.Gate {
	return policy.Gate{Layer: layer, Rules: rules, Default: policy.Verdict{Effect: policy.Allow}}
}
