package diff

import (
	"fmt"
	"strings"
	"testing"
)

// What a policy of Linkerd says of a namespace, of labels, or by an authentication counts for Servers of other folders too. The
// one Server of this folder is open on both sides, so that no request to it shows the change.
func TestWideningOfOtherFolders(t *testing.T) {
	t.Parallel()
	object := func(kind, version, name, namespace, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/%s, kind: %s, metadata: {name: %s, namespace: %s}, spec: {%s}}\n", version, kind, name, namespace, spec)
	}
	policyOf := func(name, target, refs string) string {
		return object("AuthorizationPolicy", "v1alpha1", name, "shop", "targetRef: {"+target+"}, requiredAuthenticationRefs: ["+refs+"]")
	}
	grant := func(selector, client string) string {
		return object("ServerAuthorization", "v1beta1", "g", "shop", "server: {selector: "+selector+"}, client: {"+client+"}")
	}
	identities := func(text string) string {
		return object("MeshTLSAuthentication", "v1alpha1", "m", "shared", "identities: ["+text+"]")
	}
	networks := func(text string) string {
		return object("NetworkAuthentication", "v1alpha1", "n", "shared", "networks: ["+text+"]")
	}
	const (
		namespace = "kind: Namespace, name: shop"
		db        = "group: policy.linkerd.io, kind: Server, name: db"
		fe, be    = "{kind: ServiceAccount, name: fe}", "{kind: ServiceAccount, name: be}"
		byMesh    = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m, namespace: shared}"
		byNetwork = "{group: policy.linkerd.io, kind: NetworkAuthentication, name: n, namespace: shared}"
		ofFE      = "fe.shop.serviceaccount.identity.linkerd.cluster.local"
		everybody = "unauthenticated: true, networks: [{cidr: 0.0.0.0/0}]"
		one       = "meshTLS: {serviceAccounts: [{name: fe}]}"
	)
	open := object("Server", "v1beta3", "db", "shop", "podSelector: {matchLabels: {app: db}}, port: 8080") + policyOf("open", db, "")
	for name, tt := range map[string]struct {
		same, old, recent string
		widens, differs   bool
	}{
		"a policy of the namespace opens":                     {"", policyOf("p", namespace, fe), policyOf("p", namespace, ""), true, true},
		"a policy of the namespace has another caller":        {"", policyOf("p", namespace, fe), policyOf("p", namespace, be), true, true},
		"a policy of the namespace is new":                    {"", "", policyOf("p", namespace, fe), true, true},
		"a policy of the Server becomes one of the namespace": {"", policyOf("p", db, fe), policyOf("p", namespace, fe), true, true},
		"a policy of the namespace narrows":                   {"", policyOf("p", namespace, ""), policyOf("p", namespace, fe), false, true},
		"a policy of the namespace has another name":          {"", policyOf("p", namespace, fe), policyOf("q", namespace, fe), false, false},
		"a policy of the namespace goes":                      {"", policyOf("p", namespace, fe), "", false, true},
		"a policy of the Server opens":                        {"", policyOf("p", db, fe), policyOf("p", db, ""), false, false},
		"labels are granted more":                             {"", grant("{}", one), grant("{}", everybody), true, true},
		"fewer labels are asked for":                          {"", grant("{matchLabels: {a: b, c: d}}", one), grant("{matchLabels: {a: b}}", one), true, true},
		"more values are asked for":                           {"", grant("{matchExpressions: [{key: a, operator: In, values: [b]}]}", one), grant("{matchExpressions: [{key: a, operator: In, values: [b, c]}]}", one), true, true},
		"more labels are asked for":                           {"", grant("{matchLabels: {a: b}}", one), grant("{matchLabels: {a: b, c: d}}", one), false, true},
		"a shared authentication has everybody":               {policyOf("p", db, byMesh), identities(ofFE), identities("'*'"), true, true},
		"a shared authentication has another mesh":            {policyOf("p", db, byMesh), identities("'*.identity.linkerd.cluster.local'"), identities("'*.local'"), true, true},
		"a shared authentication has fewer":                   {policyOf("p", db, byMesh), identities("'*'"), identities(ofFE), false, true},
		"a shared authentication is new":                      {"", "", policyOf("p", db, byMesh) + identities(ofFE), false, false},
		"a shared network is larger":                          {policyOf("p", db, byNetwork), networks("{cidr: 10.0.0.0/8}"), networks("{cidr: 10.0.0.0/7}"), true, true},
		"a shared network loses an exception":                 {policyOf("p", db, byNetwork), networks("{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}"), networks("{cidr: 10.0.0.0/8}"), true, true},
		"a shared network is written in two parts":            {policyOf("p", db, byNetwork), networks("{cidr: 10.0.0.0/8}"), networks("{cidr: 10.0.0.0/9}, {cidr: 10.128.0.0/9}"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, recent := sideOf(t, open+tt.same+tt.old), sideOf(t, open+tt.same+tt.recent)
			for i, compare := range []func(a, b Side, to string) (*Difference, error){Diff, DiffBeside} {
				d, err := compare(old, recent, "")
				if err != nil {
					t.Fatal(err)
				}
				want := []bool{tt.widens, tt.differs}[i]
				if found := strings.Contains(strings.Join(d.Opens, "; "), "where another folder has"); found != want {
					t.Errorf("%q, want %t", d.Opens, want)
				}
			}
		})
	}
}
