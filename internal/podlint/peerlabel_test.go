package podlint_test

import "testing"

// TestPeerLabels has policies of Cilium that name callers by a label which no pods of the folder have, beside one that is spelt almost alike, and others.
func TestPeerLabels(t *testing.T) {
	t.Parallel()
	const (
		pods  = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: report, namespace: shop}, spec: {template: {metadata: {labels: {app: report, app.kubernetes.io/name: report}}}}}\n"
		other = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: payments, namespace: bank}, spec: {template: {metadata: {labels: {app: payments}}}}}\n"
	)
	cilium := func(rules string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {}, " + rules + "}}\n"
	}
	deny := func(labels string) string {
		return cilium("ingressDeny: [{fromEndpoints: [{matchLabels: {" + labels + "}}]}]")
	}
	for name, tt := range map[string]struct{ policy, others, want string }{
		"a misspelt value":               {deny("app: reprot"), pods, "p.yaml:1: spec.ingressDeny[0].fromEndpoints[0].matchLabels.app: no pods of the folder have this label with the value reprot in the namespace shop: did you mean report? [no-peer]"},
		"a key of Kubernetes":            {deny("'k8s:app.kubernetes.io/name': reprot"), pods, "did you mean report?"},
		"any source":                     {deny("'any:app': reprot"), pods, "did you mean report?"},
		"callees":                        {cilium("ingress: [{}], egress: [{toEndpoints: [{matchLabels: {app: reprot}}]}]"), pods, "spec.egress[0].toEndpoints[0].matchLabels.app: "},
		"several specs":                  {"{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, specs: [{endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {app: reprot}}]}]}]}\n", pods, "specs[0].ingress[0].fromEndpoints[0].matchLabels.app: "},
		"another namespace":              {deny("app: payment, 'k8s:io.kubernetes.pod.namespace': bank"), pods + other, "did you mean payments?"},
		"all namespaces":                 {"{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: p}, spec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {app: reprot}}]}]}}\n", pods, ""},
		"a namespace by an expression":   {cilium("ingress: [{fromEndpoints: [{matchLabels: {app: reprot}, matchExpressions: [{key: 'k8s:io.kubernetes.pod.namespace', operator: Exists}]}]}]"), pods, ""},
		"the right value":                {deny("app: report"), pods, ""},
		"the right value elsewhere":      {deny("app: report"), pods + other, ""},
		"a value that is not alike":      {deny("app: prometheus"), pods, ""},
		"another version":                {deny("app: report-v2"), pods, ""},
		"both values":                    {cilium("ingress: [{fromEndpoints: [{matchLabels: {app: reports}}, {matchLabels: {app: report}}]}]"), pods, ""},
		"a value of a namespace without": {deny("app: reprot, 'k8s:io.kubernetes.pod.namespace': cart"), pods, ""},
		"pods without a namespace":       {deny("app: reprot"), pods + "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {metadata: {labels: {app: reprot}}}}}\n", ""},
		"a chart that may make pods":     {deny("app: reprot"), pods + "---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: a, namespace: shop}}\n", ""},
		"a subject":                      {"{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: report}}, ingress: [{}]}}\n", pods, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.policy+tt.others, tt.want)
		})
	}
}
