package podlint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podtemplate"
	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// accountWarnings warns of each account that a policy names as one of callers, where nothing in the folder has it, and an account of the same namespace is spelt almost
// alike. Other folders may have further accounts of a namespace: so there is no warning of other names, of two that differ in a number or a letter
// behind a dash, and where the policy names the other account too.
func accountWarnings(f *lab.Files, s lab.Surroundings, templates []podtemplate.Template, unknown []string) (out []policy.Warning) {
	all, known := podtemplate.Accounts(f.Others, templates)
	if !known {
		return nil
	}
	named := podtemplate.NamedAccounts(f.Policies)
	domains := map[string]bool{}
	for _, a := range named {
		domains[a.TrustDomain] = true
	}
	for _, a := range named {
		if a.Name == "default" || slices.Contains(unknown, a.Namespace) || !isOfMesh(a.TrustDomain, domains, s) {
			continue
		}
		isNamed := func(other string) bool {
			return slices.ContainsFunc(named, func(n podtemplate.Account) bool {
				return n.Policy == a.Policy && n.Namespace == a.Namespace && n.Name == other
			})
		}
		var others []string
		has := false
		for _, other := range all {
			has = has || other.Name == a.Name && (other.Namespace == a.Namespace || other.Namespace == "")
			if other.Namespace == a.Namespace && other.Name != "default" && !differInNumber(a.Name, other.Name) && !isNamed(other.Name) {
				others = append(others, other.Name)
			}
		}
		meant, close := spelling.Closest(a.Name, others)
		if has || !close {
			continue
		}
		text := fmt.Sprintf("nothing in the folder has the account %s of the namespace %s: did you mean %s?", a.Name, a.Namespace, meant)
		out = append(out, policy.Warning{Kind: warning.NoPeer, Place: a.Place, Policy: a.Policy, Message: text})
	}
	return out
}

// istioDomain is the trust domain that Istio takes for that of the mesh, whatever its name is.
const istioDomain = "cluster.local"

// isOfMesh reports whether a name with a trust domain is one of the mesh of the folder: it has no trust domain, the stated one, the word of Istio for it, or the
// one that all names have. All are the trust domains of the names, "" among them for none.
func isOfMesh(domain string, all map[string]bool, s lab.Surroundings) bool {
	if domain == "" || domain == istioDomain || domain == s.Options.TrustDomain.Name() {
		return true
	}
	others := maps.Clone(all)
	delete(others, "")
	delete(others, domain)
	return s.Options.TrustDomain.IsZero() && len(others) == 0
}

// differInNumber reports whether two names differ in digits alone, or in one short part between dashes, such as v1 and v2, or eu and us.
func differInNumber(a, b string) bool {
	withoutDigits := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, text)
	}
	if withoutDigits(a) == withoutDigits(b) {
		return true
	}
	first, second := strings.Split(a, "-"), strings.Split(b, "-")
	if len(first) != len(second) {
		return false
	}
	for i := range first {
		if first[i] != second[i] && (len(first[i]) > 2 || len(second[i]) > 2) {
			return false
		}
	}
	return true
}
