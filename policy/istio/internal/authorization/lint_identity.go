package authorization

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/warning"
)

// The names that Kubernetes gives a namespace and a service account.
const (
	namespaceName = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	accountName   = `[a-z0-9]([-.a-z0-9]*[a-z0-9])?`
)

var isNamespace, isAccount = regexp.MustCompile(`^` + namespaceName + `$`), regexp.MustCompile(`^` + accountName + `$`)

// accounts are the identities of service accounts, without their scheme.
var accounts = sync.OnceValues(func() (*automaton.Language, error) {
	return automaton.Regex(`[!-.0-~]+/ns/`+namespaceName+`/sa/`+accountName, automaton.Latin1)
})

// fitsAccount reports whether an expression may match the identity of a service account.
func fitsAccount(expression string) bool {
	all, err := accounts()
	if err != nil {
		return true
	}
	of, err := automaton.Regex(expression, automaton.Latin1)
	if err != nil {
		return true
	}
	var search automaton.Search
	_, answer := search.Shortest([]*automaton.Language{all, of}, nil)
	return answer != automaton.Empty
}

// lintAccount says why no service account has the namespace, the principal or the name that a policy asks
// for; the kind is "" where one may.
func lintAccount(subject, value string) (kind warning.Kind, reason string) {
	switch subject {
	case "namespaces":
		if isNamespace.MatchString(value) || fitsAccount(".*/ns/"+strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*")+"/.*") {
			return "", ""
		}
		advice := ""
		if name := namespaceWithin(value); isNamespace.MatchString(name) {
			advice = ", write " + name
		}
		return warning.NeverMatches, "no service account is of such a namespace: the name of one has small letters, digits and hyphens alone" + advice
	case "principals":
		inner := strings.TrimPrefix(value, "*")
		if inner == value {
			inner = strings.TrimSuffix(value, "*")
		}
		_, behind, found := strings.Cut(inner, "/ns/")
		parts := strings.Split(behind, "/")
		// A workload without a service account may have any other name.
		if !found || strings.Contains(inner, "*") || len(parts) > 2 && parts[1] != "sa" || fitsAccount(strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*")) {
			return "", ""
		}
		if namespace := strings.TrimSuffix(behind, "/"); inner == value && isNamespace.MatchString(namespace) {
			return warning.NeverMatches, fmt.Sprintf("a principal is a whole name, and no service account has one that ends behind its namespace: write %s/sa/ACCOUNT, or %s/* for all of the namespace", strings.TrimSuffix(value, "/"), strings.TrimSuffix(value, "/"))
		}
		return warning.NeverMatches, "no service account has such a principal: they are TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT, in small letters"
	case "serviceAccounts":
		namespace, account, stated := strings.Cut(value, "/")
		if !stated {
			namespace, account = "default", value
		}
		if !isNamespace.MatchString(namespace) || !isAccount.MatchString(account) {
			return warning.NeverMatches, "no service account has such a name: the name has small letters, digits, hyphens and dots, and its namespace has no dot"
		}
	}
	return "", ""
}

// namespaceWithin returns the namespace that an author may have meant by a longer text.
func namespaceWithin(value string) string {
	if _, behind, found := strings.Cut("/"+value, "/ns/"); found {
		value = behind
	}
	value, _, _ = strings.Cut(strings.Trim(value, "/"), "/")
	return strings.ToLower(value)
}
