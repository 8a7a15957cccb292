package diff

import (
	"fmt"
	"strings"
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

// A policy by which plaintext is taken fails where OLD stated no mode: one that demands mTLS may stand in another folder.
func TestFirstModes(t *testing.T) {
	t.Parallel()
	mode := func(name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: %s, namespace: shop}, spec: {%s}}\n", name, spec)
	}
	const web = "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{}]}}\n"
	for name, tt := range map[string]struct {
		old, recent string
		want        bool
	}{
		"of a namespace":          {web, web + mode("default", "mtls: {mode: PERMISSIVE}"), true},
		"of a workload":           {web, web + mode("p", "selector: {matchLabels: {app: web}}, mtls: {mode: DISABLE}"), true},
		"of a port":               {web, web + mode("p", "selector: {matchLabels: {app: web}}, portLevelMtls: {8080: {mode: PERMISSIVE}}"), true},
		"alone":                   {"", mode("p", "selector: {matchLabels: {app: web}}, mtls: {mode: PERMISSIVE}"), true},
		"that says nothing":       {web, web + mode("default", ""), false},
		"that demands mTLS":       {web, web + mode("default", "mtls: {mode: STRICT}"), false},
		"as before":               {web + mode("default", "mtls: {mode: PERMISSIVE}"), web + mode("default", "mtls: {mode: PERMISSIVE}") + strings.ReplaceAll(web, "web", "db"), false},
		"of a port beside STRICT": {web, web + mode("p", "selector: {matchLabels: {app: web}}, mtls: {mode: STRICT}, portLevelMtls: {8080: {mode: PERMISSIVE}}"), true},
		"STRICT elsewhere":        {web + strings.ReplaceAll(mode("d", "mtls: {mode: STRICT}"), "shop", "data"), web + mode("default", "mtls: {mode: PERMISSIVE}"), true},
		"by another name":         {web + mode("p", "mtls: {mode: PERMISSIVE}"), web + mode("default", "mtls: {mode: PERMISSIVE}"), false},
		"of the mesh before":      {web + strings.ReplaceAll(mode("d", "mtls: {mode: PERMISSIVE}"), "shop", "istio-system"), web + mode("default", "mtls: {mode: PERMISSIVE}"), false},
		"that says UNSET":         {web, web + mode("default", "mtls: {mode: UNSET}"), false},
		"in the place of STRICT":  {web + mode("default", "mtls: {mode: STRICT}"), web + mode("default", "mtls: {mode: PERMISSIVE}"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, tt.old, tt.recent)
			if got := strings.Join(d.widenings(), "\n"); strings.Contains(got, "plaintext is taken") != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
}
