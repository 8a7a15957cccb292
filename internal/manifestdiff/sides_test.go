package manifestdiff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Two sides are not alike where one of them alone opens something, whichever that is. A workload that
// opens nothing is no difference.
func TestDifferences(t *testing.T) {
	t.Parallel()
	host := strings.Replace(deployment, "serviceAccountName: web", "hostNetwork: true", 1)
	of := func(version, kind, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: 'n', namespace: shop}\n" + more
	}
	const dp = "type: Dataplane\nmesh: default\nname: web\nnetworking: {address: 10.0.0.1, inbound: [{name: in, port: 8080}]%s}\n"
	for name, tt := range map[string]struct {
		same, alone string
		want        string
	}{
		"a workload":                           {policy, deployment, ""},
		"a workload and its service":           {policy, together(deployment, service), ""},
		"an account":                           {policy, serviceAccount, ""},
		"a config":                             {policy, of("v1", "ConfigMap", "data: {a: b}"), ""},
		"an autoscaler":                        {policy, of("autoscaling/v2", "HorizontalPodAutoscaler", "spec: {}"), ""},
		"a role":                               {policy, of("rbac.authorization.k8s.io/v1", "ClusterRole", "rules: []"), ""},
		"the network of the host":              {policy, host, "hostNetwork"},
		"the network of the host, in a pod":    {policy, of("v1", "Pod", "spec: {hostNetwork: true}"), "hostNetwork"},
		"all power":                            {policy, strings.Replace(deployment, "runAsNonRoot", "privileged", 1), "privileged"},
		"the account of a caller":              {policy, strings.Replace(deployment, "serviceAccountName: web", "serviceAccountName: fe", 1), "serviceAccountName"},
		"ports that pass the sidecar":          {policy, strings.Replace(deployment, "checksum/config", "traffic.sidecar.istio.io/excludeInboundPorts", 1), "excludeInboundPorts"},
		"no sidecar":                           {policy, strings.Replace(deployment, "track: stable", "sidecar.istio.io/inject: 'false'", 1), "sidecar.istio.io/inject"},
		"a namespace without sidecars":         {policy, "apiVersion: v1\nkind: Namespace\nmetadata: {name: 'n', labels: {istio-injection: disabled}}", "istio-injection"},
		"a namespace of ambient":               {policy, "apiVersion: v1\nkind: Namespace\nmetadata: {name: 'n', labels: {istio.io/dataplane-mode: ambient}}", "dataplane-mode"},
		"a service of common pods":             {together(policy, deployment), service, "Service shop/web"},
		"a service of pods elsewhere":          {policy, service, "Service shop/web"},
		"a filter":                             {policy, of("networking.istio.io/v1alpha3", "EnvoyFilter", "spec: {}"), "EnvoyFilter"},
		"a webhook":                            {policy, of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "webhooks: []"), "Webhook"},
		"an application":                       {policy, of("argoproj.io/v1alpha1", "Application", "spec: {}"), "Application"},
		"a control plane":                      {policy, strings.Replace(deployment, "namespace: shop", "namespace: istio-system", 1), "Deployment istio-system/web"},
		"a config of a control plane":          {policy, strings.Replace(of("v1", "ConfigMap", "data: {a: b}"), "namespace: shop", "namespace: kuma-system", 1), "ConfigMap"},
		"a network policy":                     {policy, of("networking.k8s.io/v1", "NetworkPolicy", "spec: {podSelector: {}}"), "NetworkPolicy"},
		"metrics of Kuma":                      {policy, "type: MeshMetric\nmesh: default\nname: m\nspec: {}", "MeshMetric"},
		"a Dataplane":                          {policy, strings.Replace(dp, "%s", "", 1), ""},
		"a Dataplane with probes":              {policy, strings.Replace(strings.Replace(dp, "%s", "", 1), "networking", "probes: {port: 9000}\nnetworking", 1), "probes"},
		"a Dataplane with outbounds of others": {policy, strings.Replace(dp, "%s", ", outbound: [{address: 0.0.0.0, port: 1, tags: {a: b}}]", 1), "networking.outbound"},
		"a policy of a hook":                   {deployment, strings.Replace(policy, "namespace: shop}", "namespace: shop, annotations: {helm.sh/hook: test}}", 1), "helm.sh/hook"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			without, with := sideOf(t, tt.same), sideOf(t, together(tt.same, tt.alone))
			for i, pair := range [][2]manifestdiff.Side{{with, without}, {without, with}} {
				got := textOf(manifestdiff.Differences(pair[0], pair[1]))
				if !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
					t.Errorf("side %d alone: %q, want %q", i, got, tt.want)
				}
			}
			if got := manifestdiff.Differences(with, with); len(got) > 0 {
				t.Errorf("one side beside itself: %s", textOf(got))
			}
		})
	}
}

// What Kustomize applies has a part in the authorization, and so has each of its patches. kubectl applies
// no document without a kind.
func TestKustomize(t *testing.T) {
	t.Parallel()
	parse := func(file, yaml string) []manifest.Document { return parse(t, file, yaml) }
	patch := parse("d/ops.json", `{"op": "remove", "path": "/spec/rules/0"}`)
	for name, kustomization := range map[string][]manifest.Document{
		"with a kind":    parse("d/k.yaml", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [p.yaml]\n"),
		"a component":    parse("d/k.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"),
		"without a kind": parse("d:1/kustomization.yml", "resources: [p.yaml]\n"),
	} {
		old := manifestdiff.Side{Others: kustomization}
		recent := manifestdiff.Side{Others: append(parse("d/ops.json", `{"op": "remove", "path": "/spec/rules/1"}`), kustomization...)}
		if got := manifestdiff.Changes(old, recent); len(got) != 1 {
			t.Errorf("%s: %s", name, textOf(got))
		}
		old.Others = append(old.Others, patch...)
		if got := manifestdiff.Changes(old, recent); len(got) != 2 {
			t.Errorf("%s, another patch: %s", name, textOf(got))
		}
		recent.PassedOver = []string{"d/p.YAML"}
		if got := textOf(manifestdiff.Changes(recent, recent)); !strings.Contains(got, "d/p.YAML") {
			t.Errorf("%s, a file that is passed over: %s", name, got)
		}
	}
	if got := manifestdiff.Changes(manifestdiff.Side{}, manifestdiff.Side{Others: patch, PassedOver: []string{"p.YAML"}}); len(got) > 0 {
		t.Errorf("a patch of no Kustomization: %s", textOf(got))
	}
}
