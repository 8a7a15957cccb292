package misreading_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy/istio/internal/misreading"
)

// TestFindWhatNobodyHas finds values that no caller and no request has, and says what to write.
func TestFindWhatNobodyHas(t *testing.T) {
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
	for subject, wants := range map[string]map[string]string{
		"namespaces": {
			"td/ns/a": noNamespace + ", write a", "a/": noNamespace + ", write a", "ns/a": noNamespace + ", write a", "A": noNamespace + ", write a", "a.b": noNamespace, "a_b": noNamespace,
			"*/ns/a": noNamespace + ", write a", "a": "", "a-1": "", "a/sa": "", "a/*": "", "*": "", "*-a": "", "a-*-b": "",
		},
		"principals": {
			"td/ns/a": noAccount, "td/ns/a/": noAccount, "/td/ns/a/sa/x": noPrincipal, "td/ns/a/sa/x/": noPrincipal, "td/ns/a/sa/X": noPrincipal, "td/ns/a/sa/": noPrincipal, "*/ns/a": noPrincipal,
			"td/ns/a/sa/x": "", "td/ns/a/sa/x.y": "", "td/ns/a/pod/x": "", "td/vm/x": "", "*/ns/a/sa/x": "", "td/ns/a/sa/*": "",
		},
		"serviceAccounts": {"x": "", "a/x.y": "", "a/X": noName, "a.b/x": noName},
		"methods":         {"GET|PUT": oneMethod, "GET,PUT": oneMethod, "get|put": oneMethod, "get": "methods are compared as they stand: write GET", "GET": "", "M-SEARCH": ""},
		"hosts": {
			"https://a.example": noHost + ": write a.example", "https://a.example:*": noHost + ": write a.example:*", "a.example/x": noHost + ": write a.example", "http://a.example/x?y": noHost + ": write a.example", "a.example:*": "", "*": "", "/": noHost, "https://": noHost,
		},
		"connection.sni": {
			"A.example": smallName + "a.example", "*.A.example": smallName + "*.a.example", "a.example:443": "a server name has no port: write a.example", "*.a.example:443": "a server name has no port: write *.a.example",
			"10.0.0.1": `"10.0.0.1" is an address, and a caller of an address sends no server name`, "a.example.": `"a.example." ends in a dot, which no caller sends: leave it out`, "a.example": "", "*.a.example": "", "a.*": "", "*": "",
		},
		"requestPrincipals": {
			"https://a.example": noSubject + "https://a.example/* for all subjects of an issuer", "https://a.example/": noSubject + "https://a.example//* for all subjects of an issuer", "a": noSubject + "a/* for all subjects of an issuer",
			"https://a.example/x": "", "https://a.example//x": "", "a/x": "", "a/*": "", "*": "",
		},
	} {
		for value, want := range wants {
			found := misreading.Find(subject, value, misreading.List{Values: []string{value}})
			if found.Kind != warning.NeverMatches {
				found.Reason = ""
			}
			if found.Reason != want {
				t.Errorf("%s %q: got %q, want %q", subject, value, found.Reason, want)
			}
		}
	}
}

// TestFindKinds finds each kind beside that of a value that nobody has, and leaves sound values alone.
func TestFindKinds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		subject string
		values  []string
		want    warning.Kind
	}{
		{"principals", []string{"td/ns/a/sa/x*"}, warning.PrefixInsideName},
		{"principals", []string{"*x"}, warning.PrefixInsideName},
		{"principals", []string{"spiffe://td/ns/a/sa/x"}, warning.SchemeInPrincipal},
		{"principals", []string{"system:serviceaccount:a:x"}, warning.NeverMatches},
		{"principals", []string{"ns/a/sa/x"}, warning.NeverMatches},
		{"principals", []string{"x"}, warning.NeverMatches},
		{"principals", []string{"td/*/sa/x"}, warning.StarInTheMiddle},
		{"principals", []string{"*/sa/x"}, ""},
		{"namespaces", []string{"a*"}, warning.PrefixInsideName},
		{"namespaces", []string{"a-*-b"}, ""},
		{"trustDomains", []string{"td*"}, warning.PrefixInsideName},
		{"trustDomains", []string{"td"}, ""},
		{"paths", []string{"/a*"}, warning.PathInsideName},
		{"paths", []string{"/a/*"}, ""},
		{"paths", []string{"/a/*/b"}, warning.StarInTheMiddle},
		{"paths", []string{"/a/{*}/b"}, ""},
		{"paths", []string{"a"}, warning.NeverMatches},
		{"paths", []string{"/a?b"}, warning.NeverMatches},
		{"paths", []string{"/rewritten"}, warning.NeverMatches},
		{"hosts", []string{"a.example"}, warning.HostWithoutPort},
		{"hosts", []string{"*.example"}, warning.HostWithoutPort},
		{"hosts", []string{"a.example", "a.example:80"}, ""},
		{"hosts", []string{"a.*"}, ""},
		{"request.headers[a]", []string{"a*b"}, warning.StarInTheMiddle},
		{"request.headers[a]", []string{"{*}"}, warning.StarInTheMiddle},
		{"request.headers[a]", []string{"a*"}, ""},
		{"ports", []string{"80"}, ""},
	} {
		rewritten := func(path string) string { return strings.TrimPrefix(path, strings.TrimSuffix(path, "rewritten")) }
		found := misreading.Find(tt.subject, tt.values[0], misreading.List{Values: tt.values, Rewritten: rewritten})
		if found.Kind != tt.want || (found.Kind == "") != (found.Reason == "") {
			t.Errorf("%s %q: got %+v, want %q", tt.subject, tt.values, found, tt.want)
		}
	}
}

// TestFindTakesEachValue takes short values of any characters, with nothing known of what stands beside them.
func TestFindTakesEachValue(t *testing.T) {
	t.Parallel()
	const characters = "*/a:?{}."
	var values []string
	for _, a := range characters {
		for _, b := range characters {
			values = append(values, string(a), string(a)+string(b), string(a)+string(b)+string(a))
		}
	}
	for _, subject := range []string{"principals", "namespaces", "trustDomains", "serviceAccounts", "requestPrincipals", "connection.sni", "methods", "paths", "hosts", "destination.ip"} {
		for _, value := range values {
			if found := misreading.Find(subject, value, misreading.List{}); (found.Kind == "") != (found.Reason == "") {
				t.Errorf("%s %q: got %+v", subject, value, found)
			}
		}
	}
}
