package authorization

import (
	"slices"

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

// named reports whether only a caller with a name meets the terms.
func named(terms []term) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return slices.Contains(identities, t.subject.name) && len(t.values) > 0 })
}
