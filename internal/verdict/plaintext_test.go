package verdict_test

import (
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
