package plugins

import "testing"

// meshOfCilium has callers and an inbound that the labels, namespaces and ports of the table tell apart.
const meshOfCilium = `
case: effects
workloads:
  - {name: backend, labels: {app: backend, a: b, A: B, a_b: c_d, a.b/c: d}, inbounds: [{name: http, port: 80, protocol: http, mtls: permissive}, {name: web, port: 8080, protocol: http}, {name: a, port: 85, protocol: tcp}]}
  - {name: front, labels: {app: front, a: b}}
  - {name: empty, labels: {a: "", A: B}}
  - {name: third, labels: {a: c, a_b: c_d, a.b/c: d}}
  - {name: none, labels: {x: y}}
  - {name: other, namespace: shop, labels: {a: b}}
  - {name: far, namespace: a, labels: {app: backend}}
policies:
  - {apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: a}, spec: {endpointSelector: {}, ingress: [{}]}}
requests:
  - {from: front, to: backend/http, want: allow}
`

// TestCiliumEffects holds what the policies do that both take.
func TestCiliumEffects(t *testing.T) {
	t.Parallel()
	of := newTable(t, drawnOfCilium(), meshOfCilium)
	of.unread, of.distinct = map[string]int{`\\p{Greek}`: 1}, true
	of.random = `{a: b, "any:a": c}`
	spec := func(text string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: a}, spec: {endpointSelector: {}, " + text + "}}"
	}
	of.seeds = []seed{
		{spec("ingress: [{fromEndpoints: [{matchLabels: {A: B}}]}]"), 2, `"exact":"spiffe://trust-domain.mesh/ns/default/sa/empty"`, `"exact":"spiffe://trust-domain.mesh/ns/default/sa/none"`},
		{spec("ingress: [{fromCIDR: [10.0.0.0/8]}]"), 1, `"prefixLen":8`, `"prefixLen":9`},
		{spec(`ingress: [{toPorts: [{ports: [{port: "80", protocol: TCP}], rules: {http: [{headerMatches: [{name: x-a, value: b}]}]}}]}]`), 0, `"exact":"b"`, `"exact":"c"`},
		{spec("egress: [{}]"), 0, `{}`, `{"network":[{"rules":{}}]}`},
		{spec("ingress: [{fromEndpoints: []}]"), 0, `{"network":[{"rules":{}}]}`, `{}`},
	}
	cilium.affect(t, of)
}
