package podlint_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPodsWithoutProxy has policies of pods that have no proxy, or whose ports the proxy does not see, and of others.
func TestPodsWithoutProxy(t *testing.T) {
	t.Parallel()
	const (
		istio   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}}}\n"
		linkerd = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: p, namespace: shop}, spec: {podSelector: {matchLabels: {app: web}}, port: 8080, accessPolicy: all-authenticated}}\n"
		cilium  = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEntities: [all]}]}}\n"
		all     = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {}}\n"
	)
	pods := func(metadata, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {%s}, spec: {%s}}}}\n", metadata, spec)
	}
	namespace := func(metadata string) string {
		return "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, " + metadata + "}}\n"
	}
	noted := func(annotation string) string { return "labels: {app: web}, annotations: {" + annotation + "}" }
	const plain = "labels: {app: web}"
	for name, tt := range map[string]struct{ policy, others, want string }{
		"Istio, a label":                {istio, pods("labels: {app: web, sidecar.istio.io/inject: 'false'}", ""), "p.yaml:1: connections to all pods that the policy selects go past the proxy, or there is none: Deployment shop/web has sidecar.istio.io/inject: false [selects-nothing]"},
		"Istio, an annotation":          {istio, pods(noted("sidecar.istio.io/inject: 'false'"), ""), "has sidecar.istio.io/inject: false"},
		"Istio, ports":                  {istio, pods(noted("traffic.sidecar.istio.io/excludeInboundPorts: '8080'"), "containers: [{name: a, image: a, ports: [{containerPort: 8080}]}]"), "has traffic.sidecar.istio.io/excludeInboundPorts: 8080"},
		"Istio, no ports included":      {istio, pods(noted("traffic.sidecar.istio.io/includeInboundPorts: ''"), "containers: [{name: a, image: a, ports: [{containerPort: 8080}]}]"), "has traffic.sidecar.istio.io/includeInboundPorts: "},
		"Istio, the host":               {istio, pods(plain, "hostNetwork: true"), "has hostNetwork: true"},
		"Linkerd":                       {linkerd, pods(noted("linkerd.io/inject: disabled"), ""), "has linkerd.io/inject: disabled"},
		"Linkerd, ports":                {linkerd, pods(noted("config.linkerd.io/skip-inbound-ports: '80-8080,9090'"), ""), "has config.linkerd.io/skip-inbound-ports: 80-8080,9090"},
		"Cilium, the host":              {cilium, pods(plain, "hostNetwork: true"), "has hostNetwork: true"},
		"Istio, a namespace without":    {istio, pods(plain, "") + namespace("labels: {istio-injection: disabled}"), "Deployment shop/web has a Namespace with istio-injection: disabled"},
		"Istio, pods and a namespace":   {istio, pods("labels: {app: web, sidecar.istio.io/inject: 'true'}", "") + namespace("labels: {istio-injection: disabled}"), "has a Namespace with istio-injection: disabled"},
		"Istio, a proxy by hand":        {istio, pods(plain, "containers: [{name: a, image: a}, {name: istio-proxy, image: auto}]") + namespace("labels: {istio-injection: disabled}"), ""},
		"Istio, a namespace with":       {istio, pods(plain, "") + namespace("labels: {istio-injection: enabled}"), ""},
		"Istio, a namespace elsewhere":  {istio, pods(plain, "") + strings.Replace(namespace("labels: {istio-injection: disabled}"), "shop", "cart", 1), ""},
		"Linkerd, a namespace without":  {linkerd, pods(plain, "") + namespace("annotations: {linkerd.io/inject: disabled}"), "has a Namespace with linkerd.io/inject: disabled"},
		"Linkerd, pods and a namespace": {linkerd, pods(noted("linkerd.io/inject: enabled"), "") + namespace("annotations: {linkerd.io/inject: disabled}"), ""},
		"Cilium, a namespace without":   {cilium, pods(plain, "") + namespace("labels: {istio-injection: disabled}"), ""},
		"injected":                      {istio, pods("labels: {app: web, sidecar.istio.io/inject: 'true'}", "hostNetwork: false"), ""},
		"Istio, all ports included":     {istio, pods(noted("traffic.sidecar.istio.io/includeInboundPorts: '*'"), ""), ""},
		"Istio, no ports excluded":      {istio, pods(noted("traffic.sidecar.istio.io/excludeInboundPorts: ''"), ""), ""},
		"Istio, another port":           {istio, pods(noted("traffic.sidecar.istio.io/excludeInboundPorts: '9090'"), "containers: [{name: a, image: a, ports: [{containerPort: 8080}]}]"), ""},
		"Istio, the port included":      {istio, pods(noted("traffic.sidecar.istio.io/includeInboundPorts: '8080'"), "containers: [{name: a, image: a, ports: [{containerPort: 8080}]}]"), ""},
		"Linkerd, another port":         {linkerd, pods(noted("config.linkerd.io/skip-inbound-ports: '9090'"), ""), ""},
		"ambient":                       {istio, pods("labels: {app: web, sidecar.istio.io/inject: 'false', istio.io/dataplane-mode: ambient}", ""), ""},
		"a namespace in ambient mode":   {istio, pods(noted("sidecar.istio.io/inject: 'false'"), "") + "---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {istio.io/dataplane-mode: ambient}}}\n", ""},
		"Cilium, no sidecar":            {cilium, pods(noted("sidecar.istio.io/inject: 'false'"), ""), ""},
		"a gateway":                     {istio, pods(noted("sidecar.istio.io/inject: 'false'"), "containers: [{name: istio-proxy, image: proxyv2}]"), ""},
		"a gateway on the host":         {istio, pods(plain, "hostNetwork: true, containers: [{name: istio-proxy, image: auto}]"), ""},
		"a gateway without redirects":   {istio, pods(noted("traffic.sidecar.istio.io/includeInboundPorts: ''"), "containers: [{name: istio-proxy, image: auto, ports: [{containerPort: 8080}]}]"), ""},
		"a proxy beside a program":      {istio, pods(plain, "hostNetwork: true, containers: [{name: a, image: a}, {name: istio-proxy, image: auto}]"), "has hostNetwork: true"},
		"Cilium, a gateway":             {cilium, pods(plain, "hostNetwork: true, containers: [{name: istio-proxy, image: auto}]"), "has hostNetwork: true"},
		"a label before the annotation": {istio, pods("labels: {app: web, sidecar.istio.io/inject: 'true'}, annotations: {sidecar.istio.io/inject: 'false'}", ""), ""},
		"a label after the annotation":  {istio, pods("labels: {app: web, sidecar.istio.io/inject: 'false'}, annotations: {sidecar.istio.io/inject: 'true'}", ""), "has sidecar.istio.io/inject: false"},
		"Linkerd, a label":              {linkerd, pods("labels: {app: web, linkerd.io/inject: disabled}", ""), ""},
		"one of two workloads":          {all, pods(noted("sidecar.istio.io/inject: 'false'"), "") + "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: api, namespace: shop}, spec: {template: {metadata: {labels: {app: api}}}}}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.policy+tt.others, tt.want)
		})
	}
}
