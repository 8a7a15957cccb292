package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/advisory"
	"github.com/meshproof/meshproof/internal/behavior"
)

// deniedByHeader are policies of which a rule looks at a header, for the sidecar of the example with its rules.
const deniedByHeader = `apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default, namespace: istio-system}
spec: {mtls: {mode: STRICT}}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: no-admin, namespace: istio-system}
spec: {action: DENY, rules: [{when: [{key: "request.headers[x-role]", values: [admin]}]}]}
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: callers, namespace: shop}
spec: {selector: {matchLabels: {app: payments}}, rules: [{from: [{source: {principals: [cluster.local/ns/shop/sa/cache]}}]}]}
`

// TestFlawedEnvoy has sidecars that decide each class as specified, on an Envoy with a released flaw. Where a request passes the policies by
// the flaw, the inbound is not verified, and where none was found, the output names the flaw alone.
func TestFlawedEnvoy(t *testing.T) {
	t.Parallel()
	known, err := advisory.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "policies.yaml"), []byte(deniedByHeader), 0o600); err != nil {
		t.Fatal(err)
	}
	flawed := behavior.Set{}.Change(behavior.HeaderLines, false)
	for name, tt := range map[string]struct {
		policies string
		behaves  behavior.Set
		want     string
	}{
		"a deny by a header":                       {folder, flawed, "CVE-2026-26308"},
		"a deny by a header, and a mended Envoy":   {folder, behavior.Set{}, ""},
		"no rule looks at a header":                {"../../examples/istio/policies", flawed, ""},
		"no rule looks at one, and a mended Envoy": {"../../examples/istio/policies", behavior.Set{}, ""},
	} {
		v := matchedSidecar(t, "", tt.policies)
		if len(v.Unverified) > 0 || len(v.Replays) == 0 {
			t.Fatalf("%s: %d replays, %q", name, len(v.Replays), lines(v.Unverified))
		}
		v.SetAdvisories(known, tt.behaves)
		found := strings.Join(lines(v.Unverified), "\n")
		if tt.want == "" && found != "" || !strings.Contains(found, tt.want) {
			t.Errorf("%s: %q, want %q", name, found, tt.want)
		}
		if names := len(v.Advisories) > 0; names == tt.behaves.Fixed(behavior.HeaderLines) {
			t.Errorf("%s: advisories %q", name, v.Advisories)
		}
	}
}
