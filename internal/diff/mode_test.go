package diff

import (
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
)

// A case that asks in plaintext states a mode, and policies that cease to state it are compared all the same: the mesh
// takes plaintext then.
func TestPoliciesCeaseToStateMode(t *testing.T) {
	t.Parallel()
	const (
		head   = "case: modes\nworkloads: [{name: web, inbounds: [{name: in, port: 8080}]}]\nrequests: [{from: plaintext, to: web/in, want: handshake-failure}]\npolicies: [{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {rules: [{}]}}"
		strict = ", {apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: p}, spec: {mtls: {mode: STRICT}}}"
	)
	found, err := Compare(casetest.Parse(t, head+strict+"]\n"), casetest.Parse(t, head+"]\n"))
	if err != nil {
		t.Fatal(err)
	}
	changes := found[0].modeChange()
	if len(changes) != 1 || changes[0].Text != "web/in: mtls strict → permissive" || changes[0].Widens == "" {
		t.Errorf("%+v", changes)
	}
}
