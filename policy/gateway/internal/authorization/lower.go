package authorization

import (
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Lower returns the decision program of an inbound to which the selection applies.
// Without a policy the program has no gate. Otherwise it has one L4 gate of named
// rules, whatever the inbound speaks, with one rule for each rule of each policy. A
// caller that no rule names is denied without a name. A rule for other ports, or with
// an empty list of sources, stays in the gate and never matches.
//
// Of the rules that match, the rule whose origin sorts first is the effective one.
func Lower(sel Selection, in policy.Inbound, opts Options) policy.Program {
	if len(sel.Policies) == 0 {
		return policy.Program{}
	}
	gate := policy.Gate{Layer: policy.L4, Form: policy.Named}
	for _, p := range sel.Policies {
		for i, rule := range p.rules() {
			gate.Rules = append(gate.Rules, policy.Rule{
				Verdict: policy.Verdict{Effect: policy.Allow, Origin: p.origin(i)},
				When:    p.condition(rule, in.Port, opts.trustDomain()),
			})
		}
	}
	slices.SortStableFunc(gate.Rules, func(a, b policy.Rule) int { return strings.Compare(a.Origin, b.Origin) })
	return policy.Program{Gates: []policy.Gate{gate}}
}

func (p Policy) condition(rule Rule, port uint16, td spiffeid.TrustDomain) policy.Condition {
	if a := rule.NetworkAttributes; a != nil && a.Ports != nil && !slices.Contains(*a.Ports, port) {
		return policy.Never
	}
	if rule.Sources == nil {
		return policy.Always
	}
	anyOf := make(policy.Or, len(*rule.Sources))
	for i, source := range *rule.Sources {
		anyOf[i] = p.uri(source, td)
	}
	switch len(anyOf) {
	case 0:
		return policy.Never
	case 1:
		return anyOf[0]
	default:
		return anyOf
	}
}

// uri asks for the URI SAN of the source. All service accounts of a namespace are a
// prefix that ends in "/sa/", so that a longer word than sa does not match.
func (p Policy) uri(s Source, td spiffeid.TrustDomain) policy.Is {
	if s.SPIFFE != nil {
		return attribute.URISAN.Exact(*s.SPIFFE)
	}
	namespace := p.resource.Metadata.Namespace
	if s.ServiceAccount.Namespace != nil {
		namespace = *s.ServiceAccount.Namespace
	}
	accounts := td.IDString() + "/ns/" + namespace + "/sa/"
	if s.ServiceAccount.Name == anyAccount {
		return attribute.URISAN.Prefix(accounts)
	}
	return attribute.URISAN.Exact(accounts + s.ServiceAccount.Name)
}
