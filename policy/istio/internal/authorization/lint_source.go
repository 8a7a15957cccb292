package authorization

import (
	"fmt"
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

// named reports whether only a caller with a name meets the terms.
func named(terms []term) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return slices.Contains(identities, t.subject.name) && len(t.values) > 0 })
}

// lintName says why a name of callers does not do what its author may mean; the kind is "" where it may.
// The subject is principals, namespaces or trustDomains.
func lintName(subject, value string) (kind warning.Kind, reason string) {
	begin, ends := strings.CutSuffix(value, "*")
	anyStart := strings.HasPrefix(value, "*") // the star at the end is a character then
	if ends && !anyStart && endsInName(begin) {
		parts := strings.Split(begin, "/")
		remedy := fmt.Sprintf("write %s", begin)
		if subject == "principals" && (len(parts) < 2 || parts[len(parts)-2] != "sa") {
			remedy = fmt.Sprintf("write %s/*", begin)
		}
		return warning.PrefixInsideName, fmt.Sprintf("the star also stands for the rest of a longer name, as in %s-evil: %s", begin, remedy)
	}
	if subject != "principals" || anyStart {
		return "", ""
	}
	switch bare := strings.TrimPrefix(value, "spiffe://"); {
	case bare != value:
		return warning.SchemeInPrincipal, "a principal has no scheme, and Istio puts one in front: it never matches, write " + bare
	case !strings.Contains(value, "/") && !ends:
		return warning.NeverMatches, fmt.Sprintf("a principal is a whole name: write cluster.local/ns/NAMESPACE/sa/%s, with the trust domain of the mesh", value)
	case strings.HasPrefix(value, "ns/"):
		return warning.NeverMatches, "a principal begins with the trust domain of the mesh: write cluster.local/" + value
	default:
		return "", ""
	}
}

// lintSplit warns of the first rule of an ALLOW that is for requests of everybody, beside one that is
// for all requests of some callers: their author may have meant one rule.
func (p Policy) lintSplit() []policy.Warning {
	if p.resource.Spec.Action != actionAllow {
		return nil
	}
	ofCallers := slices.IndexFunc(p.rules, func(r rule) bool { return len(r.from) > 0 && len(r.to) == 0 && len(r.when) == 0 })
	ofRequests := slices.IndexFunc(p.rules, func(r rule) bool { return len(r.from) == 0 && len(r.to) > 0 && len(r.when) == 0 })
	if ofCallers < 0 || ofRequests < 0 {
		return nil
	}
	return []policy.Warning{p.warn(warning.SplitRule, p.rules[ofRequests].field,
		"the rule lets in every caller, and %s lets in every request of its callers: write from and to in one item if both have to hold", p.rules[ofCallers].field)}
}
