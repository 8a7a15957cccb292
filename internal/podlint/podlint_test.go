package podlint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podlint"
)

// TestWarn has policies whose selector is met by no workload of the folder in their namespace, and others.
func TestWarn(t *testing.T) {
	t.Parallel()
	const (
		istio   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: %s}, spec: {%s}}"
		cilium  = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: %s}, spec: {endpointSelector: {%s}, ingress: [{}]}}"
		linkerd = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: p, namespace: %s}, spec: {podSelector: {%s}, port: grpc}}"
		pods    = "---\n{apiVersion: apps/v1, kind: %s, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web, tier: front}}}}}\n"
	)
	web := fmt.Sprintf(pods, "Deployment")
	labels := func(text string) string { return "selector: {matchLabels: {" + text + "}}" }
	for name, tt := range map[string]struct {
		policy, pods string
		// want is a part of the warning, "" for none.
		want string
	}{
		"another value":                     {fmt.Sprintf(istio, "shop", labels("app: wbe")), fmt.Sprintf(pods, "Deployment"), "p.yaml:1: the policy selects no pods of the workloads that the folder has in its namespace (Deployment shop/web: "},
		"the nearest of two workloads":      {fmt.Sprintf(istio, "shop", labels("app: wbe")), strings.ReplaceAll(web, "web", "api") + web, "(Deployment shop/web: "},
		"pods of another namespace":         {fmt.Sprintf(istio, "shop", labels("app: api")), web + strings.NewReplacer("shop", "cart", "web", "api").Replace(web), "(Deployment shop/web: the policy asks for the label \"app\" with value \"api\", the workload has \"web\"): in the namespace cart it would select Deployment cart/api [selects-nothing]"},
		"the labels of a StatefulSet":       {fmt.Sprintf(istio, "shop", labels("app: web")), fmt.Sprintf(pods, "StatefulSet"), ""},
		"no selector":                       {fmt.Sprintf(istio, "shop", ""), fmt.Sprintf(pods, "Deployment"), ""},
		"another namespace":                 {fmt.Sprintf(istio, "cart", labels("app: wbe")), fmt.Sprintf(pods, "Deployment"), ""},
		"every namespace":                   {fmt.Sprintf(istio, "istio-system", labels("app: wbe")), fmt.Sprintf(pods, "Deployment"), ""},
		"no workload":                       {fmt.Sprintf(istio, "shop", labels("app: wbe")), "", ""},
		"a label that Istio computes":       {fmt.Sprintf(istio, "shop", labels("service.istio.io/canonical-name: wbe")), fmt.Sprintf(pods, "Deployment"), ""},
		"Cilium, another value":             {fmt.Sprintf(cilium, "shop", "matchLabels: {app: wbe}"), fmt.Sprintf(pods, "DaemonSet"), "(DaemonSet shop/web: "},
		"Cilium, an expression":             {fmt.Sprintf(cilium, "shop", "matchExpressions: [{key: tier, operator: DoesNotExist}]"), fmt.Sprintf(pods, "Deployment"), "(Deployment shop/web: "},
		"Cilium, a value":                   {fmt.Sprintf(cilium, "shop", "matchExpressions: [{key: app, operator: In, values: [a, web]}]"), fmt.Sprintf(pods, "Deployment"), ""},
		"Cilium, two namespaces":            {"{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: p}, spec: {endpointSelector: {matchLabels: {tier: front}, matchExpressions: [{key: k8s:io.kubernetes.pod.namespace, operator: In, values: [cart, shop]}]}, ingress: [{}]}}", strings.NewReplacer("shop", "cart", "front", "back").Replace(web) + web, ""},
		"Cilium, no pods of two namespaces": {"{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: p}, spec: {endpointSelector: {matchLabels: {tier: frnot}, matchExpressions: [{key: k8s:io.kubernetes.pod.namespace, operator: In, values: [cart, shop]}]}, ingress: [{}]}}", strings.NewReplacer("shop", "cart", "front", "back").Replace(web) + web, "(Deployment shop/web: "},
		"Linkerd, another value":            {fmt.Sprintf(linkerd, "shop", "matchLabels: {app: wbe}"), fmt.Sprintf(pods, "Deployment"), "(Deployment shop/web: "},
		"Linkerd, the labels":               {fmt.Sprintf(linkerd, "shop", "matchLabels: {app: web}"), fmt.Sprintf(pods, "Deployment"), ""},
		"a chart that may make pods":        {fmt.Sprintf(istio, "shop", labels("app: api")), web + "---\n{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: a, namespace: flux-system}, spec: {targetNamespace: shop}}\n", ""},
		"an operator that may make pods":    {fmt.Sprintf(istio, "shop", labels("app: bus")), web + "---\n{apiVersion: kafka.strimzi.io/v1, kind: Kafka, metadata: {name: bus, namespace: shop}}\n", ""},
		"Prometheus":                        {fmt.Sprintf(istio, "shop", labels("app: bus")), web + "---\n{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, metadata: {name: bus, namespace: shop}}\n", ""},
		"what Prometheus asks":              {fmt.Sprintf(istio, "shop", labels("app: bus")), web + "---\n{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: bus, namespace: shop}}\n", "(Deployment shop/web: "},
		"a job that KEDA makes":             {fmt.Sprintf(istio, "shop", labels("app: bus")), web + "---\n{apiVersion: keda.sh/v1alpha1, kind: ScaledJob, metadata: {name: bus, namespace: shop}}\n", ""},
		"a gateway with labels of its own":  {fmt.Sprintf(istio, "shop", labels("app: bus")), web + "---\n{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: bus, namespace: shop}, spec: {infrastructure: {labels: {app: bus}}}}\n", ""},
		"an operator elsewhere":             {fmt.Sprintf(istio, "shop", labels("app: bus")), web + "---\n{apiVersion: kafka.strimzi.io/v1, kind: Kafka, metadata: {name: bus, namespace: cart}}\n", "(Deployment shop/web: "},
		"what makes no pods":                {fmt.Sprintf(istio, "shop", labels("app: wbe")), web + "---\n{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: a, namespace: shop}, spec: {}}\n---\n{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: shop}, spec: {}}\n", "(Deployment shop/web: "},
		"a kustomization with labels":       {fmt.Sprintf(istio, "shop", labels("app: api")), web + "---\n{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, commonLabels: {app: api}}\n", ""},
		"a kustomization of another folder": {fmt.Sprintf(istio, "shop", labels("app: api")), web + "---\n{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, resources: [../api]}\n", ""},
		"a kustomization with a list":       {fmt.Sprintf(istio, "shop", labels("app: api")), web + "---\n{apiVersion: kustomize.config.k8s.io/v1beta1, kind: Kustomization, namespace: shop, resources: [a.yaml]}\n", "(Deployment shop/web: "},
		"a workload without a namespace":    {fmt.Sprintf(istio, "shop", labels("app: api")), web + "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: api}, spec: {template: {metadata: {labels: {app: api}}}}}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.policy+"\n"+tt.pods, tt.want)
		})
	}
}

// checkWarnings holds that the warnings about a file have a part, or that there is none where it is "".
func checkWarnings(t *testing.T, text, want string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(lab.Choice{}, filepath.Dir(name))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range podlint.Warn(files, lab.Surroundings{}) {
		got = append(got, w.String())
	}
	if text := strings.Join(got, "; "); !strings.Contains(text, want) || (text == "") != (want == "") {
		t.Errorf("got %q, want %q", text, want)
	}
}
