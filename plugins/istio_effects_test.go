package plugins

import (
	"strings"
	"testing"
)

// meshOfIstio has callers and inbounds that the labels, names, namespaces and ports of the table tell apart.
const meshOfIstio = `
case: effects
workloads:
  - {name: backend, labels: {app: backend, a: b, a.b/c: d}, inbounds: [{name: http, port: 80, protocol: http}, {name: tcp, port: 85, protocol: tcp}]}
  - {name: a}
  - {name: front, labels: {a: b}}
  - {name: b, namespace: a}
policies:
  - {apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: tokens}, spec: {jwtRules: [{issuer: a}]}}
requests:
  - {from: front, to: backend/http, want: allow}
`

// TestIstioEffects holds what the policies do that both take.
func TestIstioEffects(t *testing.T) {
	t.Parallel()
	of := newTable(t, drawnOfIstio(), meshOfIstio)
	of.unread = map[string]int{`[" "]`: 6, `["a b"]`: 6}
	// Without a rule for tokens no request has one.
	of.isJoined = func(policy string) bool {
		return strings.Contains(policy, "equestPrincipals") || strings.Contains(policy, "request.auth")
	}
	spec := func(kind, metadata, text string) string {
		return "{apiVersion: security.istio.io/v1, kind: " + kind + ", metadata: {name: a" + metadata + "}, spec: {" + text + "}}"
	}
	of.seeds = []seed{
		{spec("AuthorizationPolicy", "", "rules: [{from: [{source: {namespaces: [a]}}]}]"), 1, "/ns/a/", "/ns/b/"},
		{spec("AuthorizationPolicy", "", "rules: [{from: [{source: {notIpBlocks: [10.0.0.0/8]}}]}]"), 1, `"prefixLen":8`, `"prefixLen":9`},
		{spec("AuthorizationPolicy", "", "rules: [{to: [{operation: {paths: [/a]}}]}]"), 0, `"exact":"/a"`, `"prefix":"/a"`},
		{spec("AuthorizationPolicy", `, annotations: {istio.io/dry-run: "true"}`, "action: DENY, rules: [{}]"), 0, `"shadowRules":`, `"rules":`},
		{spec("AuthorizationPolicy", "", "action: AUDIT"), 1, `"action":"LOG"`, `"action":"ALLOW"`},
		{spec("AuthorizationPolicy", "", "rules: [{from: [{source: {requestPrincipals: [a/b]}}]}]"), 0, `"exact":"b"`, `"exact":"c"`},
		{spec("PeerAuthentication", "", "mtls: {mode: STRICT}"), 1, `"mtls":"strict"`, `"mtls":"permissive"`},
	}
	istio.affect(t, of)
}
