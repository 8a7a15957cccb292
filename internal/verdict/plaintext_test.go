package verdict_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// A caller in plaintext has no handshake, and so no server name: the policies that judge it see
// none.
func TestPlaintextHasNoServerName(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, `case: server names
workloads: [{name: backend, inbounds: [{port: 8080, mtls: permissive}]}]
policies:
  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {rules: [{when: [{key: connection.sni, notValues: [a.example]}]}]}}
requests: [{from: plaintext, to: backend/8080, want: allow}]
`)
	r, err := verdict.Read(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		uris []string
		want cases.Want
	}{{nil, cases.Allow}, {[]string{"spiffe://trust-domain.mesh/a"}, cases.Deny}} {
		q := r.Inbounds()[0].Request(policy.Request{URIs: tt.uris, SNI: "a.example", Method: "GET", Path: "/"})
		if q.Want != tt.want || (q.SNI == "") != (tt.uris == nil) {
			t.Errorf("%q: want %s, server name %q", tt.uris, q.Want, q.SNI)
		}
	}
}

// Policies state the mTLS of an inbound in place of its case. Both may state the same.
func TestModeOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ stated, policies, want, refused string }{
		{"strict", "", "strict", ""},
		{"permissive", "", "permissive", ""},
		{"", "STRICT", "strict", ""},
		{"", "DISABLE", "disable", ""},
		{"", "UNSET", "permissive", ""},
		{"permissive", "PERMISSIVE", "permissive", ""},
		{"strict", "PERMISSIVE", "", "inbound backend/8080: mtls is strict here, and the policies say permissive: leave mtls out"},
		{"permissive", "STRICT", "", "inbound backend/8080: mtls is permissive here, and the policies say strict: leave mtls out"},
	} {
		text := "case: modes\nworkloads: [{name: backend, inbounds: [{port: 8080"
		if tt.stated != "" {
			text += ", mtls: " + tt.stated
		}
		text += "}]}]\nrequests: [{from: plaintext, to: backend/8080, want: allow}]\npolicies:\n  - {apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}}\n"
		if tt.policies != "" {
			text += "  - {apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: p}, spec: {mtls: {mode: " + tt.policies + "}}}\n"
		}
		r, err := verdict.Read(casetest.Parse(t, text))
		if tt.refused != "" {
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Inbounds()[0].MTLS.String(); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// A case that asks in plaintext states the mode of the inbound, where the mesh of its policies takes plaintext by
// default: a strict inbound that nobody wrote keeps out a caller whom the mesh lets in.
func TestUnstatedMode(t *testing.T) {
	t.Parallel()
	const (
		istio   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {rules: [{}]}}"
		linkerd = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: p}, spec: {podSelector: {}, port: 8080, accessPolicy: all-unauthenticated}}"
		cilium  = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p}, spec: {endpointSelector: {}, ingress: [{fromEntities: [all]}]}}"
		gateway = "{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: p}, spec: {targetRefs: [{kind: Pod, selector: {matchLabels: {app: backend}}}], action: ALLOW, enforcementLevel: Network, rules: [{}]}}"
		kuma    = "{type: MeshTrafficPermission, mesh: default, name: p, spec: {rules: [{default: {allow: [{path: {type: Prefix, value: /}}]}}]}}"
		refused = "a.yaml:3: requests[0]: nobody says whether the inbound backend/8080 takes plaintext: neither the case nor a policy states its mTLS, and such a mesh takes plaintext unless told otherwise: write mtls: permissive or mtls: strict for it"
	)
	for _, tt := range []struct{ policies, caller, mode, want string }{
		{istio, "plaintext", "", refused},
		{linkerd, "plaintext", "", refused},
		{cilium, "plaintext", "", refused},
		{gateway, "plaintext", "", ""},
		{kuma, "plaintext", "", ""},
		{linkerd, "anonymous", "", ""},
		{linkerd, "plaintext", ", mtls: strict", ""},
		{cilium, "plaintext", ", mtls: permissive", ""},
	} {
		all, err := cases.Parse("a.yaml", []byte(`case: modes
workloads: [{name: backend, labels: {app: backend}, inbounds: [{port: 8080`+tt.mode+`}]}]
requests: [{from: `+tt.caller+`, to: backend/8080, want: handshake-failure}]
policies: [`+tt.policies+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = verdict.Read(all[0])
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
