package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestPassedBy reads the node of Istio's sidecar, which says what of the pod's connections is redirected to it.
func TestPassedBy(t *testing.T) {
	t.Parallel()
	annotation := func(key, value string) edit {
		return put(istioNode+".metadata.ANNOTATIONS", fmt.Sprintf("{%q: %q}", key, value))
	}
	for name, tt := range map[string]struct {
		want  outcome
		edits edit
	}{
		"a port of the workload is left out":                {unverified, annotation("traffic.sidecar.istio.io/excludeInboundPorts", "15020,8080")},
		"the ports of the agent are left out":               {verified, annotation("traffic.sidecar.istio.io/excludeInboundPorts", "15020,15021,15090")},
		"some ports are redirected":                         {unverified, annotation("traffic.sidecar.istio.io/includeInboundPorts", "9102")},
		"no port is redirected":                             {unverified, annotation("traffic.sidecar.istio.io/includeInboundPorts", "")},
		"all ports are redirected":                          {verified, annotation("traffic.sidecar.istio.io/includeInboundPorts", "*")},
		"an interface is left out":                          {unverified, annotation("traffic.sidecar.istio.io/excludeInterfaces", "eth1")},
		"no interface is left out":                          {verified, annotation("traffic.sidecar.istio.io/excludeInterfaces", "")},
		"connections of an interface count as outbound":     {unverified, annotation("istio.io/reroute-virtual-interfaces", "kube0")},
		"an annotation of later":                            {unverified, annotation("traffic.sidecar.istio.io/later", "x")},
		"connections to others":                             {verified, annotation("traffic.sidecar.istio.io/excludeOutboundPorts", "3306")},
		"another annotation":                                {verified, annotation("prometheus.io/scrape", "true")},
		"nothing is redirected":                             {unverified, annotation("sidecar.istio.io/interceptionMode", "NONE")},
		"nothing is redirected, in the metadata":            {unverified, put(istioNode+".metadata.INTERCEPTION_MODE", `"NONE"`)},
		"nothing is redirected, in the config of the proxy": {unverified, put(istioNode+".metadata.PROXY_CONFIG", `{"interceptionMode": "NONE"}`)},
		"listeners on this machine alone":                   {unverified, put(istioInbound+".address.socket_address.address", `"127.0.0.1"`)},
		"an unknown redirection":                            {unverified, put(istioNode+".metadata.INTERCEPTION_MODE", `["REDIRECT"]`)},
		"redirected":                                        {verified, put(istioNode+".metadata.INTERCEPTION_MODE", `"REDIRECT"`)},
		"redirected with the addresses of callers":          {verified, put(istioNode+".metadata.INTERCEPTION_MODE", `"TPROXY"`)},
		"annotations in a list":                             {unverified, put(istioNode+".metadata.ANNOTATIONS", `["traffic.sidecar.istio.io/excludeInboundPorts=8080"]`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies", tt.edits)
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q", got, tt.want, lines(v.Unverified))
			}
		})
	}
}

// TestUnstatedLabels holds a sidecar whose pod has labels that no flag states against policies that select by them.
func TestUnstatedLabels(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/istio/policies/shop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		want   outcome
		policy string
	}{
		"no policy selects by them": {verified, ""},
		"a policy selects by one": {unverified, `
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: later, namespace: shop}
spec: {action: DENY, selector: {matchLabels: {version: v2}}, rules: [{from: [{source: {namespaces: [metrics]}}]}]}
`},
		"tokens are for one": {unverified, `
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: later, namespace: shop}
spec: {selector: {matchLabels: {version: v2}}, jwtRules: [{issuer: a, jwks: '{"keys": []}'}]}
`},
		"mTLS is for one": {unverified, `
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: later, namespace: shop}
spec: {selector: {matchLabels: {version: v2}}, mtls: {mode: PERMISSIVE}}
`},
		"a policy selects by another value": {verified, `
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: later, namespace: shop}
spec: {action: DENY, selector: {matchLabels: {version: v3}}, rules: [{from: [{source: {namespaces: [metrics]}}]}]}
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "policies.yaml"), append([]byte(string(text)), tt.policy...), 0o600); err != nil {
				t.Fatal(err)
			}
			v := matchedSidecar(t, "", folder, put(istioNode+".metadata.LABELS.version", `"v2"`))
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q", got, tt.want, lines(v.Unverified))
			}
		})
	}
}
