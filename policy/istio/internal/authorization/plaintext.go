package authorization

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// identities are the subjects that ask for the name of the caller.
var identities = []string{"principals", "namespaces", "serviceAccounts", "trustDomains"}

// lintNegative warns of an ALLOW that only says who does not call: of the negative fields of each
// source that asks for no name, and of those of the conditions.
func (p Policy) lintNegative(r rule) (out []policy.Warning) {
	if p.resource.Spec.Action != actionAllow || named(r.when) {
		return nil
	}
	warn := func(terms []term) {
		for _, t := range terms {
			if slices.Contains(identities, t.subject.name) && len(t.not) > 0 {
				add := `principals: ["*"]`
				if t.subject.name == "serviceAccounts" || len(r.from) == 0 {
					// Service accounts cannot stand beside principals in a source.
					add = `when: [{key: source.principal, values: ["*"]}]`
				}
				out = append(out, p.warn(warning.NegativeWithoutIdentity, t.notField, "a caller in plaintext has no name and is none of them: add %s to let in only callers with a certificate", add))
				return
			}
		}
	}
	nameless := len(r.from) == 0
	for _, terms := range r.from {
		if !named(terms) {
			nameless = true
			warn(terms)
		}
	}
	if nameless {
		warn(r.when)
	}
	return out
}

// LintPlaintext warns of the first name of callers that a DENY asks for, where an inbound of it takes plaintext and other policies do not demand a name:
// a denied caller leaves its certificate out, and gets in.
func LintPlaintext(ps []Policy, inbounds []policy.Inbound, opts Options, takesPlaintext func(policy.Inbound) bool) (out []policy.Warning) {
	for _, p := range ps {
		if p.resource.Spec.Action != actionDeny || p.observes {
			continue
		}
		for _, r := range p.rules {
			field := r.name()
			open := func(in policy.Inbound) bool {
				return p.missReason(in.Workload, opts) == nil && r.reaches(in.Port) && takesPlaintext(in) && letsNamelessIn(ps, in, opts)
			}
			if i := slices.IndexFunc(inbounds, open); field != "" && i >= 0 {
				out = append(out, p.warn(warning.DenyInPlaintext, field, "inbound %s takes plaintext, and a caller without a certificate has no name: it is not denied. Demand mTLS (STRICT), or a name in an ALLOW", inbounds[i]))
			}
		}
	}
	return out
}

// name returns the first field of the rule that asks for a name of callers, "" for none.
func (r rule) name() string {
	for t := range r.terms {
		if slices.Contains(identities, t.subject.name) && len(t.values) > 0 {
			return t.field
		}
	}
	return ""
}

// letsNamelessIn reports whether a caller without a name may get in: no ALLOW applies, or one has a rule that demands none.
func letsNamelessIn(ps []Policy, in policy.Inbound, opts Options) bool {
	applies := false
	for _, p := range ps {
		if p.resource.Spec.Action != actionAllow || p.observes || p.missReason(in.Workload, opts) != nil {
			continue
		}
		applies = true
		nameless := func(r rule) bool {
			return r.reaches(in.Port) && !named(r.when) && (len(r.from) == 0 || slices.ContainsFunc(r.from, func(terms []term) bool { return !named(terms) }))
		}
		if slices.ContainsFunc(p.rules, nameless) {
			return true
		}
	}
	return !applies
}

// AsksForTokens reports whether a policy of an inbound asks for a token, or an authorizer that may do so.
func AsksForTokens(ps []Policy, in policy.Inbound, opts Options) bool {
	return slices.ContainsFunc(ps, func(p Policy) bool {
		if p.observes || p.missReason(in.Workload, opts) != nil {
			return false
		}
		if p.resource.Spec.Action == actionCustom {
			return true
		}
		for t := range p.terms {
			if t.subject.name == "requestPrincipals" || strings.HasPrefix(t.subject.name, "request.auth.") {
				return true
			}
		}
		return false
	})
}

// named reports whether only a caller with a name meets the terms.
func named(terms []term) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return slices.Contains(identities, t.subject.name) && len(t.values) > 0 })
}
