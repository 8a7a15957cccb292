package podtemplate

import (
	"regexp"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Account is a service account that a policy names as one of callers, or that a folder has.
type Account struct {
	// Namespace is "" where an object names none, and may be applied to any.
	Namespace, Name string
	// TrustDomain is that of the name in a policy, "" where it states none.
	TrustDomain string
	// Place is "file:line: field" of the name, and Policy the policy that has it.
	Place, Policy string
}

var (
	// spiffeAccount is the SPIFFE ID of an account, as Istio, Kuma and others write it.
	spiffeAccount = regexp.MustCompile(`^(?:spiffe://)?([^/*:]+)/ns/([^/*]+)/sa/([^/*]+)$`)
	// linkerdAccount is the name of an account in Linkerd.
	linkerdAccount = regexp.MustCompile(`^([^.*]+)\.([^.*]+)\.serviceaccount\.identity\.`)
)

// ciliumAccount and CiliumNamespace are the labels of an endpoint that Cilium makes of the account and of the namespace of a pod, see pkg/k8s/apis/cilium.io/const.go.
const (
	ciliumAccount   = "io.cilium.k8s.policy.serviceaccount"
	CiliumNamespace = "io.kubernetes.pod.namespace"
)

// NamedAccounts returns the accounts that policies name as a whole, each with its place: by an identity, by a name beside a namespace, or by a label of Cilium.
func NamedAccounts(policies []manifest.Document) (out []Account) {
	for _, doc := range policies {
		d := read(doc)
		own := d.ownNamespace()
		d.eachValue(func(field, key string, value any) {
			add := func(field, namespace, name, trustDomain string) {
				if name != "" && !strings.Contains(name, "*") {
					out = append(out, Account{namespace, name, trustDomain, doc.Place(field), d.String()})
				}
			}
			isList := strings.HasSuffix(strings.ToLower(key), "serviceaccounts") // and notServiceAccounts
			switch value := value.(type) {
			case string:
				if found := spiffeAccount.FindStringSubmatch(value); found != nil {
					add(field, found[2], found[3], found[1])
				} else if found := linkerdAccount.FindStringSubmatch(value); found != nil {
					add(field, found[2], found[1], "")
				} else if isList {
					namespace, name, both := strings.Cut(value, "/")
					if !both {
						namespace, name = own, value
					}
					add(field, namespace, name, "")
				}
			case map[string]any:
				text := func(key, otherwise string) string {
					if text, ok := value[key].(string); ok {
						return text
					}
					return otherwise
				}
				if value["kind"] == "ServiceAccount" || isList || key == "serviceAccount" { // the last one is of Gateway API
					add(fieldpath.Child(field, "name"), text("namespace", own), text("name", ""), "")
				}
				for _, prefix := range []string{"", "k8s:"} {
					if account := text(prefix+ciliumAccount, ""); key == "matchLabels" {
						add(fieldpath.Child(field, prefix+ciliumAccount), text("k8s:"+CiliumNamespace, text(CiliumNamespace, own)), account, "")
					}
				}
			}
		}, "spec")
	}
	return out
}

// Accounts returns the accounts that documents have: those of their workloads, and the objects themselves. It returns false where a kustomization may give them other names
// or another namespace.
func Accounts(docs []manifest.Document, workloads []Template) (out []Account, known bool) {
	for _, t := range workloads {
		at := Account{Namespace: t.Namespace, Name: t.Account}
		if !t.Placed {
			at.Namespace = ""
		}
		out = append(out, at)
	}
	for _, doc := range docs {
		d := read(doc)
		if d.isKustomization() && d.has("namespace", "namePrefix", "nameSuffix") {
			return nil, false
		}
		if d.isOfCore("ServiceAccount") {
			out = append(out, Account{Namespace: d.written(), Name: d.Name})
		}
	}
	return out, true
}
