package authorization

import (
	"slices"
	"strings"
)

// LocalDomain stands for the mesh's own trust domain and its aliases, whatever their names.
const LocalDomain = "cluster.local"

// Expand returns the principals that a principal of a policy stands for. A whole principal, such
// as td/ns/a/sa/b, in the mesh's trust domain or in an alias of it, stands for the same principal
// in all these domains. Every other principal stands for itself.
func (o Options) Expand(principal string) []string {
	domain, rest, _ := strings.Cut(principal, "/")
	own := append([]string{o.TrustDomain}, o.TrustDomainAliases...)
	alike := func(of string) bool {
		return of == domain || of == "*" || covers(of, domain) || covers(domain, of)
	}
	if strings.Count(rest, "/") != 3 || domain == "*" || domain != LocalDomain && !slices.ContainsFunc(own, alike) {
		return []string{principal}
	}
	var out []string
	for _, of := range own {
		expanded := of + "/" + rest
		if tail, ok := strings.CutPrefix(domain, "*"); ok && strings.HasSuffix(of, tail) {
			expanded = principal
		}
		if !slices.Contains(out, expanded) {
			out = append(out, expanded)
		}
	}
	return out
}

// domains returns the trust domains that one of a policy stands for: all of the mesh for one of
// them, and itself for every other one.
func (o Options) domains(domain string) []string {
	own := append([]string{o.TrustDomain}, o.TrustDomainAliases...)
	if slices.Contains(own, domain) {
		return own
	}
	return []string{domain}
}

// covers reports whether a trust domain with a star at one end covers another.
func covers(pattern, domain string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(domain, prefix) {
		return true
	}
	suffix, ok := strings.CutPrefix(pattern, "*")
	return ok && strings.HasSuffix(domain, suffix)
}
