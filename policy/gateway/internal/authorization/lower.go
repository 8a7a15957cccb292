package authorization

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Lower returns the decision program of the inbound of the selection.
// Without a policy the program has no gate. Otherwise it has one L4 gate of named
// rules, on an inbound of any protocol, with one rule for each rule of each policy. A
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

// Selection is what applies to one inbound, and what does not.
type Selection struct {
	// Policies are in the order of their names.
	Policies []Policy
	// Ignored writes a line for each policy that does not apply.
	Ignored []capability.Reason
}

// Select returns the policies that apply to the workload of the inbound. A policy
// applies to all inbounds of a workload or to none. Ignored keeps the order of ps;
// nothing else of the result depends on it.
func Select(ps []Policy, in policy.Inbound) Selection {
	selected, ignored := policylist.Select(ps, func(p Policy) capability.Reason { return p.missReason(in.Workload) })
	return Selection{selected, ignored}
}

// missReason says why the policy does not apply to the workload, nil where it does.
func (p Policy) missReason(w policy.Workload) capability.Reason {
	return capability.FirstMiss(p.misses(w))
}

// misses are the requirements that the workload does not meet, in the order in which they are
// checked.
func (p Policy) misses(w policy.Workload) iter.Seq[capability.Miss] {
	return func(yield func(capability.Miss) bool) {
		if p.selector == nil {
			yield(capability.Miss{Reason: capability.ReasonOf("it has no target")})
			return
		}
		if asked, there := p.resource.Metadata.Namespace, cmp.Or(w.Namespace, defaultNamespace); asked != there && !yield(capability.PlaceMiss("namespace", asked, there)) {
			return
		}
		requirements, _ := p.selector.Requirements()
		for _, r := range requirements {
			if r.Matches(labels.Set(w.Labels)) {
				continue
			}
			found, ok := w.Labels[r.Key()]
			value := found
			if r.Operator() == selection.Equals {
				value = r.ValuesUnsorted()[0]
			}
			if !yield(capability.LabelMiss(func() string { return phrase(r) }, value, found, ok)) {
				return
			}
		}
	}
}

// phrase names a requirement in a reason.
func phrase(r labels.Requirement) string {
	values := r.ValuesUnsorted()
	slices.Sort(values)
	switch r.Operator() {
	case selection.Exists:
		return fmt.Sprintf("any label %q", r.Key())
	case selection.DoesNotExist:
		return fmt.Sprintf("no label %q", r.Key())
	case selection.NotIn:
		return fmt.Sprintf("a label %q that is none of %q", r.Key(), values)
	case selection.In:
		return fmt.Sprintf("a label %q that is one of %q", r.Key(), values)
	default:
		return fmt.Sprintf("the label %q with value %q", r.Key(), values[0])
	}
}

// InheritedPolicies returns the policies that select the pod, in the order of their
// names, as gwctl lists them (GEP-3779, "Enhanced Discoverability").
func InheritedPolicies(ps []Policy, pod policy.Workload) []capability.Inherited {
	var out []capability.Inherited
	for _, p := range Select(ps, policy.Inbound{Workload: pod}).Policies {
		target := p.resource.Spec.TargetRefs[0]
		out = append(out, capability.Inherited{
			Type: p.resource.Kind, Name: p.resource.Metadata.Name,
			TargetKind: target.Kind, Target: "Selector=" + target.Selector.expression(),
		})
	}
	return out
}
