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
