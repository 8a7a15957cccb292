package inspect

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

const policyKind = "MeshTrafficPermission"

// InboundPolicies is the answer about one inbound.
type InboundPolicies struct {
	// Policies has an entry for each kind of policy with a rule that applies. There is
	// one kind, so that it has one entry at most.
	Policies []InboundPolicy `json:"policies"`
	// Warnings are here where Policies has no entry for them.
	Warnings []Warning `json:"warnings,omitempty"`
}

// InboundPolicy is what the policies of one kind say about one inbound.
type InboundPolicy struct {
	Kind string `json:"kind"`
	// Rules are in the order of concatenation, the weakest policy first.
	Rules []Rule `json:"rules"`
	// Origins has the origin of each rule once, in the order of the rules.
	Origins  []Origin  `json:"origins"`
	Warnings []Warning `json:"warnings"`
}

// Rule is one item of rules of one policy, or of its legacy from.
type Rule struct {
	// Conditions belong to Option 3. From names the clients of a legacy item.
	Conditions []Match  `json:"conditions,omitzero"`
	From       *Clients `json:"from,omitempty"`
	Conf       Conf     `json:"conf"`
	// Origin is the KRI of the rule's policy, under the key that the design names. KRI is
	// the same under the key that Kuma released.
	Origin string `json:"origin"`
	KRI    string `json:"kri"`
}

// Origin names a policy.
type Origin struct {
	KRI string `json:"kri"`
}

// ProxyPolicies is the answer about a whole dataplane, where each kind of policy
// has one merged conf.
type ProxyPolicies struct {
	Policies []ProxyPolicy `json:"policies"`
	// Warnings are here where Policies has no entry for them.
	Warnings []Warning `json:"warnings,omitempty"`
}

// ProxyPolicy is what the policies of one kind say about every inbound.
type ProxyPolicy struct {
	Kind string `json:"kind"`
	// Conf has each list concatenated over all rules.
	Conf     Conf      `json:"conf"`
	Origins  []Origin  `json:"origins"`
	Warnings []Warning `json:"warnings"`
}

func (r *Resources) inboundPolicies(m *mesh, in policy.Inbound) InboundPolicies {
	sel := m.selectFor(in, r.opts)
	warnings := r.inboundWarnings(m, sel, in)
	rules, origins := m.rulesOf(sel.Policies)
	if len(rules) == 0 {
		return InboundPolicies{Policies: []InboundPolicy{}, Warnings: warnings}
	}
	return InboundPolicies{Policies: []InboundPolicy{{Kind: policyKind, Rules: rules, Origins: origins, Warnings: warnings}}}
}

func (r *Resources) proxyPolicies(m *mesh, d *dataplane.Dataplane) ProxyPolicies {
	sel := r.selectProxy(m, d)
	warnings := append(m.selectedWarnings(sel), m.ignoredWarnings(sel)...)
	rules, origins := m.rulesOf(sel.Policies)
	if len(rules) == 0 {
		return ProxyPolicies{Policies: []ProxyPolicy{}, Warnings: warnings}
	}
	var merged Conf
	for _, rule := range rules {
		merged = merged.concat(rule.Conf)
	}
	return ProxyPolicies{Policies: []ProxyPolicy{{Kind: policyKind, Conf: merged, Origins: origins, Warnings: warnings}}}
}

// selectProxy selects the policies that an answer about a whole dataplane can show. It
// ignores, with a reason, policies that apply to some inbounds only, and policies whose
// conf is an action.
func (r *Resources) selectProxy(m *mesh, d *dataplane.Dataplane) selection.Selection {
	sel := m.selectAlike(d, r.opts)
	for i, ignored := range sel.Ignored {
		section := ignored.Policy.Target.Section
		if section == "" {
			continue
		}
		alone := selection.Select([]permission.Policy{ignored.Policy}, policy.Inbound{Workload: d.Workload, Name: section}, r.opts)
		if len(alone.Policies) > 0 {
			sel.Ignored[i].Reason = fmt.Sprintf("targetRef.sectionName is %q, this is about all inbounds alike: ask for the policies of that inbound", section)
		}
	}
	sel.Policies = slices.DeleteFunc(sel.Policies, func(p permission.Policy) bool {
		merges := !slices.ContainsFunc(m.rules[p.String()], func(rule Rule) bool { return rule.Conf.Action != "" })
		if !merges {
			sel.Ignored = append(sel.Ignored, selection.Ignored{Policy: p, Reason: "it has actions, which do not merge into one conf: ask for the policies of an inbound"})
		}
		return !merges
	})
	return sel
}

// rulesOf returns the rules of the policies in their order, and their origins.
func (m *mesh) rulesOf(ps []permission.Policy) ([]Rule, []Origin) {
	rules, origins := make([]Rule, 0, len(ps)), make([]Origin, 0, len(ps))
	for _, p := range ps {
		own := m.rules[p.String()]
		rules = append(rules, own...)
		if len(own) > 0 {
			origins = append(origins, Origin{KRI: p.String()})
		}
	}
	return rules, origins
}

// problem is the body of a refusal, in the form of Kuma's API and of RFC 9457.
type problem struct {
	Type   string `json:"type"`
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func newProblem(status int, format string, a ...any) *problem {
	return &problem{Type: "/std-errors", Status: status, Title: http.StatusText(status), Detail: fmt.Sprintf(format, a...)}
}

func badRequest(format string, a ...any) *problem {
	return newProblem(http.StatusBadRequest, format, a...)
}

func notFound(format string, a ...any) *problem {
	return newProblem(http.StatusNotFound, format, a...)
}

func (p *problem) write(w http.ResponseWriter) {
	writeJSON(w, "application/problem+json", p.Status, p)
}
