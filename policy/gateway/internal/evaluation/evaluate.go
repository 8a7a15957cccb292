// Package evaluation judges one request straight from the text of the policies.
//
// It is the second opinion on package authorization and on [policy.Decide]. It shares the
// parsed text with them and nothing else: it selects and matches by itself, and calls no
// function of theirs. A test in internal/architecture holds that.
package evaluation

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
)

// ForInbound selects the policies of the inbound, and returns a function that judges requests.
func ForInbound(ps []authorization.Policy, in policy.Inbound, opts authorization.Options) func(policy.Request) policy.Decision {
	var selected []authorization.Policy
	for _, p := range ps {
		if targets(p.Resource(), in.Workload) {
			selected = append(selected, p)
		}
	}
	return func(r policy.Request) policy.Decision {
		d, _ := judge(selected, in, opts, r)
		return d
	}
}

// Locate returns "file:line" of the rule that lets the request in, "" where there is none.
func Locate(ps []authorization.Policy, in policy.Inbound, opts authorization.Options, r policy.Request) string {
	_, place := judge(ps, in, opts, r)
	return place
}

func judge(ps []authorization.Policy, in policy.Inbound, opts authorization.Options, r policy.Request) (policy.Decision, string) {
	protected, by, place := false, "", ""
	for _, p := range ps {
		text := p.Resource()
		if !targets(text, in.Workload) {
			continue
		}
		protected = true
		if text.Spec.Rules == nil {
			continue
		}
		for i, rule := range *text.Spec.Rules {
			if !reaches(rule, in.Port) || !admits(rule, text.Metadata.Namespace, opts, r) {
				continue
			}
			if name := fmt.Sprintf("%s/%s/%03d", text.Metadata.Namespace, text.Metadata.Name, i); by == "" || name < by {
				by, place = name, p.Place(fmt.Sprintf("spec.rules[%d]", i))
			}
		}
	}
	if protected && by == "" {
		return policy.Decision{Layer: policy.L4}, ""
	}
	return policy.Decision{Layer: policy.L4, Verdict: policy.Verdict{Effect: policy.Allow, Origin: by}}, place
}

func targets(text authorization.AuthorizationPolicy, w policy.Workload) bool {
	namespace := w.Namespace
	if namespace == "" {
		namespace = "default"
	}
	if text.Metadata.Namespace != namespace || len(text.Spec.TargetRefs) == 0 {
		return false
	}
	selector := text.Spec.TargetRefs[0].Selector
	for key, want := range selector.MatchLabels {
		if value, ok := w.Labels[key]; !ok || value != want {
			return false
		}
	}
	for _, e := range selector.MatchExpressions {
		value, exists := w.Labels[e.Key]
		listed := false
		for _, v := range e.Values {
			listed = listed || exists && v == value
		}
		if holds := map[string]bool{"In": listed, "NotIn": !listed, "Exists": exists, "DoesNotExist": !exists}[e.Operator]; !holds {
			return false
		}
	}
	return true
}

func reaches(rule authorization.Rule, port uint16) bool {
	if rule.NetworkAttributes == nil || rule.NetworkAttributes.Ports == nil {
		return true
	}
	for _, p := range *rule.NetworkAttributes.Ports {
		if p == port {
			return true
		}
	}
	return false
}

func admits(rule authorization.Rule, namespace string, opts authorization.Options, r policy.Request) bool {
	if rule.Sources == nil {
		return true
	}
	for _, s := range *rule.Sources {
		for _, names := range [][]string{r.URIs, r.DNS} {
			for _, name := range names {
				if s.Type == "SPIFFE" && *s.SPIFFE == name || s.Type == "ServiceAccount" && isAccount(*s.ServiceAccount, namespace, opts, name) {
					return true
				}
			}
		}
	}
	return false
}

// isAccount splits the URI at its slashes: spiffe, nothing, trust domain, ns,
// namespace, sa, account.
func isAccount(a authorization.ServiceAccount, namespace string, opts authorization.Options, uri string) bool {
	parts := strings.SplitN(uri, "/", 7)
	if len(parts) < 7 || parts[0] != "spiffe:" || parts[1] != "" || parts[3] != "ns" || parts[5] != "sa" {
		return false
	}
	if a.Namespace != nil {
		namespace = *a.Namespace
	}
	own := "trust-domain.mesh"
	if !opts.TrustDomain.IsZero() {
		own = opts.TrustDomain.Name()
	}
	return parts[2] == own && parts[4] == namespace && (a.Name == "*" || a.Name == parts[6])
}
