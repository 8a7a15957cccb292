package authorization_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/linkerd/internal/authorization"
)

// TestLint holds the warnings by their kinds and fields. Each set has a Server for web.
func TestLint(t *testing.T) {
	t.Parallel()
	const (
		mine    = "policy.linkerd.io/v1alpha1"
		gateway = "spec.identities[0]"
	)
	server := func(more string) string {
		return head("policy.linkerd.io/v1beta3", "Server", "web", "default") + "{podSelector: {matchLabels: {app: web}}, port: 8080" + more + "}}\n"
	}
	route := head("policy.linkerd.io/v1beta3", "HTTPRoute", "a", "default") + "{parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], rules: [{matches: [{path: {value: /a}}]}]}}\n"
	of := func(match string) string { return strings.Replace(route, "path: {value: /a}", match, 1) }
	byHeader := func(kind string) string {
		return of("headers: [{type: " + kind + ", name: x-a, value: a+}]")
	}
	allow := func(kind, name, refs string) string {
		return head(mine, "AuthorizationPolicy", "p", "default") + "{targetRef: {group: policy.linkerd.io, kind: " + kind + ", name: " + name + "}, requiredAuthenticationRefs: [" + refs + "]}}\n"
	}
	named := func(identity string) string {
		return server("") + allow("Server", "web", "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m}") + head(mine, "MeshTLSAuthentication", "m", "default") + "{identities: ['" + identity + "']}}\n"
	}
	all := func(path string, method ...string) string {
		text := "path: {" + path + "}"
		for _, m := range method {
			text += ", method: " + m
		}
		return head("policy.linkerd.io/v1beta3", "HTTPRoute", "all", "default") + "{parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], rules: [{matches: [{" + text + "}]}]}}\n"
	}
	const (
		account = "{kind: ServiceAccount, name: x}"
		address = "{group: policy.linkerd.io, kind: NetworkAuthentication, name: 'n'}"
		nodes   = "---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: NetworkAuthentication, metadata: {name: 'n'}, spec: {networks: [{cidr: 10.0.0.0/24}]}}\n"
	)
	everybody := strings.Replace(nodes, "10.0.0.0/24", "0.0.0.0/0}, {cidr: '::/0'", 1)
	open := strings.Replace(allow("HTTPRoute", "all", address), "name: p,", "name: q,", 1)
	on := func(protocol policy.Protocol) []policy.Inbound {
		return []policy.Inbound{{Workload: policy.Workload{Name: "web", Labels: map[string]string{"app": "web"}}, Port: 8080, Protocol: protocol}}
	}
	for _, tt := range []struct {
		name, objects string
		protocol      policy.Protocol
		want          []string
	}{
		{"a route for an account", server("") + route + allow("HTTPRoute", "a", account), policy.HTTP, []string{"probes-refused"}},
		{"a route beside a GRPCRoute", server("") + route + allow("HTTPRoute", "a", account) + head("gateway.networking.k8s.io/v1", "GRPCRoute", "g", "default") + "{parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], rules: [{}]}}\n", policy.HTTP, []string{"nothing-opens", "route-not-served spec.parentRefs", "route-not-served spec.parentRefs"}},
		{"a route of a Service", server(", accessPolicy: all-unauthenticated") + strings.Replace(route, "group: policy.linkerd.io, kind: Server,", "group: core, kind: Service,", 1) + allow("HTTPRoute", "a", account), policy.HTTP, []string{"dangling-reference spec.targetRef"}},
		{"a route for an address", server("") + route + allow("HTTPRoute", "a", address) + nodes, policy.HTTP, nil},
		{"a route for an account at an address", server("") + route + allow("HTTPRoute", "a", account+", "+address) + nodes, policy.HTTP, []string{"probes-refused"}},
		{"a route of a Server for everybody", server(", accessPolicy: all-unauthenticated") + route, policy.HTTP, nil},
		{"a route of a Server for accounts", server(", accessPolicy: all-authenticated") + route, policy.HTTP, []string{"probes-refused"}},
		{"no route", server("") + allow("Server", "web", account), policy.HTTP, nil},
		{"a route on tcp", server(", accessPolicy: all-authenticated") + route, policy.TCP, []string{"http-on-tcp spec.port"}},
		{"HTTP/1 on tcp", server(", accessPolicy: all-authenticated, proxyProtocol: HTTP/1"), policy.TCP, []string{"http-on-tcp spec.proxyProtocol"}},
		{"opaque on tcp", server(", accessPolicy: all-authenticated, proxyProtocol: opaque"), policy.TCP, nil},
		{"the name of the gateway", named("linkerd-gateway.linkerd-multicluster.serviceaccount.identity.linkerd.cluster.local"), policy.HTTP, []string{"gateway-identity " + gateway}},
		{"the account of the gateway", server("") + allow("Server", "web", "{kind: ServiceAccount, name: linkerd-gateway, namespace: linkerd-multicluster}"), policy.HTTP, []string{"gateway-identity spec.requiredAuthenticationRefs[0]"}},
		{"an account of the gateway's name elsewhere", server("") + allow("Server", "web", "{kind: ServiceAccount, name: linkerd-gateway}"), policy.HTTP, nil},
		{"a grant for the gateway", server("") + head("policy.linkerd.io/v1beta1", "ServerAuthorization", "g", "default") + "{server: {name: web}, client: {meshTLS: {serviceAccounts: [{name: linkerd-gateway, namespace: linkerd-multicluster}]}}}}\n", policy.HTTP,
			[]string{"gateway-identity spec.client.meshTLS.serviceAccounts[0]"}},
		{"a path beside a route for everybody", server("") + route + all("value: /") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, []string{"other-spelling spec.rules[0].matches[0].path"}},
		{"a path beside a prefix for everybody", server("") + route + all("value: /b") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, nil},
		{"a path beside a prefix in front of it for everybody", server("") + of("path: {value: /b/a}") + all("value: /b/") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, []string{"other-spelling spec.rules[0].matches[0].path"}},
		{"a second path beside a prefix for everybody", server("") + of("path: {value: /c}}, {path: {value: /b/a}") + all("value: /b") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, []string{"other-spelling spec.rules[0].matches[1].path"}},
		{"a path of a longer segment beside a prefix for everybody", server("") + of("path: {value: /ba}") + all("value: /b") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, nil},
		{"an exact path beside it as a prefix for everybody", server("") + of("path: {type: Exact, value: /b}") + all("value: /b") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, []string{"other-spelling spec.rules[0].matches[0].path", "routes-tie"}},
		{"a path and its method beside a prefix of this method for everybody", server("") + of("path: {value: /b/a}, method: GET") + all("value: /b", "GET") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, []string{"other-spelling spec.rules[0].matches[0].path"}},
		{"a path and its method beside a prefix of another one for everybody", server("") + of("path: {value: /b/a}, method: GET") + all("value: /b", "POST") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, nil},
		{"an exact path for everybody", server("") + route + all("type: Exact, value: /b") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, nil},
		{"a path for everybody beside a route for accounts", server("") + route + all("value: /") + strings.Replace(open, "name: all}, r", "name: a}, r", 1) + strings.Replace(allow("HTTPRoute", "all", account), "name: p,", "name: r,", 1) + everybody, policy.HTTP, nil},
		{"a path for probes beside a route for an account", server("") + route + all("value: /") + allow("HTTPRoute", "a", address) + strings.NewReplacer("name: p,", "name: q,").Replace(allow("HTTPRoute", "all", account)) + nodes, policy.HTTP, nil},
		{"an expression of a header beside a route for everybody", server("") + byHeader("RegularExpression") + all("value: /") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, []string{"other-spelling spec.rules[0].matches[0].headers[0]"}},
		{"a value of a header beside a route for everybody", server("") + byHeader("Exact") + all("value: /") + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, nil},
		{"a path for an account beside a route for another one", server("") + route + all("value: /") + allow("HTTPRoute", "a", account) + strings.NewReplacer("name: p,", "name: q,", "name: x}", "name: z}").Replace(allow("HTTPRoute", "all", account)), policy.HTTP, []string{"probes-refused", "other-spelling spec.rules[0].matches[0].path"}},
		{"the same callers on both routes", server("") + route + all("value: /") + allow("HTTPRoute", "a", address) + open + nodes, policy.HTTP, nil},
		{"a path whose Server is open", server(", accessPolicy: all-unauthenticated") + route + all("value: /"), policy.HTTP, nil},
		{"a method for everybody", server("") + route + strings.Replace(all("value: /"), "{value: /}", "{value: /}, method: GET", 1) + allow("HTTPRoute", "a", account) + open + nodes, policy.HTTP, []string{"other-spelling spec.rules[0].matches[0].path"}},
		{"the SPIFFE ID of an account", named("spiffe://td/ns/default/sa/web"), policy.HTTP, []string{"spiffe-of-account spec.identities[0]"}},
		{"the SPIFFE ID of an account as in Istio", named("spiffe://cluster.local/ns/default/sa/web"), policy.HTTP, []string{"spiffe-of-account spec.identities[0]"}},
		{"the SPIFFE ID of a workload outside", named("spiffe://td/vm/web"), policy.HTTP, nil},
		{"the SPIFFE ID of another mesh", named("spiffe://other/ns/default/sa/web"), policy.HTTP, nil},
		{"another control plane", named("web.default.serviceaccount.identity.other.cluster.local"), policy.HTTP, []string{"unknown-identity spec.identities[0]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range authorization.Lint(parse(t, tt.objects), on(tt.protocol), options(t)) {
				_, field, _ := strings.Cut(w.Place, ": ")
				got = append(got, strings.TrimSpace(string(w.Kind)+" "+field))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLintOfRivals has a Server that selects no inbound because no workload is made which another Server takes too: the warning names that one.
func TestLintOfRivals(t *testing.T) {
	t.Parallel()
	server := func(name, labels, port string) string {
		return "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: " + name + ", namespace: default}, spec: {podSelector: {" + labels + "}, port: " + port + ", accessPolicy: all-authenticated}}\n"
	}
	const said = "Server default/open may take that port of its workloads too"
	other := []policy.Inbound{{Workload: policy.Workload{Name: "w", Namespace: "default", Labels: map[string]string{"app": "other"}}, Name: "a", Port: 1}}
	for name, tt := range map[string]struct {
		policies string
		want     bool
	}{
		"of every workload": {server("web", "matchLabels: {app: web}", "http") + server("open", "", "http"), true},
		"of a number":       {server("web", "matchLabels: {app: web}", "80") + server("open", "", "80"), true},
		"of another port":   {server("web", "matchLabels: {app: web}", "80") + server("open", "", "81"), false},
		"of other labels":   {server("web", "matchLabels: {app: web}", "80") + server("open", "matchLabels: {app: api}", "80"), false},
	} {
		got := false
		for _, w := range authorization.Lint(parse(t, tt.policies), other, options(t)) {
			got = got || w.Policy == "default/web" && strings.Contains(w.Message, said)
		}
		if got != tt.want {
			t.Errorf("%s: the other Server is named: %t, want %t", name, got, tt.want)
		}
	}
}
