package authorization_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/linkerd/internal/authorization"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A host of a route of a Server is told: older proxies compare its case.
func TestDrafts(t *testing.T) {
	t.Parallel()
	server := head("policy.linkerd.io/v1beta3", "Server", "web", "shop") + "{podSelector: {}, port: 8080}}\n"
	route := func(name, more string) string {
		return head("policy.linkerd.io/v1beta3", "HTTPRoute", "r", "shop") + "{parentRefs: [{group: policy.linkerd.io, kind: Server, name: " + name + "}], rules: [{}]" + more + "}}\n"
	}
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"a host":                   {server + route("web", ", hostnames: [shop.example]"), true},
		"no host":                  {server + route("web", ""), false},
		"a host of another Server": {server + route("admin", ", hostnames: [shop.example]"), false},
	} {
		docs, err := manifest.Parse("p.yaml", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		set, err := authorization.Parse(docs)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(authorization.Drafts(set), "\n")
		if strings.Contains(got, `"shop.example"`) != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A Server that does not say HTTP is told, where somebody whom it lets in may pass by its routes: the proxy detects HTTP by the first packet.
func TestDraftsOfDetection(t *testing.T) {
	t.Parallel()
	server := func(more string) string {
		return head("policy.linkerd.io/v1beta3", "Server", "web", "shop") + "{podSelector: {}, port: 8080" + more + "}}\n"
	}
	route := func(match string) string {
		return head("policy.linkerd.io/v1beta3", "HTTPRoute", "r", "shop") + "{parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], rules: [" + match + "]}}\n"
	}
	allow := func(target string) string {
		return head("policy.linkerd.io/v1alpha1", "AuthorizationPolicy", "p", "shop") + "{targetRef: {" + target + "}, requiredAuthenticationRefs: [{kind: ServiceAccount, name: a}]}}\n"
	}
	grant := head("policy.linkerd.io/v1beta1", "ServerAuthorization", "g", "shop") + "{server: {name: web}, client: {unauthenticated: true}}}\n"
	const public, toServer = "{matches: [{path: {value: /public}}]}", "group: policy.linkerd.io, kind: Server, name: web"
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"a policy of the Server":      {server("") + route(public) + allow(toServer), true},
		"a policy of the namespace":   {server(", proxyProtocol: unknown") + route(public) + allow("kind: Namespace, name: shop"), true},
		"an access policy":            {server(", accessPolicy: all-authenticated") + route(public), true},
		"a grant":                     {server("") + route(public) + grant, true},
		"a Server of HTTP":            {server(", proxyProtocol: HTTP/1") + route(public) + allow(toServer), false},
		"a policy of the route alone": {server(", accessPolicy: deny") + route(public) + allow("group: policy.linkerd.io, kind: HTTPRoute, name: r"), false},
		"a route of every path":       {server("") + route("{}") + allow(toServer), false},
		"no route":                    {server("") + allow(toServer), false},
	} {
		docs, err := manifest.Parse("p.yaml", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		set, err := authorization.Parse(docs)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(authorization.Drafts(set), "\n"); strings.Contains(got, "does not say HTTP") != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A name that the schema of a ServerAuthorization refuses is told: a cluster does not take the object.
func TestDraftsOfGrants(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"{server: {name: web}, client: {unauthenticated: true}}":                                               "",
		"{server: {name: web.http}, client: {unauthenticated: true}}":                                          "spec.server.name",
		"{server: {name: web}, client: {meshTLS: {serviceAccounts: [{name: a}, {name: a.b}]}}}":                "spec.client.meshTLS.serviceAccounts[1].name",
		"{server: {name: web}, client: {meshTLS: {identities: ['*', '*.a.b', a.b, 'spiffe://td/a']}}}":         "spec.client.meshTLS.identities[3]",
		"{server: {name: web}, client: {meshTLS: {identities: ['*', '*.a.b', a-1.b], serviceAccounts: []}}}":   "",
		"{server: {selector: {matchLabels: {a: b.c}}}, client: {meshTLS: {serviceAccounts: [{name: a-b-c}]}}}": "",
	} {
		docs, err := manifest.Parse("p.yaml", []byte(head("policy.linkerd.io/v1beta1", "ServerAuthorization", "g.x", "shop")+spec+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		set, err := authorization.Parse(docs)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(authorization.Drafts(set), "\n"); (got != "") != (want != "") || !strings.Contains(got, want+": the schema") && want != "" {
			t.Errorf("%s: %q", spec, got)
		}
	}
}
