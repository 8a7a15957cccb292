package networkpolicy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
)

// A rule about nodes, or about another protocol than TCP, is named, and its neighbours are not.
func TestUnplayedRules(t *testing.T) {
	t.Parallel()
	ps := parseAll(t, one("CiliumNetworkPolicy", "name: web, namespace: shop", `spec: {endpointSelector: {}, ingress: [
  {fromEntities: [world]}, {fromEntities: [host]}, {toPorts: [{ports: [{port: "53", protocol: UDP}]}]},
  {toPorts: [{ports: [{port: "53", protocol: TCP}]}]}, {icmps: [{fields: [{type: 8}]}]},
  {fromEndpoints: [{matchExpressions: [{key: "reserved:remote-node", operator: Exists}]}]}, {fromEndpoints: [{matchLabels: {reserved.host: ""}}]}],
  ingressDeny: [{fromEntities: [cluster]}, {fromEntities: [kube-apiserver]}]}`))
	want := []string{"spec.ingress[1] of shop/web", "spec.ingress[2] of shop/web", "spec.ingress[4] of shop/web", "spec.ingress[5] of shop/web", "spec.ingressDeny[1] of shop/web"}
	if diff := cmp.Diff(want, networkpolicy.UnplayedRules(ps)); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// What a rule lets in is written as its author could have written it, and what differs is written differently.
func TestPartsAreWrittenAsYAML(t *testing.T) {
	t.Parallel()
	ps := parseAll(t, one("CiliumNetworkPolicy", "name: web, namespace: shop", `spec: {endpointSelector: {}, ingress: [
  {fromEndpoints: [{matchLabels: {"reserved:host": ""}}, {matchExpressions: [{key: "reserved:host", operator: NotIn, values: ["", "8"]}]}], toPorts: [{ports: [{port: "80", endPort: 90}, {port: "0"}]}]},
  {toPorts: [{ports: [{port: "53", protocol: UDP}]}]}, {icmps: [{fields: [{type: 0}, {type: "0", family: IPv6}]}], authentication: {mode: required}}, {fromEntities: [host, host]}]}`))
	const before, after = "a rule lets in what the lab cannot play: ", ` for each endpoint with io.kubernetes.pod.namespace in ["shop"]`
	want := []string{
		`{authentication: {mode: required}, icmps: [{fields: [{type: 0}, {family: IPv6, type: "0"}]}]}`,
		`{fromEndpoints: [{matchExpressions: [{key: "reserved:host", operator: NotIn, values: ["", "8"]}]}], toPorts: [{ports: [{port: "0"}]}]}`,
		`{fromEndpoints: [{matchExpressions: [{key: "reserved:host", operator: NotIn, values: ["", "8"]}]}], toPorts: [{ports: [{port: "80", endPort: 90}]}]}`,
		`{fromEndpoints: [{matchLabels: {"reserved:host": ""}}], toPorts: [{ports: [{port: "0"}]}]}`,
		`{fromEndpoints: [{matchLabels: {"reserved:host": ""}}], toPorts: [{ports: [{port: "80", endPort: 90}]}]}`,
		`{fromEntities: [host]}`,
		`{toPorts: [{ports: [{port: "53", protocol: UDP}]}]}`,
	}
	for i := range want {
		want[i] = before + want[i] + after
	}
	if diff := cmp.Diff(want, networkpolicy.LetIn(ps)); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}
