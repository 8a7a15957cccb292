package lowering

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// defaultOrigin is the origin of a verdict that no policy gave.
const defaultOrigin = "default"

// Lower returns the decision program of an inbound to which the selection applies. It
// has one gate of the inbound's layer, with every deny before every allow. The origin
// of a rule is the KRI of its policy. The other options have other origins; Option 3
// also has another shadow, and its rules nest.
//
// A tcp inbound shows neither path nor method. There an allow that asks for one never
// matches. A deny that asks for one keeps its identity, and denies everybody where it
// has none. Package lint warns of each such matcher.
func Lower(sel selection.Selection, in policy.Inbound, opts permission.Options) policy.Program {
	if sel.IsFrom() {
		return lowerFrom(sel, in, opts)
	}
	l := lowering{layer: in.Protocol.Layer(), precise: opts.ShadowForm == permission.Precise}
	switch opts.Option {
	case permission.Option2:
		l.addLists(MergeLists(sel.Policies), permission.MergedOrigin)
	case permission.Option3:
		return l.program(l.tree(sel))
	default:
		for i := range sel.Policies {
			l.add(&sel.Policies[i])
		}
	}
	program := policy.Program{Gates: []policy.Gate{l.gate(l.denies, l.allows)}}
	if len(l.shadowDenies) > 0 {
		shadow := l.gate(l.shadowDenies)
		if l.precise {
			shadow = l.gate(l.denies, l.shadowDenies, l.plainAllows)
		}
		program.Shadows = []policy.Gate{shadow}
	}
	return program
}

// lowering collects the rules of each kind, in order of concatenation.
type lowering struct {
	layer   policy.Layer
	precise bool

	denies, shadowDenies []policy.Rule
	// allows has the rules of allow and of allowWithShadowDeny: both let requests in.
	allows []policy.Rule
	// plainAllows has the rules of allow alone. The precise shadow needs them.
	plainAllows []policy.Rule
}

func (l *lowering) add(p *permission.Policy) {
	for i := range p.Rules {
		l.addLists(&p.Rules[i].Lists, p.Origin)
	}
}

func (l *lowering) addLists(lists *[3][]permission.Matcher, origin string) {
	shadowed := l.conditions(lists[permission.AllowWithShadowDeny], l.allowed)
	allowed := l.conditions(lists[permission.Allow], l.allowed)
	l.denies = appendRule(l.denies, policy.Deny, origin, l.conditions(lists[permission.Deny], l.denied))
	l.shadowDenies = appendRule(l.shadowDenies, policy.Deny, origin, shadowed)
	if l.precise {
		l.plainAllows = appendRule(l.plainAllows, policy.Allow, origin, allowed)
	}
	l.allows = appendRule(l.allows, policy.Allow, origin, slices.Concat(allowed, shadowed))
}

func appendRule(rules []policy.Rule, effect policy.Effect, origin string, anyOf []policy.Condition) []policy.Rule {
	if len(anyOf) == 0 {
		return rules
	}
	var when policy.Condition = policy.Or(anyOf)
	if len(anyOf) == 1 {
		when = anyOf[0]
	}
	return append(rules, policy.Rule{Verdict: policy.Verdict{Effect: effect, Origin: origin}, When: when})
}

func (l *lowering) gate(phases ...[]policy.Rule) policy.Gate {
	return policy.Gate{
		Layer: l.layer, Rules: slices.Concat(phases...), Default: policy.Verdict{Effect: policy.Deny, Origin: defaultOrigin},
	}
}

// conditions lowers a list of matchers. A matcher that always holds stands for the
// whole list, and a matcher that never holds is left out.
func (l *lowering) conditions(matchers []permission.Matcher, lower func(*permission.Matcher) policy.Condition) []policy.Condition {
	if len(matchers) == 0 {
		return nil
	}
	out := make([]policy.Condition, 0, len(matchers))
	for i := range matchers {
		switch c := lower(&matchers[i]); c {
		case policy.Never:
		case policy.Always:
			return []policy.Condition{policy.Always}
		default:
			out = append(out, c)
		}
	}
	return out
}

// allowed lowers a matcher that lets requests pass.
func (l *lowering) allowed(m *permission.Matcher) policy.Condition {
	if l.layer == policy.L4 && m.NeedsL7() {
		return policy.Never
	}
	return m.When
}

// denied lowers a matcher that refuses requests.
func (l *lowering) denied(m *permission.Matcher) policy.Condition {
	switch {
	case l.layer == policy.L7 || !m.NeedsL7():
		return m.When
	case m.Identity == nil:
		return policy.Always
	default:
		return policy.Is{Attribute: attribute.Identity, Match: *m.Identity}
	}
}
