package manifestdiff_test

import (
	"strings"
	"testing"
)

// What a sidecar, a gateway or an agent takes from elsewhere than its own container may let somebody in.
func TestWhatSidecarsTake(t *testing.T) {
	t.Parallel()
	all := together(policy, deployment, service, serviceAccount)
	object := func(version, kind, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: 'n', namespace: shop}\n" + more
	}
	route := func(more string) string {
		return object("networking.istio.io/v1", "VirtualService", "spec: {hosts: [a], "+more+"}")
	}
	gateway := func(mount string) string {
		return strings.NewReplacer("name: log,", "name: istio-proxy, volumeMounts: ["+mount+"],", "kind: Deployment", "kind: StatefulSet").Replace(deployment)
	}
	const (
		dp     = "type: Dataplane\nmesh: default\nname: backend\nnetworking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: backend}}]}\n"
		prefix = "type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {rules: [{default: {allow: [{spiffeID: {type: Prefix, value: 'spiffe://default/ba'}}]}}]}\n"
		given  = "resourceVersion: '1', "
	)
	endpoint := func(more string) string {
		return "apiVersion: cilium.io/v2\nkind: CiliumEndpoint\nmetadata: {" + more + "name: 'n', namespace: shop}\nstatus: {identity: {id: 7}}\n"
	}
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"a mount with the name of the token in a sidecar", together(policy, strings.Replace(gateway("{name: data, mountPath: /a}"), "volumes: [", "volumes: [{name: kube-api-access-abcde, projected: {sources: [{downwardAPI: {items: [{path: ca.pem}]}}]}}, ", 1)), "volumeMounts: [{name: data, mountPath: /a}]", "volumeMounts: [{name: data, mountPath: /a}, {name: kube-api-access-abcde, mountPath: /etc/ca}]"}, "containers[1]"},
		{change{"such a mount in a pod", together(policy, "apiVersion: v1\nkind: Pod\nmetadata: {name: 'n', namespace: shop}\nspec: {containers: [{name: istio-proxy}], volumes: [{name: kube-api-access-abcde, projected: {sources: [{serviceAccountToken: {}}]}}]}"), "[{name: istio-proxy}]", "[{name: istio-proxy, volumeMounts: [{name: kube-api-access-abcde, mountPath: /etc/ca}]}]"}, "containers[0]"},
		{change{"a claim in the place of a volume of a sidecar", together(policy, gateway("{name: data, mountPath: /etc/ca}")), "replicas: 2", "replicas: 2\n  volumeClaimTemplates: [{metadata: {name: data}}]"}, "spec.volumeClaimTemplates"},
		{change{"a claim of a program", strings.Replace(all, "Deployment", "StatefulSet", 1), "replicas: 2", "replicas: 2\n  volumeClaimTemplates: [{metadata: {name: more}}]"}, ""},
		{change{"a volume of a sidecar in another container", together(policy, strings.Replace(gateway("{name: ca, mountPath: /etc/ca}"), "volumes: [", "volumes: [{name: ca, emptyDir: {}}, ", 1)), "[{name: data, mountPath: /data}]", "[{name: data, mountPath: /data}, {name: ca, mountPath: /ca}]"}, "containers[0].volumeMounts"},
		{change{"a volume that a template of an injector mounts", together(policy, strings.Replace(deployment, "volumes: [", "volumes: [{name: rules, emptyDir: {}}, ", 1), strings.Replace(object("v1", "ConfigMap", "data: {config: 'volumeMounts: [{name: rules, mountPath: /a}]'}"), "namespace: shop", "namespace: istio-system", 1)), "{name: rules, emptyDir: {}}", "{name: rules, configMap: {name: a}}"}, "volumes[0]"},
		{change{"a volume that it does not mount", together(all, strings.Replace(object("v1", "ConfigMap", "data: {config: 'volumeMounts: [{name: rules, mountPath: /a}]'}"), "namespace: shop", "namespace: istio-system", 1)), "{name: data, emptyDir: {}}", "{name: data, configMap: {name: a}}"}, ""},
		{change{"a native sidecar of a new workload", policy, "", strings.Replace(deployment, "name: migrate,", "name: istio-proxy,", 1)}, "initContainers[0]"},
		{change{"a folder of the node by a claim", all, "", object("v1", "PersistentVolume", "spec: {hostPath: {path: /}}")}, "PersistentVolume"},
		{change{"a disk", all, "", object("v1", "PersistentVolume", "spec: {csi: {driver: ebs.csi.aws.com}}")}, ""},
		{change{"the waypoint of a host", policy, strings.Replace(object("networking.istio.io/v1", "ServiceEntry", "spec: {hosts: [a]}"), "name: 'n',", "name: 'n', labels: {istio.io/use-waypoint: egress},", 1), object("networking.istio.io/v1", "ServiceEntry", "spec: {hosts: [a]}")}, "istio.io/use-waypoint"},
		{change{"a control plane of Kuma in another place", policy, strings.Replace(deployment, "image: shop/log:1", "image: registry.local/kuma-cp:1, args: [a]", 1), strings.Replace(deployment, "image: shop/log:1", "image: registry.local/kuma-cp:1, args: [b]", 1)}, "args"},
		{change{"a disk of a kind that nobody knows", all, "", object("v1", "PersistentVolume", "spec: {flexVolume: {driver: a}}")}, "PersistentVolume"},
		{change{"another cluster of Istio", policy, "", strings.Replace(object("v1", "Secret", "data: {}"), "name: 'n',", "name: 'n', labels: {istio/multiCluster: 'true'},", 1)}, "Secret"},
		{change{"an image of Istio in another place", policy, strings.Replace(deployment, "shop/log:1", "gcr.io/istio-release/pilot:1", 1), strings.Replace(deployment, "shop/log:1", "gcr.io/istio-release/pilot:2", 1)}, "image"},
		{change{"headers that a gateway takes off", policy, route("gateways: [g], http: [{headers: {request: {remove: [x-admin]}}, route: []}]"), route("gateways: [g], http: [{route: []}]")}, "VirtualService"},
		{change{"another path behind a gateway", policy, route("gateways: [g], http: [{route: []}]"), route("gateways: [g], http: [{rewrite: {uri: /admin}, route: []}]")}, "VirtualService"},
		{change{"another path of the callers themselves", policy, route("http: [{route: []}]"), route("gateways: [mesh], http: [{rewrite: {uri: /admin}, route: []}]")}, ""},
		{change{"other shares behind a gateway", policy, route("gateways: [g], http: [{route: [{weight: 1}]}]"), route("gateways: [g], http: [{route: [{weight: 2}]}]")}, ""},
		{change{"an address of Cilium that an author writes", policy, "", endpoint("")}, "CiliumEndpoint"},
		{change{"an address of Cilium with a version", policy, "", endpoint(given)}, "CiliumEndpoint"},
		{change{"a new Dataplane by a prefix", prefix, "", dp}, "may call as backend"},
		{change{"a new Dataplane beside a prefix", strings.Replace(prefix, "/ba", "/fr", 1), "", dp}, ""},
	} {
		tt.expect(t, tt.want)
	}
}
