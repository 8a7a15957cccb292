package manifestdiff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
)

// A policy that names no namespace is applied where a tool says. Where one side alone names the namespace, the
// policy may move, whatever the dialect takes an absent namespace for.
func TestUnplacedPolicies(t *testing.T) {
	t.Parallel()
	istio := func(name, namespace, method string) string {
		return "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: " + name + namespace + "}\nspec: {action: DENY, rules: [{to: [{operation: {methods: [" + method + "]}}]}]}\n"
	}
	cilium := func(kind, namespace, app string) string {
		return "apiVersion: cilium.io/v2\nkind: " + kind + "\nmetadata: {name: p" + namespace + "}\nspec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {app: " + app + "}}]}]}\n"
	}
	universal := func(action string) string {
		return "type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {from: [{targetRef: {kind: Mesh}, default: {action: " + action + "}}]}\n"
	}
	const none, usual, shop = "", ", namespace: default", ", namespace: shop"
	application := func(namespace string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\nspec: {source: {path: a}, destination: {namespace: " + namespace + "}}\n"
	}
	for name, tt := range map[string]struct {
		same, a, b string
		want       bool
	}{
		"the usual one, and none":                 {"", istio("p", usual, "GET"), istio("p", none, "GET"), true},
		"the usual one, and an empty one":         {"", istio("p", usual, "GET"), istio("p", ", namespace: ''", "GET"), true},
		"another one, and none":                   {"", istio("p", shop, "GET"), istio("p", none, "GET"), true},
		"the usual one, and none, of Cilium":      {"", cilium("CiliumNetworkPolicy", usual, "a"), cilium("CiliumNetworkPolicy", none, "a"), true},
		"the usual one, and none by another name": {"", istio("p", usual, "GET"), istio("q", none, "GET"), true},
		"gone beside one of the usual one":        {istio("q", usual, "GET"), istio("p", none, "GET"), "", true},
		"otherwise beside one of the usual one":   {istio("q", usual, "GET"), istio("p", none, "GET"), istio("p", none, "POST"), true},
		"none on both sides":                      {"", istio("p", none, "GET"), istio("p", none, "POST"), false},
		"none on both sides, of another name":     {"", istio("p", none, "GET"), istio("q", none, "GET"), false},
		"one on both sides":                       {"", istio("p", usual, "GET"), istio("p", usual, "POST"), false},
		"none, and gone":                          {istio("q", shop, "GET"), istio("p", none, "GET"), "", false},
		"the same beside one of the usual one":    {istio("p", none, "GET"), istio("q", usual, "GET"), istio("q", usual, "POST"), false},
		"one of the cluster":                      {istio("q", usual, "GET"), cilium("CiliumClusterwideNetworkPolicy", none, "a"), cilium("CiliumClusterwideNetworkPolicy", none, "b"), false},
		"none, where Argo CD applies others":      {together(application("shop"), istio("q", shop, "GET")), istio("p", none, "GET"), istio("p", none, "POST"), true},
		"none, where Argo CD applies for a mesh":  {application("istio-system"), istio("p", none, "GET"), istio("p", none, "POST"), true},
		"none, where Argo CD applies it alone":    {together(application("web"), istio("q", shop, "GET")), istio("p", none, "GET"), istio("p", none, "POST"), false},
		"one in universal form":                   {istio("q", usual, "GET"), universal("Deny"), universal("Allow"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := sideOf(t, together(tt.same, tt.a)), sideOf(t, together(tt.same, tt.b))
			for _, pair := range [][2]manifestdiff.Side{{a, b}, {b, a}} {
				for _, got := range []string{textOf(manifestdiff.Changes(pair[0], pair[1])), textOf(manifestdiff.Differences(pair[0], pair[1]))} {
					if strings.Contains(got, "namespace on one side alone") != tt.want && strings.Contains(got, "names no namespace") != tt.want || (got == "") == tt.want {
						t.Errorf("got %q, want %t", got, tt.want)
					}
				}
			}
		})
	}
}
