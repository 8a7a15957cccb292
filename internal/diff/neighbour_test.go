package diff

import (
	"fmt"
	"strings"
	"testing"
)

// Each row says whether callers of another mesh under the same authority are let in by a wildcard that is wider
// than the names of the own mesh, or by no name at all. The callers of the own mesh get in before and after. The
// other way round nothing widens, and compare tells both.
func TestWideningToOtherMeshes(t *testing.T) {
	t.Parallel()
	const (
		own, end, all = `"*.identity.linkerd.cluster.local"`, `"*.cluster.local"`, `"*"`
		routed        = "\n---\n{apiVersion: policy.linkerd.io/v1beta3, kind: HTTPRoute, metadata: {name: r, namespace: x}, spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: s}], rules: [{matches: [{path: {type: PathPrefix, value: /a}}]}]}}\n"
	)
	server := func(more string) string {
		return "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: b}}, port: 8080" + more + "}}\n"
	}
	byMeshTLS := func(name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy, metadata: {name: p, namespace: x}, spec: {targetRef: {group: policy.linkerd.io, kind: Server, name: s}, requiredAuthenticationRefs: [{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: %[1]s}]}}\n---\n"+
			"{apiVersion: policy.linkerd.io/v1alpha1, kind: MeshTLSAuthentication, metadata: {name: %[1]s, namespace: x}, spec: {%[2]s}}\n", name, spec)
	}
	names := func(identities string) string { return server("") + byMeshTLS("m", "identities: ["+identities+"]") }
	grant := func(client string) string {
		return server("") + "---\n{apiVersion: policy.linkerd.io/v1beta1, kind: ServerAuthorization, metadata: {name: g, namespace: x}, spec: {server: {name: s}, client: {" + client + "}}}\n"
	}
	for name, tt := range map[string]struct {
		old, recent string
		want        bool
	}{
		"a wildcard of the domain":                     {names(own), names(end), true},
		"a wildcard of its end":                        {names(own), names(`"*.local"`), true},
		"a wildcard of everything":                     {names(end), names(all), true},
		"a wildcard of everything, beside a SPIFFE ID": {names(end + ", 'spiffe://p/a'"), names(all), true},
		"all that are authenticated":                   {names(end), server(", accessPolicy: all-authenticated"), true},
		"a grant":                                      {grant("meshTLS: {identities: [" + end + "]}"), grant("meshTLS: {identities: [" + all + "]}"), true},
		"each request, where a route had it":           {names(own) + routed + httpRoute("/b") + strings.NewReplacer("kind: Server, name: s", "kind: HTTPRoute, name: r", "name: p,", "name: q,").Replace(byMeshTLS("'n'", "identities: ["+all+"]")), names(end) + routed + httpRoute("/b"), true},
		"everything of authentication":                 {names(all), server(", accessPolicy: all-authenticated"), false},
		"another name of the authentication":           {names(all), server("") + byMeshTLS("other", "identities: ["+all+"]"), false},
		"a first Server":                               {"---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: c}}, port: 8080}}\n", "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: c}}, port: 8080}}\n" + strings.ReplaceAll(names(all), "name: s", "name: t"), false},
		"the same name twice":                          {names(end), names(end + ", " + own), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, pair := range [][2]string{{tt.old, tt.recent}, {tt.recent, tt.old}} {
				want := tt.want && i == 0
				// The lab takes a wildcard for the accounts of the mesh, and a SPIFFE ID is no one of them.
				if i == 0 || tt.want && !strings.Contains(name, "route") && !strings.Contains(name, "SPIFFE") {
					if d := differenceOf(t, pair[0], pair[1]); strings.Contains(strings.Join(d.Opens, ""), "other meshes") != want || (len(d.widenings()) > 0) != want {
						t.Errorf("%d: %q", i, d.widenings())
					}
				}
				d, err := DiffBeside(sideOf(t, pair[0]), sideOf(t, pair[1]), "")
				if err != nil {
					t.Fatal(err)
				}
				if tt.want && len((Sides{Difference: d}).Failures()) == 0 {
					t.Errorf("%d: A and B decide alike", i)
				}
			}
		})
	}
}

// A policy that names an account of another mesh lets that account in. Where two routes match alike, the older one decides. So
// the policies of a Server are held against each other.
func TestWideningToNamedStrangers(t *testing.T) {
	t.Parallel()
	of := func(kind, name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: %s, metadata: {name: %s, namespace: x}, spec: {%s}}\n", kind, name, spec)
	}
	server := func(name string) string {
		return strings.Replace(of("Server", name, "podSelector: {matchLabels: {app: "+name+"}}, port: 8080"), "v1alpha1", "v1beta3", 1)
	}
	route := func(name string) string {
		return strings.Replace(of("HTTPRoute", name, "parentRefs: [{group: policy.linkerd.io, kind: Server, name: web}], rules: [{matches: [{path: {value: /a}}]}]"), "v1alpha1", "v1beta3", 1)
	}
	// more adds another match to a route.
	more := func(text string) string {
		return strings.Replace(text, "]}]}", "]}, {matches: [{path: {value: /b}}]}]}", 1)
	}
	lets := func(name, kind, target, refs string) string {
		return of("AuthorizationPolicy", name, "targetRef: {group: policy.linkerd.io, kind: "+kind+", name: "+target+"}, requiredAuthenticationRefs: ["+refs+"]")
	}
	const (
		fe      = "{kind: ServiceAccount, name: fe}"
		partner = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m}"
		network = "{group: policy.linkerd.io, kind: NetworkAuthentication, name: 'n'}"
	)
	both := server("web") + server("db") + lets("a", "Server", "web", fe)
	const account = "a.b.serviceaccount.identity."
	for _, identity := range []string{account + "linkerd.partner.local", account + "other.partner.local", account + "linkerd.b.cluster.local", "vm.example", "vm", "'*.vm.example'", "'*.partner.local'"} {
		named := of("MeshTLSAuthentication", "m", "identities: ["+identity+"]")
		grant := func(selector string) string {
			return strings.Replace(of("ServerAuthorization", "g", "server: {"+selector+"}, client: {meshTLS: {identities: ["+identity+"]}}"), "v1alpha1", "v1beta1", 1)
		}
		at := of("NetworkAuthentication", "'n'", "networks: [{cidr: 10.0.0.0/8}]")
		tie := server("web") + route("r") + route("s") + lets("x", "HTTPRoute", "r", fe)
		for name, tt := range map[string]struct {
			same, old, recent string
			want              bool
		}{
			"another Server":             {both + named + lets("b", "Server", "db", partner), "", lets("c", "Server", "web", partner), true},
			"another Server by a grant":  {both, grant("name: db"), grant("selector: {}"), true},
			"a network less":             {server("web") + named + at, lets("b", "Server", "web", partner+", "+network), lets("b", "Server", "web", partner), true},
			"a wildcard that has it":     {server("web") + strings.ReplaceAll(named+lets("b", "Server", "db", partner), "name: m", "name: k"), lets("c", "Server", "web", fe), lets("c", "Server", "web", partner) + of("MeshTLSAuthentication", "m", "identities: ['*', fe.x.serviceaccount.identity.linkerd.cluster.local]"), true},
			"another name of a policy":   {both + named, lets("b", "Server", "db", partner), lets("c", "Server", "db", partner), false},
			"another account":            {both + named + lets("b", "Server", "db", partner), "", lets("c", "Server", "db", fe), true},
			"the younger route":          {tie, lets("'y'", "HTTPRoute", "s", fe), lets("'y'", "HTTPRoute", "s", ""), true},
			"a policy of the younger":    {tie, "", lets("'y'", "HTTPRoute", "s", ""), true},
			"more that both routes take": {server("web") + more(route("r")) + lets("x", "HTTPRoute", "r", fe) + lets("'y'", "HTTPRoute", "s", ""), route("s"), more(route("s")), true},
			"a tie stays":                {tie, server("db"), server("db") + lets("b", "Server", "db", fe), true},
		} {
			d := differenceOf(t, tt.same+tt.old, tt.same+tt.recent)
			if widens := len(d.widenings()) > 0; widens != tt.want {
				t.Errorf("%s, %s: %q", identity, name, d.widenings())
			}
			if opens := strings.Join(d.Opens, "; "); strings.HasPrefix(name, "a tie") && opens != "" {
				t.Errorf("%s: %s", name, opens)
			}
		}
	}
}

// A Server that says HTTP closes other connections, and one that says nothing asks no route about them.
func TestWideningOfProtocols(t *testing.T) {
	t.Parallel()
	server := func(name, more string) string {
		return "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: " + name + ", namespace: x}, spec: {podSelector: {matchLabels: {app: b}}, port: http" + more + "}}\n" +
			"---\n{apiVersion: policy.linkerd.io/v1alpha1, kind: AuthorizationPolicy, metadata: {name: p, namespace: x}, spec: {targetRef: {group: policy.linkerd.io, kind: Server, name: " + name + "}, requiredAuthenticationRefs: [{kind: ServiceAccount, name: a}]}}\n"
	}
	const http, unknown = ", proxyProtocol: HTTP/1", ", proxyProtocol: unknown"
	route := httpRoute("/a")
	other := strings.NewReplacer("name: s", "name: o", "app: b", "app: o", "name: p", "name: q").Replace(server("s", ""))
	for name, tt := range map[string]struct {
		old, recent string
		want        bool
	}{
		"detected, with a route":   {server("s", http) + route, server("s", unknown) + route, true},
		"not said, with a route":   {server("s", http) + route, server("s", "") + route, true},
		"detected":                 {server("s", http), server("s", unknown), true},
		"TLS":                      {server("s", http), server("s", ", proxyProtocol: TLS"), true},
		"not said, and renamed":    {server("s", http), server("t", ""), true},
		"said":                     {server("s", unknown) + route, server("s", http) + route, false},
		"not said, and detected":   {server("s", ""), server("s", unknown), false},
		"another one that is new":  {server("s", http), server("s", http) + other, false},
		"another one that is gone": {server("s", http) + other, server("s", http), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const text = "takes connections of each protocol"
			d := differenceOf(t, tt.old, tt.recent)
			if got := strings.Join(d.widenings(), ""); strings.Contains(got, text) != tt.want {
				t.Errorf("%q, want %t", got, tt.want)
			}
			both, err := DiffBeside(sideOf(t, tt.recent), sideOf(t, tt.old), "")
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(both.Opens, ""); tt.want && !strings.Contains(got, text) {
				t.Errorf("side by side: %q", got)
			}
		})
	}
}
