package podtemplate

import (
	"regexp"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// PeerNamespace is a namespace by which a policy names callers.
type PeerNamespace struct {
	Name string
	// TrustDomain is that of the name in a policy, "" where it states none.
	TrustDomain string
	// Place is "file:line: field" of the name, and Policy the policy that has it.
	Place, Policy string
}

// spiffeNamespace is the beginning of the SPIFFE IDs of a namespace, as Kuma writes it in a Prefix, and Istio with a star.
var spiffeNamespace = regexp.MustCompile(`^(?:spiffe://)?([^/*:]+)/ns/([^/*]+)(?:/(?:sa/)?\*?)?$`)

// PeerNamespaces returns the namespaces by which policies name callers: those of accounts, of the beginning of identities, of the lists of Istio, and of
// the labels of Cilium.
func PeerNamespaces(policies []manifest.Document) (out []PeerNamespace) {
	for _, a := range NamedAccounts(policies) {
		if a.Namespace != "" {
			out = append(out, PeerNamespace{a.Namespace, a.TrustDomain, a.Place, a.Policy})
		}
	}
	for _, doc := range policies {
		d := read(doc)
		d.eachValue(func(field, key string, value any) {
			text, isText := value.(string)
			found := spiffeNamespace.FindStringSubmatch(text)
			switch {
			case !isText:
			case found != nil:
				out = append(out, PeerNamespace{found[2], found[1], doc.Place(field), d.String()})
			case isListOfIstio(d, key) && !strings.Contains(text, "*"), isLabelOfPeers(d, field, key):
				out = append(out, PeerNamespace{text, "", doc.Place(field), d.String()})
			}
		}, "spec")
	}
	return out
}

// isListOfIstio reports whether a key of a policy is that of a list of namespaces.
func isListOfIstio(d document, key string) bool {
	return d.Group == "security.istio.io" && (key == "namespaces" || key == "notNamespaces")
}

// isLabelOfPeers reports whether a field of a policy is the label by which Cilium names the namespace of callers or callees.
func isLabelOfPeers(d document, field, key string) bool {
	_, bare := cutSource(key)
	return d.Group == "cilium.io" && bare == CiliumNamespace && (strings.Contains(field, "fromEndpoints") || strings.Contains(field, "toEndpoints"))
}
