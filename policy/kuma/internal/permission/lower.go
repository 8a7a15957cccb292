package permission

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// defaultOrigin is the origin of a verdict that no policy gave.
const defaultOrigin = "default"

// Lower returns the decision program of an inbound to which the selection
// applies: one gate of the inbound's layer, every deny before every allow, and
// the origin of each rule the KRI of its policy. The other options differ in the
// origins, and Option 3 also in its shadow and in that its rules nest.
//
// On a tcp inbound a matcher with path or method cannot be judged. An allow then
// never matches; a deny keeps its identity, and denies everybody where it has
// none. Each such matcher is a warning.
func Lower(sel Selection, in policy.Inbound, opts Options) (policy.Program, []policy.Warning) {
	if sel.isFrom() {
		return lowerFrom(sel, in, opts), nil
	}
	l := lowering{layer: in.Protocol.Layer(), precise: opts.ShadowForm == Precise}
	switch opts.Option {
	case Option2:
		l.addLists(mergeLists(sel.Policies), mergedOrigin)
	case Option3:
		return l.program(l.tree(sel)), blindSpots(sel.Policies, in)
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
	return program, blindSpots(sel.Policies, in)
}

// lowering collects the rules by what they are, each in order of concatenation.
type lowering struct {
	layer   policy.Layer
	precise bool

	denies, shadowDenies []policy.Rule
	// allows are those that decide: allow and allowWithShadowDeny.
	allows []policy.Rule
	// plainAllows are those of allow alone; the precise shadow needs them.
	plainAllows []policy.Rule
}

func (l *lowering) add(p *Policy) {
	for i := range p.rules {
		l.addLists(&p.rules[i].lists, p.origin)
	}
}

func (l *lowering) addLists(lists *[3][]matcher, origin string) {
	shadowed := l.conditions(lists[allowWithShadowDeny], l.allowed)
	allowed := l.conditions(lists[allow], l.allowed)
	l.denies = appendRule(l.denies, policy.Deny, origin, l.conditions(lists[deny], l.denied))
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

// conditions lowers a list of matchers; one that holds for everybody stands for
// the whole list, and one that never holds is left out.
func (l *lowering) conditions(matchers []matcher, lower func(*matcher) policy.Condition) []policy.Condition {
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
func (l *lowering) allowed(m *matcher) policy.Condition {
	if l.layer == policy.L4 && m.needsL7() {
		return policy.Never
	}
	return m.when
}

// denied lowers a matcher that refuses requests.
func (l *lowering) denied(m *matcher) policy.Condition {
	switch {
	case l.layer == policy.L7 || !m.needsL7():
		return m.when
	case m.identity == nil:
		return policy.Always
	default:
		return policy.Is{Attribute: attribute.Identity, Match: *m.identity}
	}
}

// pathCondition compares a path. A Prefix of a path ends at a segment.
func pathCondition(m policy.Match) policy.Condition {
	if m.Kind == policy.Prefix {
		return attribute.Path.Segments(m.Value)
	}
	return attribute.Path.Exact(m.Value)
}

// condition is the matcher where everything can be seen.
func (m *matcher) condition() policy.Condition {
	var all policy.And
	if m.identity != nil {
		all = append(all, policy.Is{Attribute: attribute.Identity, Match: *m.identity})
	}
	if m.path != nil {
		all = append(all, pathCondition(*m.path))
	}
	if m.method != "" {
		all = append(all, attribute.Method.Exact(m.method))
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}
