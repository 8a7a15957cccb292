package networkpolicy

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/policy"
)

// The names of the shadows in audit mode.
const (
	auditDeny  = "cilium_audit_deny_"
	auditAllow = "cilium_audit_allow_"
)

// unaudited is the name of the rule that lets pass, in audit mode, what no HTTP rule is about.
const unaudited = "audit"

// Lower returns the decision program of the inbound of the selection: a gate of deny rules, a
// gate of allow rules on connections, and a gate on requests where an allow rule has HTTP
// rules. Each rule of the last gate names its peers too, so that no peer gets in by the rule of
// another.
//
// Of the rules of a gate that match, the rule whose name sorts first is the effective one.
func Lower(sel Selection, in policy.Inbound, opts Options) policy.Program {
	if opts.PolicyEnforcement == enforceNever {
		return policy.Program{}
	}
	l := lowering{inbound: in, callers: callersOf(opts), closed: sel.DefaultDeny || opts.PolicyEnforcement == enforceAlways}
	for _, r := range sel.Deny {
		l.addDeny(r)
	}
	for _, r := range sel.Allow {
		l.addAllow(r)
	}
	if opts.PolicyAuditMode {
		return l.audited()
	}
	var program policy.Program
	if deny := append(l.deny, l.lost...); len(deny) > 0 {
		program.Gates = append(program.Gates, gate(policy.L4, policy.Allow, deny))
	}
	if l.closed {
		program.Gates = append(program.Gates, gate(policy.L4, policy.Deny, l.allow))
	}
	if l.closed && l.asksHTTP {
		program.Gates = append(program.Gates, gate(policy.L7, policy.Deny, l.requests))
	}
	return program
}

// lowering collects the rules of the gates of one inbound.
type lowering struct {
	inbound     policy.Inbound
	callers     callers
	closed      bool
	deny, allow []policy.Rule
	// lost are the allow rules whose callers get to the proxy, which reads HTTP, on tcp.
	lost []policy.Rule
	// requests are the allow rules with their HTTP rules; asksHTTP is true where one has some, also
	// beside an entry without: Cilium's proxy gets the callers of such a rule too.
	requests []policy.Rule
	asksHTTP bool
}

func (l *lowering) addDeny(r rule) {
	if _, ok := r.entriesFor(l.inbound); !ok {
		return
	}
	l.deny = appendDeny(l.deny, r, l.callers.lets(r))
}

func appendDeny(to []policy.Rule, r rule, when policy.Condition) []policy.Rule {
	if condition.IsNever(when) {
		return to
	}
	return append(to, policy.Rule{Verdict: policy.Verdict{Effect: policy.Deny, Origin: r.origin}, When: when})
}

func (l *lowering) addAllow(r rule) {
	entries, ok := r.entriesFor(l.inbound)
	if !ok {
		return
	}
	http, whole := alternatives(entries)
	when := l.callers.lets(r)
	if !l.closed {
		// Nothing is closed but to those who do not prove what the rule demands.
		l.deny = appendDeny(l.deny, r, l.callers.unproven(r))
	}
	if l.inbound.Protocol.Layer() == policy.L4 {
		if http != nil {
			l.lost = appendDeny(l.lost, r, when)
		}
		http, whole = nil, true
	}
	if condition.IsNever(when) {
		return
	}
	allow := policy.Verdict{Effect: policy.Allow, Origin: r.origin}
	l.allow = append(l.allow, policy.Rule{Verdict: allow, When: when})
	l.asksHTTP = l.asksHTTP || http != nil
	if !whole {
		when = condition.Both(when, condition.Any(http))
	}
	l.requests = append(l.requests, policy.Rule{Verdict: allow, When: when})
}

// alternatives returns the HTTP rules of the entries, and whether one of the entries, or the
// rule as a whole, has none and lets every request pass.
func alternatives(entries []portRule) (http []policy.Condition, whole bool) {
	for _, entry := range entries {
		whole = whole || entry.http == nil
		http = append(http, entry.http...)
	}
	return http, whole || entries == nil
}

// audited returns the program of audit mode: what judges connections only observes, and HTTP
// rules judge the requests of the callers that they are about.
func (l *lowering) audited() policy.Program {
	var program policy.Program
	if len(l.lost) > 0 {
		// A packet that audit mode lets pass does not get to the proxy.
		dropped := condition.None(conditions(l.deny))
		for i, r := range l.lost {
			l.lost[i].When = condition.Both(r.When, dropped)
		}
		program.Gates = append(program.Gates, gate(policy.L4, policy.Allow, l.lost))
	}
	if len(l.deny) > 0 {
		shadow := gate(policy.L4, policy.Allow, l.deny)
		shadow.Name = auditDeny
		program.Shadows = append(program.Shadows, shadow)
	}
	if !l.closed {
		return program
	}
	shadow := gate(policy.L4, policy.Deny, l.allow)
	shadow.Name = auditAllow
	program.Shadows = append(program.Shadows, shadow)
	if l.asksHTTP {
		free := append(conditions(l.deny), condition.None(conditions(l.allow)))
		rules := append(slices.Clone(l.requests), policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: unaudited}, When: condition.Any(free)})
		program.Gates = append(program.Gates, gate(policy.L7, policy.Deny, rules))
	}
	return program
}

func conditions(rules []policy.Rule) (out []policy.Condition) {
	for _, r := range rules {
		out = append(out, r.When)
	}
	return out
}

// gate returns a gate of named rules in the order of their names.
func gate(layer policy.Layer, rest policy.Effect, rules []policy.Rule) policy.Gate {
	slices.SortStableFunc(rules, func(a, b policy.Rule) int { return strings.Compare(a.Origin, b.Origin) })
	return policy.Gate{Layer: layer, Form: policy.Named, Rules: rules, Default: policy.Verdict{Effect: rest}}
}
