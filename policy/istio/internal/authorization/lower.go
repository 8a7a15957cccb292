package authorization

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/policy"
)

// Lower returns the decision program of the inbound of the selection: one gate of named rules
// for each action that a policy has, CUSTOM, AUDIT, DENY and ALLOW in this order, and a shadow for
// each action that a dry run has. An action without a policy has no gate. The gates judge
// requests on HTTP, and connections on tcp.
//
// Of the rules of a gate that match, the rule whose name sorts first is the effective one.
func Lower(sel Selection, in policy.Inbound, opts Options) policy.Program {
	program := policy.Program{Gates: customGates(sel, in, opts)}
	for _, s := range []stage{
		{action: actionAudit, rule: policy.Log, rest: policy.Log},
		{action: actionDeny, rule: policy.Deny, rest: policy.Allow, shadow: "istio_dry_run_deny_"},
		{action: actionAllow, rule: policy.Allow, rest: policy.Deny, shadow: "istio_dry_run_allow_"},
	} {
		if shadow, ok := s.gate(sel, true, in, opts); ok {
			shadow.Name, shadow.Preceding = s.shadow, len(program.Gates)
			program.Shadows = append(program.Shadows, shadow)
		}
		if gate, ok := s.gate(sel, false, in, opts); ok {
			program.Gates = append(program.Gates, gate)
		}
	}
	return program
}

// stage is what becomes of the policies of one action.
type stage struct {
	action string
	// rule is the effect of their rules, and rest what becomes of other requests.
	rule, rest policy.Effect
	// shadow is the name that Istio gives the shadow of the action.
	shadow string
}

// gate returns the gate of the dry runs, or of the other policies, and whether there are any.
func (s stage) gate(sel Selection, observes bool, in policy.Inbound, opts Options) (gate policy.Gate, ok bool) {
	gate = policy.Gate{Layer: in.Protocol.Layer(), Form: policy.Named, Default: policy.Verdict{Effect: s.rest}}
	for _, p := range sel.Policies {
		if p.resource.Spec.Action == s.action && p.observes == observes {
			gate.Rules = append(gate.Rules, p.lower(s.rule, in, opts)...)
			ok = true
		}
	}
	slices.SortStableFunc(gate.Rules, func(a, b policy.Rule) int { return strings.Compare(a.Origin, b.Origin) })
	return gate, ok
}

// lower returns the rules of a policy that have a part in the decision.
func (p Policy) lower(effect policy.Effect, in policy.Inbound, opts Options) []policy.Rule {
	s := scope{namespace: p.resource.Metadata.Namespace, opts: opts}
	var out []policy.Rule
	for i, r := range p.rules {
		if in.Protocol.Layer() == policy.L4 {
			if p.resource.Spec.Action == actionAllow && r.asksHTTP() {
				continue
			}
			r = r.withoutHTTP()
		}
		out = append(out, policy.Rule{Verdict: policy.Verdict{Effect: effect, Origin: p.origin(i)}, When: r.condition(s)})
	}
	return out
}

// asksHTTP reports whether the rule asks for something that a connection does not have.
func (r rule) asksHTTP() bool {
	for t := range r.terms {
		if t.subject.http {
			return true
		}
	}
	return false
}

// withoutHTTP returns the rule without the terms that a connection does not have. An item
// without terms is met by every connection.
func (r rule) withoutHTTP() rule {
	only := func(terms []term) []term {
		return slices.DeleteFunc(slices.Clone(terms), func(t term) bool { return t.subject.http })
	}
	all := func(items [][]term) (out [][]term) {
		for _, terms := range items {
			out = append(out, only(terms))
		}
		return out
	}
	r.from, r.to, r.when = all(r.from), all(r.to), only(r.when)
	return r
}

// condition returns what the rule asks for: one of to, one of from, and all of when.
func (r rule) condition(s scope) policy.Condition {
	var parts []policy.Condition
	for _, items := range [][][]term{r.to, r.from} {
		if items == nil {
			continue
		}
		alternatives := make([]policy.Condition, len(items))
		for i, terms := range items {
			alternatives[i] = condition.All(conditions(terms, s))
		}
		parts = append(parts, condition.Any(alternatives))
	}
	return condition.All(append(parts, conditions(r.when, s)...))
}

// conditions returns what the terms ask for.
func conditions(terms []term, s scope) (out []policy.Condition) {
	one := func(t term, values []string) policy.Condition {
		alternatives := make([]policy.Condition, len(values))
		for i, value := range values {
			alternatives[i] = t.subject.compile(value, s)
		}
		return condition.Any(alternatives)
	}
	for _, t := range terms {
		if len(t.values) > 0 {
			out = append(out, one(t, t.values))
		}
		if len(t.not) > 0 {
			out = append(out, policy.Not{Condition: one(t, t.not)})
		}
	}
	return out
}
