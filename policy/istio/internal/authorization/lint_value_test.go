package authorization_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// TestLintValues warns of values that no request has, whatever becomes of those that match, and says what to write.
func TestLintValues(t *testing.T) {
	t.Parallel()
	const (
		noNamespace = "no service account is of such a namespace: the name of one has small letters, digits and hyphens alone"
		noPrincipal = "no service account has such a principal: they are TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT, in small letters"
		noName      = "no service account has such a name: the name has small letters, digits, hyphens and dots, and its namespace has no dot"
		noAccount   = "a principal is a whole name, and no service account has one that ends behind its namespace: write td/ns/a/sa/ACCOUNT, or td/ns/a/* for all of the namespace"
		noHost      = "a host has neither a scheme nor a path, and Envoy refuses a request with such a host"
		oneMethod   = "a value is one method, and is compared as a whole: write each method as a value of its own"
		smallName   = "Envoy keeps a server name in small letters: write "
		noSubject   = "a principal of a token is ISSUER/SUBJECT: write "
	)
	source := func(field string) func(string) string {
		return func(value string) string { return "from: [{source: {" + field + ": ['" + value + "']}}]" }
	}
	operation := func(field string) func(string) string {
		return func(value string) string { return "to: [{operation: {" + field + ": ['" + value + "']}}]" }
	}
	when := func(key string) func(string) string {
		return func(value string) string { return "when: [{key: " + key + ", values: ['" + value + "']}]" }
	}
	for _, tt := range []struct {
		rule  func(string) string
		wants map[string]string
	}{
		{source("namespaces"), map[string]string{
			"td/ns/a": noNamespace + ", write a", "a/": noNamespace + ", write a", "ns/a": noNamespace + ", write a", "A": noNamespace + ", write a", "a.b": noNamespace, "a_b": noNamespace,
			"*/ns/a": noNamespace + ", write a", "a": "", "a-1": "", "a/sa": "", "a/*": "", "*": "", "*-a": "", "a-*-b": "", "${a}": "",
		}},
		{when("source.namespace"), map[string]string{"td/ns/a": noNamespace + ", write a", "a": ""}},
		{source("notNamespaces"), map[string]string{"a/": noNamespace + ", write a", "a": ""}},
		{source("principals"), map[string]string{
			"td/ns/a": noAccount, "td/ns/a/": noAccount, "/td/ns/a/sa/x": noPrincipal, "td/ns/a/sa/x/": noPrincipal, "td/ns/a/sa/X": noPrincipal, "td/ns/a/sa/": noPrincipal, "*/ns/a": noPrincipal,
			"td/ns/a/sa/x": "", "td/ns/a/sa/x.y": "", "td/ns/a/pod/x": "", "td/vm/x": "", "*/ns/a/sa/x": "", "td/ns/a/sa/*": "", "td/ns/a/sa/${x}": "", "${x}": "",
		}},
		{source("serviceAccounts"), map[string]string{"x": "", "a/x.y": "", "a/X": noName, "a.b/x": noName}},
		{operation("methods"), map[string]string{"GET|PUT": oneMethod, "GET,PUT": oneMethod, "get|put": oneMethod, "get": "methods are compared as they stand: write GET", "GET": "", "M-SEARCH": ""}},
		{operation("hosts"), map[string]string{
			"https://a.example": noHost + ": write a.example", "https://a.example:*": noHost + ": write a.example:*", "a.example/x": noHost + ": write a.example", "http://a.example/x?y": noHost + ": write a.example", "a.example:*": "", "*": "", "/": noHost, "https://": noHost, "${x}/a": "",
		}},
		{when("connection.sni"), map[string]string{
			"A.example": smallName + "a.example", "*.A.example": smallName + "*.a.example", "a.example:443": "a server name has no port: write a.example", "*.a.example:443": "a server name has no port: write *.a.example",
			"10.0.0.1": `"10.0.0.1" is an address, and a caller of an address sends no server name`, "a.example.": `"a.example." ends in a dot, which no caller sends: leave it out`, "a.example": "", "*.a.example": "", "a.*": "", "*": "",
		}},
		{source("requestPrincipals"), map[string]string{
			"https://a.example": noSubject + "https://a.example/* for all subjects of an issuer", "https://a.example/": noSubject + "https://a.example//* for all subjects of an issuer", "a": noSubject + "a/* for all subjects of an issuer",
			"https://a.example/x": "", "https://a.example//x": "", "a/x": "", "a/*": "", "*": "", "${x}": "",
		}},
	} {
		for value, want := range tt.wants {
			for _, action := range []string{"ALLOW", "DENY"} {
				var got string
				for _, w := range warnings(t, one("p", "action: "+action+", rules: [{"+tt.rule(value)+"}]"), inbounds()[:1], token.Demand{Issuers: []token.Issuer{{}}}) {
					if strings.HasPrefix(w, string(warning.NeverMatches)) {
						_, got, _ = strings.Cut(w, ": ")
					}
				}
				if got != want {
					t.Errorf("%s of %s: got %q, want %q", action, tt.rule(value), got, want)
				}
			}
		}
	}
}

// TestLintWhatCallersChoose warns where a rule trusts what every caller may write: a server name, or an address in a header.
func TestLintWhatCallersChoose(t *testing.T) {
	t.Parallel()
	const (
		remote = "from: [{source: {remoteIpBlocks: [10.0.0.0/8]}}]"
		sni    = "when: [{key: connection.sni, values: [a.example]}]"
		notSNI = "when: [{key: connection.sni, notValues: [a.example]}]"
	)
	gateway := inbounds()[:1]
	gateway[0].Workload.Labels = map[string]string{"istio": "ingressgateway"}
	behindTwo := inbounds()[:1]
	behindTwo[0].TrustedHops = 2
	http, tcp := inbounds()[:1], inbounds()[1:2]
	for _, tt := range []struct {
		name, action, rule string
		inbounds           []policy.Inbound
		want               []string
	}{
		{"a DENY of a server name", "DENY", sni, http, []string{"deny-by-server-name when[0].values[0]"}},
		{"it on tcp", "DENY", sni, tcp, []string{"deny-by-server-name when[0].values[0]"}},
		{"a DENY of other server names", "DENY", notSNI, http, nil},
		{"a DENY of a server name that no caller sends", "DENY", "when: [{key: connection.sni, values: [A.example]}]", http, []string{"never-matches when[0].values[0]"}},
		{"an ALLOW of a server name", "ALLOW", sni, http, nil},
		{"an ALLOW of other server names", "ALLOW", notSNI, http, []string{"deny-by-server-name when[0].notValues[0]"}},
		{"an ALLOW of server names with an exception", "ALLOW", "when: [{key: connection.sni, values: ['*.example'], notValues: [a.example]}]", http, nil},
		{"an ALLOW without a server name", "ALLOW", "when: [{key: connection.sni, notValues: ['*']}]", http, nil},
		{"an AUDIT of a server name", "AUDIT", sni, http, nil},
		{"an ALLOW of a remote address", "ALLOW", remote, http, []string{"forwarded-address from[0].source.remoteIpBlocks"}},
		{"a DENY of one", "DENY", "from: [{source: {notRemoteIpBlocks: [10.0.0.0/8]}}]", http, []string{"forwarded-address from[0].source.notRemoteIpBlocks"}},
		{"a condition", "DENY", "when: [{key: remote.ip, values: [10.0.0.0/8]}]", http, []string{"forwarded-address when[0].values"}},
		{"the address of the connection", "DENY", "from: [{source: {ipBlocks: [10.0.0.0/8]}}]", http, nil},
		{"a remote address on tcp", "ALLOW", remote, tcp, nil},
		{"a remote address on a port of tcp", "DENY", remote + ", to: [{operation: {ports: ['5432']}}]", inbounds()[:2], nil},
		{"a remote address on a gateway", "ALLOW", remote, gateway, nil},
		{"a remote address behind two proxies", "ALLOW", remote, behindTwo, nil},
		{"an AUDIT of a remote address", "AUDIT", remote, http, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range warnings(t, one("p", "action: "+tt.action+", rules: [{"+tt.rule+"}]"), slices.Clone(tt.inbounds), token.Demand{}) {
				w, _, _ = strings.Cut(strings.Replace(w, "spec.rules[0].", "", 1), ":")
				got = append(got, w)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
