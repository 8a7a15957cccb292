package podlint_test

import (
	"fmt"
	"testing"
)

// TestAccountWarnings has policies that name an account of callers which the folder lacks, beside one that is spelt almost alike, and others.
func TestAccountWarnings(t *testing.T) {
	t.Parallel()
	const (
		pods    = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}, spec: {serviceAccountName: checkout}}}}\n"
		account = "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: payments, namespace: bank}}\n"
		server  = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: web, namespace: shop}, spec: {podSelector: {matchLabels: {app: web}}, port: http}}\n---\n"
	)
	istio := func(source string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {" + source + "}}]}]}}\n"
	}
	cilium := func(labels string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {" + labels + "}}]}]}}\n"
	}
	linkerd := func(kind, spec string) string {
		return server + fmt.Sprintf("{apiVersion: policy.linkerd.io/v1alpha1, kind: %s, metadata: {name: a, namespace: shop}, spec: {%s}}\n", kind, spec)
	}
	gateway := func(account string) string {
		return "{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {targetRefs: [{kind: Pod, selector: {matchLabels: {app: web}}}], action: ALLOW, enforcementLevel: Network, rules: [{sources: [{type: ServiceAccount, serviceAccount: {" + account + "}}]}]}}\n"
	}
	for name, tt := range map[string]struct{ policy, others, want string }{
		"a principal":                         {istio("principals: [cluster.local/ns/shop/sa/chekcout]"), pods, "p.yaml:1: spec.rules[0].from[0].source.principals[0]: nothing in the folder has the account chekcout of the namespace shop: did you mean checkout? [no-peer]"},
		"the account of an object":            {istio("principals: [cluster.local/ns/bank/sa/payment]"), pods + account, "did you mean payments?"},
		"an account of Istio":                 {istio("serviceAccounts: [bank/payment]"), pods + account, "did you mean payments?"},
		"one of the own namespace":            {istio("notServiceAccounts: [chekout]"), pods, "did you mean checkout?"},
		"a label of Cilium":                   {cilium("io.cilium.k8s.policy.serviceaccount: chekout"), pods, "did you mean checkout?"},
		"a label of another namespace":        {cilium("'k8s:io.cilium.k8s.policy.serviceaccount': payment, 'k8s:io.kubernetes.pod.namespace': bank"), pods + account, "did you mean payments?"},
		"a name of Linkerd":                   {linkerd("MeshTLSAuthentication", "identities: [payment.bank.serviceaccount.identity.linkerd.cluster.local]"), pods + account, "did you mean payments?"},
		"a reference of Linkerd":              {linkerd("MeshTLSAuthentication", "identityRefs: [{kind: ServiceAccount, name: payment, namespace: bank}]"), pods + account, "did you mean payments?"},
		"a source of Gateway API":             {gateway("name: chekcout"), pods, "p.yaml:1: spec.rules[0].sources[0].serviceAccount.name: nothing in the folder has the account chekcout of the namespace shop: did you mean checkout? [no-peer]"},
		"a source of another namespace":       {gateway("name: payment, namespace: bank"), pods + account, "did you mean payments?"},
		"all accounts of Gateway API":         {gateway("name: '*'"), pods, ""},
		"the right name":                      {istio("principals: [cluster.local/ns/shop/sa/checkout]"), pods, ""},
		"the right name of an object":         {istio("principals: [cluster.local/ns/bank/sa/payments]"), pods + account, ""},
		"a name that is not alike":            {istio("principals: [cluster.local/ns/shop/sa/prometheus]"), pods, ""},
		"another namespace":                   {istio("principals: [cluster.local/ns/cart/sa/chekcout]"), pods, ""},
		"another version":                     {istio("principals: [cluster.local/ns/bank/sa/payments2]"), pods + account, ""},
		"another place":                       {istio("principals: [cluster.local/ns/bank/sa/api-eu]"), pods + "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: api-us, namespace: bank}}\n", ""},
		"both names":                          {istio("principals: [cluster.local/ns/bank/sa/payments, cluster.local/ns/bank/sa/payment]"), pods + account, ""},
		"the account of each namespace":       {istio("principals: [cluster.local/ns/shop/sa/default]"), pods + "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: defaults, namespace: shop}}\n", ""},
		"a pattern":                           {istio("principals: [cluster.local/ns/shop/sa/chekcout*]"), pods, ""},
		"another trust domain":                {istio("principals: [west.example/ns/shop/sa/chekcout, east.example/ns/shop/sa/checkout]"), pods, ""},
		"the one trust domain":                {istio("principals: [east.example/ns/shop/sa/chekcout]"), pods, "did you mean checkout?"},
		"a chart that may have it":            {istio("principals: [cluster.local/ns/bank/sa/payment]"), pods + account + "---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: a, namespace: bank}}\n", ""},
		"an account without a namespace":      {istio("principals: [cluster.local/ns/bank/sa/payment]"), pods + account + "---\n{apiVersion: v1, kind: ServiceAccount, metadata: {name: payment}}\n", ""},
		"a kustomization with another suffix": {istio("principals: [cluster.local/ns/shop/sa/checkout2x]"), pods + "---\n{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, nameSuffix: 2x, resources: [a.yaml]}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.policy+tt.others, tt.want)
		})
	}
}
