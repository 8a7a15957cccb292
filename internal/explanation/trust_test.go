package explanation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
)

// A caller of a trust domain that the mesh does not trust never reaches the policies, and rules
// about another trust domain than the caller's do not mean the caller: an explanation says both
// beside what the policies decide.
func TestTrustDomainOfCaller(t *testing.T) {
	t.Parallel()
	const (
		legacy = "{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: {kind: Mesh}, from: [{targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}, default: {action: ALLOW}}]}}"
		mtp    = "{type: MeshTrafficPermission, mesh: default, name: p, spec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: spiffe://cluster.local/ns/x/sa/y}}]}}]}}"
		istio  = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: default}, spec: {action: %, rules: [{from: [{source: {principals: [cluster.local/ns/x/sa/y]}}]}]}}"
	)
	deny := strings.Replace(istio, "%", "DENY", 1)
	for _, tt := range []struct{ name, policies, from, decision, mtls, hint string }{
		{"of the mesh", mtp, "spiffe://trust-domain.mesh/ns/x/sa/z", "deny by default", "", ""},
		{"of the mesh, and the rules of another", mtp, "spiffe://trust-domain.mesh/ns/x/sa/y", "deny by default", "", `no rule is about the trust domain "trust-domain.mesh"; about spiffe://cluster.local/ns/x/sa/y`},
		{"of another, as the rules", mtp, "spiffe://cluster.local/ns/x/sa/y", "allow by kri_mtp_default___p_", `does not trust the trust domain "cluster.local": write --trust-domain cluster.local if it is that of the mesh`, ""},
		{"of Istio's alias", deny, "spiffe://cluster.local/ns/x/sa/y", "allow", `does not trust the trust domain "cluster.local"`, `about spiffe://trust-domain.mesh/ns/x/sa/y the policies decide: deny`},
		{"of the mesh, by Istio's alias", deny, "spiffe://trust-domain.mesh/ns/x/sa/y", "deny by ns[default]-policy[p]-rule[0]", "", ""},
		{"without a SPIFFE ID", deny, "kuma://role/admin", "allow", "the caller has no identity", ""},
		{"with a name of DNS alone", deny, "dns:web.example", "allow", "the caller has no identity", ""},
		{"of the mesh, by the legacy form", legacy, "spiffe://default/web", "allow by MeshTrafficPermission", "", ""},
		{"of another mesh, by the legacy form", legacy, "spiffe://other/web", "deny", `does not trust the trust domain "other"`, "about spiffe://default/web the policies decide: allow"},
	} {
		from, err := ParseCaller([]string{tt.from})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Explain(subjectsOf(t, tt.policies), from, cases.Request{Method: "GET", Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		e := all[0]
		if e.Decision != tt.decision || !holds(e.MTLS, tt.mtls) || !holds(e.Hint, tt.hint) {
			t.Errorf("%s: %q, mtls %q, hint %q", tt.name, e.Decision, e.MTLS, e.Hint)
		}
	}
}

// A caller is asked for by its SPIFFE ID: where somebody writes another name of an account, the error says which ID that is.
func TestNamesOfAccounts(t *testing.T) {
	t.Parallel()
	const istio = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: default}, spec: {}}"
	for name, want := range map[string]string{
		"cluster.local/ns/x/sa/y":                           "write spiffe://cluster.local/ns/x/sa/y",
		"y.x.serviceaccount.identity.linkerd.cluster.local": "write spiffe://trust-domain.mesh/ns/x/sa/y",
		"system:serviceaccount:x:y":                         "write spiffe://trust-domain.mesh/ns/x/sa/y",
		"y":                                                 "use a SPIFFE ID, or the name of a caller: ",
	} {
		_, err := Explain(subjectsOf(t, istio), Caller{Name: name}, cases.Request{Method: "GET", Path: "/"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func holds(text, part string) bool {
	return strings.Contains(text, part) && (part != "") == (text != "")
}

// subjectsOf returns the inbound of a folder with the policies.
func subjectsOf(t *testing.T, policies string) []lab.Subject {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte(policies), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(lab.Choice{}, path)
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Inbound{Workload: policy.Workload{Name: "backend", Namespace: "default", Mesh: "default"}, Port: 8080, Protocol: policy.HTTP}
	subjects, err := files.Subjects("", lab.Surroundings{Inbound: in})
	if err != nil {
		t.Fatal(err)
	}
	return subjects
}

// An explanation says which line decides. A Dataplane has an identity that files do not state: where all rules are about
// other trust domains, a hint asks for it.
func TestPlaceAndHintOfDataplane(t *testing.T) {
	t.Parallel()
	const (
		dataplane = "{type: Dataplane, mesh: default, name: backend, networking: {address: 10.0.0.1, inbound: [{port: 8080, tags: {kuma.io/service: web, kuma.io/protocol: http}}]}}\n---\n"
		legacy    = dataplane + "type: MeshTrafficPermission\nmesh: default\nname: p\nspec:\n  targetRef: {kind: Mesh}\n  from:\n    - targetRef: {kind: MeshSubset, tags: {kuma.io/service: web}}\n      default: {action: Allow}\n"
		mtp       = dataplane + "type: MeshTrafficPermission\nmesh: default\nname: p\nspec:\n  rules:\n    - default:\n        allow:\n          - spiffeID: {type: Prefix, value: spiffe://TD/ns/default}\n        allowWithShadowDeny:\n          - spiffeID: {type: Prefix, value: spiffe://TD/ns}\n"
	)
	for _, tt := range []struct{ name, policies, from, place, shadow, hint string }{
		{"legacy, by name", legacy, "backend", "", "", "backend is taken for spiffe://trust-domain.mesh/ns/default/sa/backend, and all rules are about callers of default: state"},
		{"legacy, by its certificate", legacy, "spiffe://default/web", "a.yaml:9: spec.from[0]", "", ""},
		{"by name", strings.ReplaceAll(mtp, "TD", "trust-domain.mesh"), "backend", "a.yaml:10: spec.rules[0].default.allow[0]", "a.yaml:12: spec.rules[0].default.allowWithShadowDeny[0]", ""},
		{"by name, and rules of another trust domain", strings.ReplaceAll(mtp, "TD", "zone.mesh.local"), "backend", "", "", "all rules are about callers of zone.mesh.local"},
		{"kept out", strings.ReplaceAll(mtp, "TD", "trust-domain.mesh"), "plaintext", "", "", ""},
	} {
		from, err := ParseCaller([]string{tt.from})
		if err != nil {
			t.Fatal(err)
		}
		all, err := Explain(subjectsOf(t, tt.policies), from, cases.Request{Method: "GET", Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		if e := all[0]; !holds(e.Place, tt.place) || !holds(e.ShadowPlace, tt.shadow) || !holds(e.Hint, tt.hint) {
			t.Errorf("%s: %q at %q, shadow at %q, hint %q", tt.name, e.Decision, e.Place, e.ShadowPlace, e.Hint)
		}
	}
}

// What becomes of a caller in plaintext is up to the mode of the inbound: files of policies have that of their mesh, and a
// case has to state one where the mesh takes plaintext by default.
func TestPlaintextWithoutMode(t *testing.T) {
	t.Parallel()
	const (
		linkerd = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: p}, spec: {podSelector: {}, port: 8080, accessPolicy: all-unauthenticated}}"
		of      = "case: modes\nworkloads: [{name: backend, inbounds: [{port: 8080%}]}]\npolicies: [" + linkerd + "]\nrequests: [{from: anonymous, to: backend/8080, want: handshake-failure}]\n"
	)
	for _, tt := range []struct{ text, want string }{
		{linkerd, "allow by default/all-unauthenticated"},
		{strings.Replace(of, "%", "", 1), "unknown: nobody says whether the inbound backend/8080 takes plaintext"},
		{strings.Replace(of, "%", ", mtls: strict", 1), "handshake-failure: a strict inbound takes no plaintext"},
		{strings.Replace(of, "%", ", mtls: permissive", 1), "allow by default/all-unauthenticated"},
	} {
		all, err := Explain(subjectsOf(t, tt.text), Caller{Name: "plaintext"}, cases.Request{Method: "GET", Path: "/"})
		if err != nil {
			t.Fatal(err)
		}
		if got := all[0].Decision; !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
}

// Envoy answers some requests before any policy is asked, or asks about another one than is written: no rule decides about those.
func TestRequestsBeforePolicies(t *testing.T) {
	t.Parallel()
	const mtp = "{type: MeshTrafficPermission, mesh: default, name: p, spec: {rules: [{default: {deny: [{path: {type: Prefix, value: /admin}}], allow: [{path: {type: Prefix, value: /}}]}}]}}"
	subjects := subjectsOf(t, mtp)
	for _, tt := range []struct {
		protocol           policy.Protocol
		method, path, want string
	}{
		{policy.HTTP, "GET", "/é", "400: "},
		{policy.HTTP, "GET", "/?d=é", "400: "},
		{policy.HTTP, "OPTIONS", "*", "404: "},
		{policy.HTTP, "GET", "*", "400: "},
		{policy.HTTP, "CONNECT", "/admin", "400: "},
		{policy.HTTP2, "OPTIONS", "*", "404: "},
		{policy.HTTP2, "GET", "*", "no answer: "},
		{policy.HTTP2, "CONNECT", "/admin", "not served: CONNECT over HTTP/2 has no path"},
		{policy.HTTP2, "GET", "/?d=é", "allow by "},
		{policy.HTTP, "GET", "/admin", "deny by "},
	} {
		subjects[0].Inbound.Protocol = tt.protocol
		all, err := Explain(subjects, Caller{URIs: []string{"spiffe://trust-domain.mesh/a"}}, cases.Request{Method: tt.method, Path: tt.path})
		if err != nil {
			t.Fatal(err)
		}
		if e := all[0]; !strings.HasPrefix(e.Decision, tt.want) || strings.Contains(tt.want, ":") != (len(e.Gates) == 0) {
			t.Errorf("%+v: %s, %d gates", tt, e.Decision, len(e.Gates))
		}
	}
}
