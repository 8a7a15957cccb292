package podlint_test

import (
	"fmt"
	"testing"
)

// TestPolicyNamespaces has policies of a namespace that is spelt almost as one of the folder, or of none, and others.
func TestPolicyNamespaces(t *testing.T) {
	t.Parallel()
	const (
		pods   = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}}}}\n"
		server = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: p, namespace: shpo}, spec: {podSelector: {matchLabels: {app: web}}, port: 8080}}\n"
	)
	istio := func(name, namespace, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s%s}, spec: {%s}}\n", name, namespace, spec)
	}
	const web, deny = "selector: {matchLabels: {app: web}}", "action: DENY, rules: [{}]"
	in := func(namespace string) string { return ", namespace: " + namespace }
	for name, tt := range map[string]struct{ policy, others, want string }{
		"a misspelt namespace":           {istio("p", in("shpo"), web), pods, "p.yaml:2: nothing else in the folder is of the namespace shpo, and the policy would select pods of shop: is that meant? [selects-nothing]"},
		"one without a selector":         {istio("p", in("shpo"), deny), pods, "is that meant?"},
		"Linkerd":                        {server, pods, "is that meant?"},
		"Cilium":                         {"{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shpo}, spec: {endpointSelector: {}, ingress: [{fromEntities: [all]}]}}\n", pods, "is that meant?"},
		"no namespace":                   {istio("p", "", web) + istio("q", in("shop"), web), pods, "p.yaml:2: the policy names no namespace, and others do: unless somebody applies it elsewhere, it is of the namespace default, and not of shop, where it would select pods [selects-nothing]"},
		"no namespace anywhere":          {istio("p", "", web), pods, ""},
		"the namespace":                  {istio("p", in("shop"), web), pods, ""},
		"a namespace that is not alike":  {istio("p", in("cart"), web), pods, ""},
		"a selector of no pods there":    {istio("p", in("shpo"), "selector: {matchLabels: {app: api}}"), pods, ""},
		"the root namespace":             {istio("p", in("istio-system"), web), pods, ""},
		"another number":                 {istio("p", in("shop2"), web), pods, ""},
		"a namespace of the folder":      {istio("p", in("shpo"), web), pods + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shpo}}\n", ""},
		"something else of it":           {istio("p", in("shpo"), web), pods + "---\n{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shpo}, spec: {selector: {app: web}, ports: [{port: 80}]}}\n", ""},
		"as many policies of each":       {istio("p", in("shops"), web) + istio("q", in("shop"), web), pods, ""},
		"more policies of the other":     {istio("p", in("shops"), web) + istio("q", in("shop"), web) + istio("r", in("shop"), web), pods, "p.yaml:2: "},
		"two letters exchanged":          {istio("p", in("shpo"), web) + istio("q", in("shop"), web), pods, "p.yaml:2: nothing else in the folder is of the namespace shpo, and the policy would select pods of shop: is that meant? [selects-nothing]"},
		"a kustomization":                {istio("p", "", web) + istio("q", in("shop"), web), pods + "---\n{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, namespace: shop, resources: [a.yaml]}\n", ""},
		"a tool that chooses one":        {istio("p", "", web) + istio("q", in("shop"), web), pods + "---\n{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: a, namespace: argocd}, spec: {destination: {namespace: shop}}}\n", ""},
		"pods without a namespace":       {istio("p", in("shpo"), web), "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {metadata: {labels: {app: web}}}}}\n" + pods, ""},
		"pods of the default namespace":  {istio("p", "", web) + istio("q", in("shop"), web), "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default}, spec: {template: {metadata: {labels: {app: web}}}}}\n" + pods, ""},
		"an operator that may make pods": {istio("p", in("shpo"), web), pods + "---\n{apiVersion: kafka.strimzi.io/v1, kind: Kafka, metadata: {name: bus, namespace: shpo}}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.policy+tt.others, tt.want)
		})
	}
}
