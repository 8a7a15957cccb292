package misreading

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

// kubernetesName is the name of a service account as a user of Kubernetes.
var kubernetesName = regexp.MustCompile(`^system:serviceaccount:([^:/*]+):([^:/*]+)$`)

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

// withStars returns the expression of a value whose stars stand for any text.
func withStars(value string) string { return strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*") }

// insideName finds a star that also stands for the rest, or the beginning, of a longer name of callers.
func insideName(subject, value string) Misreading {
	begin, ends := strings.CutSuffix(value, "*")
	rest, starts := strings.CutPrefix(value, "*")
	switch {
	case ends && !starts && endsInName(begin): // behind a star at the start, the one at the end is a character
		remedy := "write " + begin
		if parts := strings.Split(begin, "/"); subject == "principals" && (len(parts) < 2 || parts[len(parts)-2] != "sa") {
			remedy += "/*"
		}
		return Misreading{warning.PrefixInsideName, fmt.Sprintf("the star also stands for the rest of a longer name, as in %s-evil: %s", begin, remedy)}
	case starts && startsInName(rest) && !strings.Contains(rest, "*"):
		remedy := "write " + rest
		if subject == "principals" {
			remedy = wholePrincipal(rest)
		}
		return Misreading{warning.PrefixInsideName, fmt.Sprintf("the star also stands for the beginning of a longer name, as in evil-%s: %s", rest, remedy)}
	default:
		return Misreading{}
	}
}

// wholePrincipal says how to write the end of a principal so that it begins with a whole name.
func wholePrincipal(end string) string {
	switch domain, _, found := strings.Cut(end, "/ns/"); {
	case found && !strings.Contains(domain, "/"):
		return "write the whole trust domain, without the star"
	case strings.Contains(end, "/"):
		return "put a slash in front of the name"
	default:
		return "write */sa/" + end
	}
}

func ofPrincipal(value string) Misreading {
	found := insideName("principals", value)
	bare := strings.TrimPrefix(value, "spiffe://")
	switch {
	case found != (Misreading{}):
		return found
	case strings.HasPrefix(value, "*"):
	case bare != value:
		return Misreading{warning.SchemeInPrincipal, "a principal has no scheme, and Istio puts one in front: it never matches, write " + bare}
	case kubernetesName.MatchString(value):
		return never(fmt.Sprintf("this is how Kubernetes names an account: write %s, with the trust domain of the mesh", kubernetesName.ReplaceAllString(value, "cluster.local/ns/$1/sa/$2")))
	case !strings.Contains(value, "/") && !strings.HasSuffix(value, "*"):
		return never(fmt.Sprintf("a principal is a whole name: write cluster.local/ns/NAMESPACE/sa/%s, with the trust domain of the mesh", value))
	case strings.HasPrefix(value, "ns/"):
		return never("a principal begins with the trust domain of the mesh: write cluster.local/" + value)
	}
	return ofAccountPrincipal(value)
}

// ofAccountPrincipal finds a principal in a namespace that no service account has.
func ofAccountPrincipal(value string) Misreading {
	inner := withoutStar(value)
	_, behind, found := strings.Cut(inner, "/ns/")
	parts := strings.Split(behind, "/")
	// A workload without a service account may have any other name.
	if !found || strings.Contains(inner, "*") || len(parts) > 2 && parts[1] != "sa" || fitsAccount(withStars(value)) {
		return Misreading{}
	}
	if whole := strings.TrimSuffix(value, "/"); inner == value && isNamespace.MatchString(strings.TrimSuffix(behind, "/")) {
		return never(fmt.Sprintf("a principal is a whole name, and no service account has one that ends behind its namespace: write %s/sa/ACCOUNT, or %s/* for all of the namespace", whole, whole))
	}
	return never("no service account has such a principal: they are TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT, in small letters")
}

func ofNamespace(value string) Misreading {
	if found := insideName("namespaces", value); found != (Misreading{}) {
		return found
	}
	if isNamespace.MatchString(value) || fitsAccount(".*/ns/"+withStars(value)+"/.*") {
		return Misreading{}
	}
	advice := ""
	if name := namespaceWithin(value); isNamespace.MatchString(name) {
		advice = ", write " + name
	}
	return never("no service account is of such a namespace: the name of one has small letters, digits and hyphens alone" + advice)
}

// namespaceWithin returns the namespace that an author may have meant by a longer text.
func namespaceWithin(value string) string {
	if _, behind, found := strings.Cut("/"+value, "/ns/"); found {
		value = behind
	}
	value, _, _ = strings.Cut(strings.Trim(value, "/"), "/")
	return strings.ToLower(value)
}

func ofAccount(value string) Misreading {
	namespace, account, stated := strings.Cut(value, "/")
	if !stated {
		namespace, account = "default", value
	}
	if isNamespace.MatchString(namespace) && isAccount.MatchString(account) {
		return Misreading{}
	}
	return never("no service account has such a name: the name has small letters, digits, hyphens and dots, and its namespace has no dot")
}
