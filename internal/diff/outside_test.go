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
	grantOf := func(name, selector, client string) string {
		return object("ServerAuthorization", "v1beta1", name, "shop", "server: {selector: "+selector+"}, client: {"+client+"}")
	}
	grant := func(selector, client string) string {
		return grantOf("g", selector, client)
	}
	identities := func(text string) string {
		return object("MeshTLSAuthentication", "v1alpha1", "m", "shared", "identities: ["+text+"]")
	}
	networks := func(text string) string {
		return object("NetworkAuthentication", "v1alpha1", "'n'", "shared", "networks: ["+text+"]")
	}
	const (
		namespace = "kind: Namespace, name: shop"
		db        = "group: policy.linkerd.io, kind: Server, name: db"
		fe, be    = "{kind: ServiceAccount, name: fe}", "{kind: ServiceAccount, name: be}"
		byMesh    = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m, namespace: shared}"
		byNetwork = "{group: policy.linkerd.io, kind: NetworkAuthentication, name: 'n', namespace: shared}"
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
		"the second values of two labels":                     {grant("{matchLabels: {a: b}}", one) + grantOf("h", "{matchLabels: {c: d}}", one), "", grantOf("i", "{matchExpressions: [{key: a, operator: In, values: [b, x]}, {key: c, operator: In, values: [d, 'y']}]}", one), true, true},
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

// A policy, or a grant, of a Server that the folder lacks may narrow. Another folder may move the Server here.
func TestServersOfOtherFolders(t *testing.T) {
	t.Parallel()
	object := func(kind, version, name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/%s, kind: %s, metadata: {name: %s, namespace: shop}, spec: {%s}}\n", version, kind, name, spec)
	}
	policyOf := func(name, server, refs string) string {
		return object("AuthorizationPolicy", "v1alpha1", name, "targetRef: {group: policy.linkerd.io, kind: Server, name: "+server+"}, requiredAuthenticationRefs: ["+refs+"]")
	}
	grant := func(client string) string {
		return object("ServerAuthorization", "v1beta1", "g", "server: {name: web}, client: {"+client+"}")
	}
	identities := func(text string) string {
		return object("MeshTLSAuthentication", "v1alpha1", "m", "identities: ["+text+"]")
	}
	server := func(more string) string {
		return object("Server", "v1beta3", "web", "podSelector: {matchLabels: {app: web}}, port: 8080"+more)
	}
	const (
		fe, be   = "{kind: ServiceAccount, name: fe}", "{kind: ServiceAccount, name: be}"
		byMesh   = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m}"
		nowhere  = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: 'n', namespace: other}"
		ofFE     = "fe.shop.serviceaccount.identity.linkerd.cluster.local"
		accounts = "meshTLS: {serviceAccounts: [{name: fe}, {name: be}]}"
	)
	for name, tt := range map[string]struct {
		same, old, recent string
		fails             bool
	}{
		"a policy narrows":                            {"", policyOf("p", "web", ""), policyOf("p", "web", fe), false},
		"a policy goes":                               {"", policyOf("p", "web", fe) + policyOf("q", "web", be), policyOf("q", "web", be), false},
		"a policy has another name":                   {"", policyOf("p", "web", fe), policyOf("q", "web", fe), false},
		"a policy opens":                              {"", policyOf("p", "web", fe), policyOf("p", "web", ""), true},
		"a policy is of another Server":               {"", policyOf("p", "web", fe), policyOf("p", "api", fe), true},
		"a policy refers to what is not there":        {"", policyOf("p", "web", ""), policyOf("p", "web", nowhere), true},
		"a grant narrows":                             {"", grant(accounts), grant("meshTLS: {serviceAccounts: [{name: fe}]}"), false},
		"a grant opens":                               {"", grant(accounts), grant("unauthenticated: true"), true},
		"a grant becomes a policy":                    {"", grant("meshTLS: {serviceAccounts: [{name: fe}]}, networks: [{cidr: 0.0.0.0/0}, {cidr: '::/0'}]"), policyOf("p", "web", fe), false},
		"an authentication narrows":                   {"", identities("'*'"), identities(ofFE), false},
		"an authentication opens":                     {"", identities(ofFE), identities("'*'"), true},
		"an authentication of a policy narrows":       {policyOf("p", "web", byMesh), identities("'*'"), identities(ofFE), false},
		"an authentication that nobody names is new":  {"", policyOf("p", "web", fe), policyOf("p", "web", fe) + identities(ofFE), true},
		"a policy goes with its authentication":       {policyOf("p", "web", fe) + server(""), policyOf("q", "web", byMesh) + identities(ofFE), "", false},
		"the Server comes, and is open":               {policyOf("p", "web", fe), "", server(", accessPolicy: all-unauthenticated"), true},
		"the Server comes, without its policy":        {"", policyOf("p", "web", fe), server(", accessPolicy: all-unauthenticated"), true},
		"the Server and its policy come":              {"", "", server("") + policyOf("p", "web", fe), false},
		"the Server and its policy stay":              {server(""), policyOf("p", "web", fe) + policyOf("q", "web", be), policyOf("p", "web", fe), false},
		"the Server goes, and its policy stays":       {policyOf("p", "web", fe), server(""), "", true},
		"a name of no account at another such Server": {identities("vm.example") + policyOf("p", "web", byMesh) + policyOf("r", "api", fe), "", policyOf("q", "api", byMesh), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, tt.same+tt.old, tt.same+tt.recent)
			d.DenyWidening = true
			if failures := d.Failures(); len(failures) > 0 != tt.fails {
				t.Errorf("%q, want %t", failures, tt.fails)
			}
		})
	}
}
