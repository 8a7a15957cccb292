package lab_test

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
		"the port of the Service":          {fmt.Sprintf(istio, "shop", "web", 80), web + to("8080"), "p.yaml:1: port 80 is that of Service shop/web, and its pods have 8080: "},
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
			checkPodWarnings(t, tt.policy+"\n"+tt.others, tt.want)
		})
	}
}
