package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// One side names callers by labels and the other one by accounts. A pod has any account beside any label, so that a label
// stands for no account of the same name.
func TestAccountsBesideLabels(t *testing.T) {
	t.Parallel()
	cnp := func(rules string) string {
		return "---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: c, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, " + rules + "}}\n"
	}
	from := func(labels string) string {
		return cnp("ingress: [{fromEndpoints: [{matchLabels: {" + labels + "}}]}]")
	}
	istio := func(name, action, source string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, action: %s, rules: [{from: [{source: {%s}}]}]}}\n", name, action, source)
	}
	// Cilium takes plaintext, and Istio does so here.
	const (
		modes   = "---\n{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: default, namespace: istio-system}, spec: {mtls: {mode: PERMISSIVE}}}\n"
		gateway = "---\n{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: g, namespace: shop}, spec: {targetRefs: [{kind: Pod, selector: {matchLabels: {app: web}}}], action: ALLOW, enforcementLevel: Network, rules: [{sources: [{type: ServiceAccount, serviceAccount: {name: fe}}]}]}}\n"
		fe      = "principals: [cluster.local/ns/shop/sa/fe]"
		account = "io.cilium.k8s.policy.serviceaccount: fe"
		cluster = "ingress: [{fromEntities: [cluster]}]"
	)
	for name, tt := range map[string]struct {
		old, recent string
		widens      bool
	}{
		"the label of the same name":               {modes + istio("i", "ALLOW", fe), from("app: fe"), true},
		"the label, of Gateway API":                {gateway, from("app: fe"), true},
		"the label and the account":                {modes + istio("i", "ALLOW", fe), from("app: fe, " + account), false},
		"the account":                              {modes + istio("i", "ALLOW", fe), from(account), false},
		"the account, of Gateway API":              {gateway, from(account), false},
		"a label in a namespace":                   {modes + istio("i", "ALLOW", "namespaces: [shop]"), from("app: fe"), false},
		"a label beside an account that is denied": {modes + istio("i", "ALLOW", "namespaces: [shop]") + istio("d", "DENY", "principals: [cluster.local/ns/shop/sa/evil]"), from("app: fe"), true},
		"a label beside accounts by their ends":    {modes + istio("i", "ALLOW", "namespaces: [shop]") + istio("d", "DENY", "principals: ['*-evil']"), from("app: fe"), true},
		"a label beside accounts by their starts":  {modes + istio("i", "ALLOW", "namespaces: [shop]") + istio("d", "DENY", "principals: ['cluster.local/ns/shop/sa/e*']"), from("app: fe"), true},
		"the account of another namespace":         {modes + istio("i", "ALLOW", fe), from(account + ", 'k8s:io.kubernetes.pod.namespace': other"), true},
		"the cluster beside a namespace":           {modes + istio("i", "DENY", "namespaces: [evil]"), cnp(cluster), true},
		"the cluster":                              {modes, cnp(cluster), false},
		"an account in the place of its label":     {from("app: fe"), modes + istio("i", "ALLOW", fe), true},
		"an account in the place of its own":       {from(account), modes + istio("i", "ALLOW", fe), false},
		"an account by a label that it lacks":      {cnp("enableDefaultDeny: {ingress: false}, ingressDeny: [{fromEndpoints: [{matchLabels: {app: evil}}]}]"), modes + istio("i", "DENY", "principals: [cluster.local/ns/shop/sa/evil]"), true},
		"one dialect":                              {from("app: fe"), from("app: fe, tier: a"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for beside, compare := range map[bool]func(a, b Side, to string) (*Difference, error){false: Diff, true: DiffBeside} {
				d, err := compare(sideOf(t, tt.old), sideOf(t, tt.recent), "")
				if err != nil {
					t.Fatal(err)
				}
				told := strings.Contains(strings.Join(d.Opens, "; "), "by labels and the other one by accounts")
				for _, c := range d.Cases {
					// What becomes of plaintext is another matter: Cilium takes it, and the text of Gateway API names no mesh.
					for i := range c.Comparisons {
						c.Comparisons[i].Changes = slices.DeleteFunc(c.Comparisons[i].Changes, func(of Change) bool { return of.Text == "callers in plaintext" })
					}
					told = told || c.widens()
				}
				if told != tt.widens && !(beside && told) {
					t.Errorf("beside %t: %q, want %t", beside, d.Opens, tt.widens)
				}
			}
		})
	}
}
