package podlint_test

import (
	"fmt"
	"testing"
)

// TestPortsOfServices has policies that ask for a port which a Service of their pods has, and for other ports.
func TestPortsOfServices(t *testing.T) {
	t.Parallel()
	const (
		istio   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: %s}, spec: {selector: {matchLabels: {app: %s}}, rules: [{to: [{operation: {ports: ['%d']}}]}]}}"
		cilium  = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{toPorts: [{ports: [{port: '%d', protocol: TCP}]}]}]}}"
		mode    = "{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, mtls: {mode: STRICT}, portLevelMtls: {%d: {mode: DISABLE}}}}"
		pods    = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: shop}, spec: {template: {metadata: {labels: {app: web, name: %s}}, spec: {containers: [{name: a, image: a, ports: [%s]}]}}}}\n"
		service = "---\n{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {selector: {%s}, ports: [{name: a, port: 80, targetPort: %s}]}}\n"
	)
	web := fmt.Sprintf(pods, "web", "web", "{name: http, containerPort: 8080}")
	to := func(target string) string { return fmt.Sprintf(service, "app: web", target) }
	for name, tt := range map[string]struct {
		policy, others string
		// want is a part of the warning, "" for none.
		want string
	}{
		"the port of the Service":          {fmt.Sprintf(istio, "shop", "web", 80), web + to("8080"), "p.yaml:1: port 80 is that of Service shop/web, and its pods have 8080: a port is the workload's, not that of a Service: write 8080 [port-of-no-inbound]"},
		"a port by its name":               {fmt.Sprintf(istio, "shop", "web", 80), web + to("http"), "its pods have 8080"},
		"Cilium":                           {fmt.Sprintf(cilium, 80), web + to("8080"), "port 80 is that of Service shop/web"},
		"the mode of a port":               {fmt.Sprintf(mode, 80), web + to("8080"), "port 80 is that of Service shop/web"},
		"the port of the pods":             {fmt.Sprintf(istio, "shop", "web", 8080), web + to("8080"), ""},
		"a port that no pod names":         {fmt.Sprintf(istio, "shop", "web", 80), web + to("https"), ""},
		"a port of both":                   {fmt.Sprintf(istio, "shop", "web", 80), fmt.Sprintf(pods, "web", "web", "{containerPort: 80}") + to("8080"), ""},
		"the same port of the pods":        {fmt.Sprintf(istio, "shop", "web", 80), web + fmt.Sprintf(service, "app: web", "80"), ""},
		"no Service":                       {fmt.Sprintf(istio, "shop", "web", 80), web, ""},
		"a Service of other pods":          {fmt.Sprintf(istio, "shop", "web", 80), web + fmt.Sprintf(service, "app: api", "8080"), ""},
		"one of two workloads":             {fmt.Sprintf(istio, "shop", "web", 80), web + fmt.Sprintf(pods, "old", "old", "") + fmt.Sprintf(service, "name: web", "8080"), ""},
		"a policy of every namespace":      {fmt.Sprintf(istio, "istio-system", "web", 80), web + to("8080"), ""},
		"an operator that may make others": {fmt.Sprintf(istio, "shop", "web", 80), web + to("8080") + "---\n{apiVersion: kafka.strimzi.io/v1, kind: Kafka, metadata: {name: bus, namespace: shop}}\n", ""},
		"a selector of no pods":            {fmt.Sprintf(istio, "shop", "wbe", 80), web + to("8080"), "the policy selects no pods"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.policy+"\n"+tt.others, tt.want)
		})
	}
}

// TestNamesOfPorts has policies that ask for a port by a name which no container of their pods has, and by other names.
func TestNamesOfPorts(t *testing.T) {
	t.Parallel()
	const (
		linkerd = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: p, namespace: shop}, spec: {podSelector: {matchLabels: {app: web}}, port: %s, accessPolicy: all-unauthenticated}}"
		cilium  = "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{toPorts: [{ports: [{port: '%s', protocol: TCP}]}]}]}}"
		pods    = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: a, ports: [%s]}]}}}}\n"
		service = "---\n{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {selector: {app: web}, ports: [{name: https, port: 443, targetPort: 8080}]}}\n"
		kuma    = "{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p, namespace: shop}, spec: {targetRef: {kind: Dataplane, labels: {app: web}, sectionName: %s}, rules: [{default: {deny: [{spiffeID: {type: Exact, value: spiffe://td/ns/a/sa/b}}]}}]}}"
	)
	web := fmt.Sprintf(pods, "web", "{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}")
	for name, tt := range map[string]struct {
		policy, others string
		// want is a part of the warning, "" for none.
		want string
	}{
		"a misspelt name":              {fmt.Sprintf(linkerd, "htpp"), web, "p.yaml:1: no pods that the policy selects have a port with the name htpp (the containers of Deployment shop/web name http, metrics): by this name it is about no port of theirs [port-of-no-inbound]"},
		"the name of a Service's port": {fmt.Sprintf(linkerd, "https"), web + service, "the name https"},
		"Cilium":                       {fmt.Sprintf(cilium, "htpp"), web, "the name htpp"},
		"pods without a port":          {fmt.Sprintf(linkerd, "http"), fmt.Sprintf(pods, "web", ""), "the containers of Deployment shop/web name none"},
		"pods with a number alone":     {fmt.Sprintf(linkerd, "http"), fmt.Sprintf(pods, "web", "{containerPort: 8080}"), "the containers of Deployment shop/web name none"},
		"the name":                     {fmt.Sprintf(linkerd, "http"), web, ""},
		"Cilium, capitals":             {fmt.Sprintf(cilium, "HTTP"), web, ""},
		"a number":                     {fmt.Sprintf(linkerd, "8081"), web, ""},
		"one of two workloads":         {fmt.Sprintf(linkerd, "grpc"), web + fmt.Sprintf(pods, "old", "{name: grpc, containerPort: 1}"), ""},
		"a container that is injected": {fmt.Sprintf(linkerd, "linkerd-admin"), web, ""},
		"Kuma":                         {fmt.Sprintf(kuma, "htpp"), web + service, "the name htpp (the containers and Services of Deployment shop/web name http, https, metrics)"},
		"Kuma, the name":               {fmt.Sprintf(kuma, "http"), web + service, ""},
		"Kuma, the name of a Service":  {fmt.Sprintf(kuma, "https"), web + service, ""},
		"Kuma, a number":               {fmt.Sprintf(kuma, "'8080'"), web + service, ""},
		"Kuma without a Service":       {fmt.Sprintf(kuma, "htpp"), web, ""},
		"no workload":                  {fmt.Sprintf(linkerd, "http"), "", ""},
		"an operator":                  {fmt.Sprintf(linkerd, "htpp"), web + "---\n{apiVersion: kafka.strimzi.io/v1, kind: Kafka, metadata: {name: bus, namespace: shop}}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.policy+"\n"+tt.others, tt.want)
		})
	}
}
