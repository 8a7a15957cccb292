package manifestdiff

import (
	"slices"
	"strings"
)

// negations are words by which policies let in all callers but some.
var negations = []string{anybody, "NotIn", "DoesNotExist", "notPrincipals", "notNamespaces", "notServiceAccounts", "notRequestPrincipals"}

// mayLetIn reports whether policies may let an account of a namespace in; "" is no namespace: its name stands in what they say of
// callers, or they say it of many, by a pattern, a prefix or a negation.
func (c *comparison) mayLetIn(namespace, account string) bool {
	if slices.ContainsFunc(negations, c.peers.has) {
		return true
	}
	for word := range c.peers {
		_, behind, inNamespace := strings.Cut(word, "/ns/")
		_, path, isID := strings.Cut(word, "spiffe://")
		switch {
		case word == "" || word == "*" || strings.HasPrefix(word, "/"):
			// A part of another word.
		case word == namespace, strings.Contains(word, "*"), strings.Contains(word, account):
			return true
		case inNamespace && strings.HasPrefix(namespace+"/sa/"+account, behind):
			return true
		case isID && (!strings.Contains(path, "/") || strings.HasSuffix(path, "/")) && !inNamespace:
			return true
		}
	}
	return false
}
