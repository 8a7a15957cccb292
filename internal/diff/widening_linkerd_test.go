package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
)

// Each row widens what policies of Linkerd let in, without a change of the Server that they are
// about. The folder has no workload.
func TestWideningOfLinkerd(t *testing.T) {
	t.Parallel()
	server := func(spec string) string {
		return "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: b}}, " + spec + "}}\n"
	}
	selecting := func(selector string) string {
		return strings.Replace(server("port: 8080"), "{matchLabels: {app: b}}", selector, 1)
	}
	other := strings.NewReplacer("name: s", "name: t", "app: b", "tier: b").Replace(server("port: 8080"))
	object := func(kind, version, name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/%s, kind: %s, metadata: {name: %s, namespace: x}, spec: {%s}}\n", version, kind, name, spec)
	}
	policyFor := func(target, refs string) string {
		return object("AuthorizationPolicy", "v1alpha1", "p", "targetRef: {group: policy.linkerd.io, "+target+"}, requiredAuthenticationRefs: ["+refs+"]")
	}
	account := func(name string) string { return "{kind: ServiceAccount, name: " + name + "}" }
	const (
		toServer, toRoute = "kind: Server, name: s", "kind: HTTPRoute, name: r"
		byMeshTLS         = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m}"
	)
	meshTLS := func(identities string) string {
		return object("MeshTLSAuthentication", "v1alpha1", "m", "identities: ["+identities+"]")
	}
	route := func(path string) string {
		return object("HTTPRoute", "v1beta3", "r", "parentRefs: [{group: policy.linkerd.io, kind: Server, name: s}], rules: [{matches: [{path: {type: PathPrefix, value: "+path+"}}]}]")
	}
	legacy := func(client string) string {
		return object("ServerAuthorization", "v1beta1", "a", "server: {name: s}, client: {"+client+"}")
	}
	for name, tt := range map[string]struct{ same, old, recent string }{
		"everybody":                          {server("port: http"), policyFor(toServer, account("a")), policyFor(toServer, "")},
		"another account":                    {server("port: 8080"), policyFor(toServer, account("a")), policyFor(toServer, account("b"))},
		"a policy":                           {server("port: 8080"), "", policyFor(toServer, account("a"))},
		"every identity":                     {server("port: 8080") + policyFor(toServer, byMeshTLS), meshTLS(`"a.x.serviceaccount.identity.linkerd.cluster.local"`), meshTLS(`"*"`)},
		"a name of another mesh":             {server("port: 8080") + policyFor(toServer, byMeshTLS), meshTLS(`"a.x.serviceaccount.identity.linkerd.cluster.local"`), meshTLS(`"a.x.serviceaccount.identity.linkerd.cluster.local", vm.example`)},
		"a name of another mesh, in a grant": {server("port: 8080"), legacy("meshTLS: {identities: [a.x.serviceaccount.identity.linkerd.cluster.local]}"), legacy("meshTLS: {identities: [a.x.serviceaccount.identity.linkerd.cluster.local, a.x.serviceaccount.identity.linkerd.other.example]}")},
		"a name of another mesh, from Istio": {"", "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: x}, spec: {}}\n",
			server("port: 8080") + policyFor(toServer, byMeshTLS) + meshTLS("vm.example")},
		"callers without mTLS":                      {server("port: 8080"), legacy("meshTLS: {serviceAccounts: [{name: a}]}"), legacy("unauthenticated: true")},
		"a longer route":                            {server("port: 8080") + policyFor(toRoute, account("a")), route("/a"), route("/")},
		"HTTP becomes what is detected":             {policyFor(toServer, account("a")), server("port: 8080, proxyProtocol: HTTP/1"), server("port: 8080")},
		"HTTP becomes what is detected, of a route": {policyFor(toServer, account("a")) + route("/a"), server("port: 8080, proxyProtocol: HTTP/1"), server("port: 8080, proxyProtocol: unknown")},
		"a GRPCRoute takes the routes of HTTP away": {server("port: 8080, proxyProtocol: HTTP/2") + policyFor(toServer, account("a")) + route("/a"), "",
			strings.NewReplacer("policy.linkerd.io/v1,", "gateway.networking.k8s.io/v1,").Replace(object("GRPCRoute", "v1", "g", "parentRefs: [{group: policy.linkerd.io, kind: Server, name: s}], rules: [{}]"))},
		"HTTP becomes TLS": {policyFor(toServer, account("a")), server("port: 8080, proxyProtocol: HTTP/1"), server("port: 8080, proxyProtocol: TLS")},
		"a port of HTTP/2": {server("port: 8080, proxyProtocol: HTTP/2"), policyFor(toServer, account("a")), policyFor(toServer, "")},
		"labels without a Server": {policyFor(toServer, account("a")),
			selecting("{matchExpressions: [{key: app, operator: NotIn, values: [a]}]}"), selecting("{matchExpressions: [{key: app, operator: NotIn, values: [a, b]}]}")},
		"an empty label without a Server": {policyFor(toServer, account("a")),
			selecting("{matchExpressions: [{key: app, operator: Exists}]}"), selecting("{matchExpressions: [{key: app, operator: Exists}, {key: app, operator: NotIn, values: ['']}]}")},
		"a Server beside another": {server("port: 8080") + other, policyFor(toServer, account("a")), policyFor(toServer, "")},
		"the policy of a Server":  {"", server("port: 8080, accessPolicy: deny"), server("port: 8080, accessPolicy: all-unauthenticated")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, tt.same+tt.old, tt.same+tt.recent)
			if len(d.widenings()) == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", tt.old, tt.recent, tt.same)
			}
			if len(d.Unasked) > 0 {
				t.Errorf("not asked: %v", d.Unasked)
			}
			if back := differenceOf(t, tt.same+tt.old, tt.same+tt.old).widenings(); len(back) > 0 {
				t.Errorf("no change widens: %q", back)
			}
		})
	}
}

// Each row changes a document that is about no Server of the folder: another folder may have it.
// Without a change of it there is nothing to tell.
func TestDocumentsWithoutServer(t *testing.T) {
	t.Parallel()
	object := func(kind, version, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/%s, kind: %s, metadata: {name: p, namespace: x}, spec: {%s}}\n", version, kind, spec)
	}
	policyOf := func(target, refs string) string {
		return object("AuthorizationPolicy", "v1alpha1", "targetRef: {"+target+"}, requiredAuthenticationRefs: ["+refs+"]")
	}
	identities := func(text string) string {
		return object("MeshTLSAuthentication", "v1alpha1", "identities: ["+text+"]")
	}
	grant := func(server, client string) string {
		return object("ServerAuthorization", "v1beta1", "server: {"+server+"}, client: {"+client+"}")
	}
	nodes := func(rule string) string {
		return "---\n{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: 'n'}, spec: {nodeSelector: {}, ingress: [" + rule + "]}}\n"
	}
	const (
		server, account      = "group: policy.linkerd.io, kind: Server, name: s", "{kind: ServiceAccount, name: a}"
		mTLS                 = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: p}"
		ofA, ofAll           = `"a.x.serviceaccount.identity.linkerd.cluster.local"`, `"*"`
		present              = "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: t, namespace: x}, spec: {podSelector: {}, port: 8080}}\n"
		unauthenticated, one = "unauthenticated: true", "meshTLS: {serviceAccounts: [{name: a}]}"
	)
	for name, tt := range map[string]struct{ same, old, recent string }{
		"a policy of a Server":            {"", policyOf(server, account), policyOf(server, "")},
		"a policy of another Server":      {present, policyOf(server, account), policyOf(server, "")},
		"a policy of a namespace":         {"", policyOf("kind: Namespace, name: x", account), policyOf("kind: Namespace, name: x", "")},
		"a policy of a route":             {present, policyOf("group: policy.linkerd.io, kind: HTTPRoute, name: r", account), policyOf("group: policy.linkerd.io, kind: HTTPRoute, name: r", "")},
		"an authentication":               {"", identities(ofA), identities(ofAll)},
		"an authentication of a policy":   {policyOf(server, mTLS), identities(ofA), identities(ofAll)},
		"networks":                        {"", object("NetworkAuthentication", "v1alpha1", "networks: [{cidr: 10.0.0.1}]"), object("NetworkAuthentication", "v1alpha1", "networks: [{cidr: 0.0.0.0/0}]")},
		"a grant":                         {present, grant("name: s", one), grant("name: s", unauthenticated)},
		"a grant by labels":               {present, grant("selector: {matchLabels: {a: b}}", one), grant("selector: {matchLabels: {a: b}}", unauthenticated)},
		"a route":                         {present, httpRoute("/a"), httpRoute("/")},
		"a policy about nodes, of Cilium": {"", nodes("{fromEndpoints: [{matchLabels: {app: a}}]}"), nodes("{}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := differenceOf(t, tt.same+tt.old, tt.same+tt.recent); len(d.Failures()) == 0 {
				t.Errorf("%s", d.Verdict())
			}
			if d := differenceOf(t, tt.same+tt.old, tt.same+tt.old); len(d.widenings()) > 0 {
				t.Errorf("no change: %s", d.Verdict())
			}
		})
	}
}

func httpRoute(path string) string {
	return "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: HTTPRoute, metadata: {name: p, namespace: x}, spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: s}], rules: [{matches: [{path: {type: PathPrefix, value: " + path + "}}]}]}}\n"
}

// Of two Servers for one workload the older one counts, and no file says which that is. A Server that
// is new is not the older one.
func TestServersForOneWorkload(t *testing.T) {
	t.Parallel()
	server := func(name, label, access string) string {
		return "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: " + name + ", namespace: x}, spec: {podSelector: {matchLabels: {" + label + "}}, port: 8080, accessPolicy: " + access + "}}\n"
	}
	a, b, open := server("a", "app: b", "deny"), server("b", "tier: b", "deny"), server("c", "env: b", "audit")
	for name, tt := range map[string]struct {
		old, recent string
		unasked     int
	}{
		"both stay":            {a + b, a + b, 0},
		"one is new":           {a, a + b, 0},
		"one of them goes":     {a + open, open, 1},
		"both are new":         {"", a + b, 0},
		"one takes all pods":   {"", a + server("b", "", "deny"), 1},
		"one has another name": {a, server("d", "app: b", "deny") + b, 1},
		"one has other labels": {a + open, a + server("c", "tier: b", "audit"), 1},
		"one has another port": {a + strings.Replace(open, "8080", "9090", 1), a + open, 1},
		"one leaves the other": {a + open, a + strings.Replace(open, "8080", "9090", 1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := differenceOf(t, tt.old, tt.recent); len(d.Unasked) != tt.unasked {
				t.Errorf("not asked: %v, want %d", d.Unasked, tt.unasked)
			}
		})
	}
}

// Of two routes for the same requests the older one counts, and no file says which that is. A route with
// another name is a new one.
func TestRoutesForOneRequest(t *testing.T) {
	t.Parallel()
	named := func(name string) string { return strings.Replace(httpRoute("/a"), "name: p", "name: "+name, 1) }
	const rest = "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {}, port: 8080}}\n" +
		"---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy, metadata: {name: p, namespace: x}, spec: {targetRef: {group: policy.linkerd.io, kind: HTTPRoute, name: r}, requiredAuthenticationRefs: []}}\n"
	old := named("b") + named("r") + rest
	if reasons := differenceOf(t, old, named("a")+named("r")+rest).widenings(); len(reasons) == 0 {
		t.Error("the route b, which was the older one, has another name, and nothing widens")
	}
	if reasons := differenceOf(t, old, old).widenings(); len(reasons) > 0 {
		t.Errorf("no change widens: %q", reasons)
	}
}

// Two refusals are alike, in whatever form: no route, or a denial.
func TestNoRouteIsNoAccess(t *testing.T) {
	t.Parallel()
	effects := []policy.Effect{policy.Deny, policy.NoRoute, policy.Allow}
	if text := (Opinion{Decision: policy.Decision{Verdict: policy.Verdict{Effect: policy.NoRoute}}}).text(); text != "no route takes the request: nothing judges it" {
		t.Error(text)
	}
	for _, was := range effects {
		for _, is := range effects {
			var c Change
			c.Old.Decision.Effect, c.New.Decision.Effect = was, is
			want := OriginChanged
			switch {
			case was != policy.Allow && is == policy.Allow:
				want = Widened
			case was == policy.Allow && is != policy.Allow:
				want = Narrowed
			}
			if got := c.Kind(); got != want {
				t.Errorf("%s to %s is %s, want %s", was, is, got, want)
			}
		}
	}
}
