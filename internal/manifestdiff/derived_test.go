package manifestdiff_test

import (
	"strings"
	"testing"
)

// Labels that stand in no template are made of other fields. Where something selects by such a label, its fields
// count, and so does a key that an expression asks for. Elsewhere they do not.
func TestDerivedLabels(t *testing.T) {
	t.Parallel()
	selecting := func(label string) string {
		return together(strings.Replace(policy, "{app: web}", "{app: web, "+label+"}", 1), deployment)
	}
	of := func(version, kind, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: 'n', namespace: shop}\n" + more
	}
	set := func(label string) string { return strings.Replace(selecting(label), "Deployment", "StatefulSet", 1) }
	const (
		machine = "apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: vm, namespace: shop}\nspec: {address: 10.0.0.1, locality: r/z1}\n"
		job     = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, namespace: shop}\nspec: {template: {spec: {containers: [{name: c, image: a}]}}}\n"
		cilium  = "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: p, namespace: shop}\nspec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {job-name: migrate}}]}]}\n"
	)
	kyverno := of("kyverno.io/v1", "ClusterPolicy", "spec: {rules: [{match: {any: [{resources: {annotations: {team: a}, selector: {matchLabels: {'pay*': a}}}}]}, preconditions: {all: [{key: \"{{ request.object.metadata.labels.inj || '' }}\"}]}, mutate: {}}]}\n")
	zone := "topology.kubernetes.io/zone: a"
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"ordinals of a set whose pods are named", set("statefulset.kubernetes.io/pod-name: web-0"), "  replicas: 2\n", "  replicas: 2\n  ordinals: {start: 5}\n"}, "spec.ordinals"},
		{change{"replicas of a set whose pods are numbered", set("apps.kubernetes.io/pod-index: '0'"), "replicas: 2", "replicas: 3"}, "spec.replicas"},
		{change{"replicas of another kind", selecting("apps.kubernetes.io/pod-index: '0'"), "replicas: 2", "replicas: 3"}, ""},
		{change{"the zone of nodes", selecting(zone), "nodeSelector: {disk: ssd}", "nodeSelector: {topology.kubernetes.io/zone: a}"}, "nodeSelector"},
		{change{"the zone of nodes of another kind", selecting(zone), "disk: ssd", "disk: hdd"}, "nodeSelector"},
		{change{"the zone of an affinity", selecting(zone), "nodeSelector: {disk: ssd}", "affinity: {nodeAffinity: {}, podAffinity: {a: b}}"}, "spec.affinity"},
		{change{"the zone of a machine", together(strings.Replace(policy, "{app: web}", "{"+zone+"}", 1), machine), "r/z1", "r/z2"}, "spec.locality"},
		{change{"a label of nodes that a mesh copies", selecting("disk: ssd"), "disk: ssd}\n      containers", "disk: hdd}\n      containers"}, "nodeSelector"},
		{change{"an affinity to nodes that a mesh copies labels of", selecting("disk: ssd"), "nodeSelector: {disk: ssd}", "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: disk, operator: Exists}]}]}}}"}, "spec.affinity"},
		{change{"an affinity to pods", selecting("disk: ssd"), "      containers:", "      affinity: {podAntiAffinity: {a: [{labelSelector: {matchLabels: {app: web}}}]}}\n      containers:"}, ""},
		{change{"a hash of a template", selecting("pod-template-hash: a"), "shop/web:1", "shop/web:2"}, "image"},
		{change{"the name that Linkerd writes into a label", strings.Replace(policy, "app: web", "linkerd.io/proxy-deployment: web", 1), deployment, strings.Replace(deployment, "name: web, namespace", "name: web2, namespace", 1)}, "another workload is gone"},
		{change{"the name of a job", strings.Replace(policy, "app: web", "job-name: migrate", 1), job, strings.Replace(job, "name: migrate", "name: other", 1)}, "another workload is gone"},
		{change{"a job that calls by its name", cilium, "", job}, "calls as somebody whom policies may let in"},
		{change{"a name that a policy of Kuma has", together("type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {targetRef: {kind: Dataplane, name: web-0}, rules: [{default: {deny: [{spiffeID: {type: Exact, value: 'spiffe://td/x'}}]}}]}\n"), strings.Replace(deployment, "Deployment", "StatefulSet", 1), strings.NewReplacer("Deployment", "StatefulSet", "name: web, namespace", "name: web2, namespace").Replace(deployment)}, "another workload is gone"},
		{change{"a caller by the name of its Service", "type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {from: [{targetRef: {kind: MeshService, name: web_shop_svc_80}, default: {action: Allow}}]}\n", "", together(deployment, service)}, "Service shop/web) is new"},
		{change{"a caller by a label of an identity", together("type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: 'spiffe://td/front'}}]}}]}\n", "type: MeshIdentity\nmesh: default\nname: i\nspec: {spiffeID: {path: '/{{ label \"app\" }}'}}"), "", strings.ReplaceAll(deployment, "app: web", "app: front")}, "labels.app"},
		{change{"another value of a label of callers", strings.Replace(cilium, "job-name: migrate", "app: fe", 1), "", deployment}, ""},
		{change{"a value of a label of callers", strings.Replace(cilium, "job-name: migrate", "app: fe", 1), "", strings.ReplaceAll(deployment, "app: web", "app: fe")}, "labels.app"},
		{change{"a caller by its own name, without a Service", "type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {from: [{targetRef: {kind: MeshService, name: web_shop_svc}, default: {action: Allow}}]}\n", "", strings.Replace(deployment, "serviceAccountName: web", "serviceAccountName: other", 1)}, "calls as somebody"},
		{change{"a service of Kuma by the name of a workload", "type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {targetRef: {kind: MeshSubset, tags: {kuma.io/service: web_shop_svc}}, from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}\n", deployment, strings.Replace(deployment, "name: web, namespace", "name: web2, namespace", 1)}, "another workload is gone"},
		{change{"a name that Istio takes out of a label", together(strings.Replace(policy, "app: web", "service.istio.io/canonical-name: web", 1), deployment), "{app: web, track", "{app: other, track"}, "labels.app"},

		{change{"a label in an expression of Kyverno", together(policy, deployment, kyverno), "track: stable", "inj: a, track: stable"}, "labels.inj"},
		{change{"a label of a pattern of Kyverno", together(policy, deployment, kyverno), "track: stable", "payments: a, track: stable"}, "labels.payments"},
		{change{"an annotation without a domain of Kyverno", together(policy, deployment, kyverno), "checksum/config: abc", "checksum/config: abc, team: a"}, "annotations.team"},
		{change{"another annotation without a domain", together(policy, deployment, kyverno), "checksum/config: abc", "checksum/config: abc, person: a"}, ""},
		{change{"a name that a mutation asks for", together(policy, strings.Replace(kyverno, "pay*", "we*", 1)), deployment, strings.Replace(deployment, "name: web, namespace", "name: other, namespace", 1)}, "another workload is gone"},
		{change{"a label in a template of an injector", together(policy, deployment, strings.Replace(of("v1", "ConfigMap", "data: {a: '{{ if .ObjectMeta.Labels.inj }}'}"), "namespace: shop", "namespace: istio-system", 1)), "track: stable", "inj: a, track: stable"}, "labels.inj"},
		{change{"a label in an expression of a server", together(policy, deployment, of("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "spec: {matchConditions: [{expression: 'object.metadata.labels.a == 1 && object.metadata.labels.?inj == 2'}]}")), "track: stable", "inj: a, track: stable"}, "labels.inj"},
	} {
		tt.expect(t, tt.want)
	}
}
