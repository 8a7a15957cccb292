package manifestdiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
)

// mesh is what an injector adds to the pods of a workload.
type mesh struct {
	policy, labels, annotations, containers, initContainers, volumes, probe string
}

const token = `{name: kube-api-access-SUFFIX, readOnly: true, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}`

var meshes = map[string]mesh{
	"Istio": {
		policy:      policy,
		labels:      `security.istio.io/tlsMode: istio, service.istio.io/canonical-name: web, service.istio.io/canonical-revision: latest`,
		annotations: `istio.io/rev: default, kubectl.kubernetes.io/default-container: web, prometheus.io/path: /stats/prometheus, prometheus.io/port: '15020', prometheus.io/scrape: 'true', sidecar.istio.io/status: '{"initContainers":["istio-init"],"containers":["istio-proxy"],"volumes":["workload-socket","istio-envoy"],"revision":"default"}'`,
		containers: `    - {name: istio-proxy, image: docker.io/istio/proxyv2:1.30.0, args: [proxy, sidecar], env: [{name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: ISTIO_META_WORKLOAD_NAME, value: web},
        {name: ISTIO_KUBE_APP_PROBERS, value: '{"/app-health/web/readyz":{"httpGet":{"path":"/ready","port":8080,"scheme":"HTTP"}}}'}], securityContext: {runAsUser: 1337, runAsGroup: 1337}, volumeMounts: [{name: workload-socket, mountPath: /var/run/secrets/workload-spiffe-uds}, {name: istio-envoy, mountPath: /etc/istio/proxy}, ` + token + `]}`,
		initContainers: `    - {name: istio-init, image: docker.io/istio/proxyv2:1.30.0, args: [istio-iptables], securityContext: {capabilities: {add: [NET_ADMIN, NET_RAW], drop: [ALL]}, runAsUser: 0}, volumeMounts: [` + token + `]}`,
		volumes:        `{name: workload-socket, emptyDir: {}}, {name: workload-certs, emptyDir: {}}, {name: istio-envoy, emptyDir: {medium: Memory}}, {name: istio-token, projected: {sources: [{serviceAccountToken: {audience: istio-ca, path: istio-token}}]}}, {name: istiod-ca-cert, configMap: {name: istio-ca-root-cert}}, `,
		probe:          `{path: /app-health/web/readyz, port: 15020, scheme: HTTP}`,
	},
	"Linkerd": {
		policy:         "apiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {name: s, namespace: shop}\nspec: {podSelector: {matchLabels: {app: web}}, port: http}\n",
		labels:         `linkerd.io/control-plane-ns: linkerd, linkerd.io/proxy-deployment: web, linkerd.io/workload-ns: shop`,
		annotations:    `linkerd.io/created-by: linkerd/proxy-injector edge-26.1.1, linkerd.io/proxy-version: edge-26.1.1, linkerd.io/trust-root-sha256: abc, linkerd.io/inject: enabled, viz.linkerd.io/tap-enabled: 'true'`,
		initContainers: `    - {name: linkerd-init, image: cr.l5d.io/linkerd/proxy-init:v2, args: [--proxy-uid, '2102'], securityContext: {capabilities: {add: [NET_ADMIN, NET_RAW]}}, volumeMounts: [{name: linkerd-proxy-init-xtables-lock, mountPath: /run}, ` + token + `]}` + "\n" + `    - {name: linkerd-proxy, image: cr.l5d.io/linkerd/proxy:edge-26.1.1, restartPolicy: Always, env: [{name: _pod_name, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: LINKERD2_PROXY_INBOUND_PORTS, value: '8080'}], volumeMounts: [{name: linkerd-identity-end-entity, mountPath: /var/run/linkerd/identity/end-entity}, ` + token + `]}`,
		volumes:        `{name: linkerd-proxy-init-xtables-lock, emptyDir: {}}, {name: linkerd-identity-end-entity, emptyDir: {medium: Memory}}, {name: linkerd-identity-token, projected: {sources: [{serviceAccountToken: {audience: identity.l5d.io, path: t}}]}}, `,
		probe:          `{path: /ready, port: 8080, scheme: HTTP}`,
	},
	"Kuma": {
		policy:         "type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {targetRef: {kind: Dataplane, labels: {app: web}}, rules: [{default: {allow: [{spiffeID: {type: Exact, value: 'spiffe://td/ns/shop/sa/fe'}}]}}]}\n",
		labels:         `kuma.io/sidecar-injection: enabled`,
		annotations:    `kuma.io/mesh: default, kuma.io/sidecar-injected: 'true', kuma.io/sidecar-uid: '5678', kuma.io/transparent-proxying: enabled, kuma.io/virtual-probes: disabled, kuma.io/application-probe-proxy-port: '9001'`,
		containers:     `    - {name: kuma-sidecar, image: kumahq/kuma-dp:2.12.0, args: [run], env: [{name: KUMA_DATAPLANE_NAME, value: $(POD_NAME).$(POD_NAMESPACE)}, {name: KUMA_DNS_ENABLED, value: 'true'}], securityContext: {runAsUser: 5678}, volumeMounts: [{name: kuma-sidecar-tmp, mountPath: /tmp}, ` + token + `]}`,
		initContainers: `    - {name: kuma-init, image: kumahq/kuma-init:2.12.0, args: [--config-file, /tmp/c], securityContext: {capabilities: {add: [NET_ADMIN, NET_RAW]}}, volumeMounts: [` + token + `]}`,
		volumes:        `{name: kuma-sidecar-tmp, emptyDir: {}}, {name: kuma-init-tmp, emptyDir: {}}, `,
		probe:          `{path: /8080/ready, port: 9001, scheme: HTTP}`,
	},
}

// cluster returns what a cluster lists of a workload: the Deployment, its sets, and the pods of the last one.
func (m mesh) cluster(hash, image string, replicas int) string {
	out := []string{m.policy, workloadOf("Deployment", "apps/v1", "web", "", replicas, m.template("", image, false)), workloadOf("ReplicaSet", "apps/v1", "web-"+hash, owner("Deployment", "web"), replicas, m.template(", pod-template-hash: "+hash, image, false))}
	return together(append(out, m.pods(hash, image, replicas)...)...)
}

func (m mesh) pods(hash, image string, replicas int) (out []string) {
	for i := range replicas {
		pod := m.template(", pod-template-hash: "+hash, image, true)
		name := fmt.Sprintf("web-%s-%s%03d", hash, hash[:2], i)
		metadata := fmt.Sprintf("metadata: {name: %s, generateName: web-%s-, namespace: shop, uid: %s, resourceVersion: '%d', creationTimestamp: '2026-01-01T00:00:00Z'%s,", name, hash, name, i, owner("ReplicaSet", "web-"+hash))
		pod = strings.NewReplacer("metadata: {", metadata, "SUFFIX", fmt.Sprintf("%s%03d", hash[:2], i), "NODE", fmt.Sprint("node-", i)).Replace(pod)
		out = append(out, "apiVersion: v1\nkind: Pod\n"+pod+fmt.Sprintf("status: {phase: Running, podIP: 10.0.0.%d}\n", i))
	}
	return out
}

func owner(kind, name string) string {
	return fmt.Sprintf(", ownerReferences: [{apiVersion: apps/v1, kind: %s, name: %s, uid: u, controller: true, blockOwnerDeletion: true}]", kind, name)
}

// workloadOf returns a workload with a template.
func workloadOf(kind, version, name, owner string, replicas int, template string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: %s, namespace: shop, generation: 3, annotations: {deployment.kubernetes.io/revision: '%d'}%s}\nspec:\n  replicas: %d\n  template:\n%s",
		version, kind, name, replicas, owner, replicas, "    "+strings.ReplaceAll(strings.TrimSpace(template), "\n", "\n    ")+"\n")
}

// template returns the pods of the workload, as a template or as they run.
func (m mesh) template(hash, image string, runs bool) string {
	if !runs {
		m.labels, m.annotations, m.containers, m.initContainers, m.volumes, m.probe = "a: b", "c: d", "", "", "", `{path: /ready, port: 8080, scheme: HTTP}`
	}
	mounts, added, more := "", "", ""
	if runs {
		mounts = ", " + token
		added = ", {name: kube-api-access-SUFFIX, projected: {defaultMode: 420, sources: [{serviceAccountToken: {expirationSeconds: 3607, path: token}}, {configMap: {name: kube-root-ca.crt}}, {downwardAPI: {items: []}}]}}"
		more = "  nodeName: NODE\n  serviceAccount: web\n  priority: 0\n  preemptionPolicy: PreemptLowerPriority\n  enableServiceLinks: true\n  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]\n"
		m.labels, m.annotations = "a: b, topology.kubernetes.io/zone: NODE, "+m.labels, "c: d, cni.projectcalico.org/podIP: SUFFIX, "+m.annotations
	}
	return fmt.Sprintf(`metadata: {labels: {app: web%s, %s}, annotations: {%s}}
spec:
  serviceAccountName: web
  securityContext: {}
  schedulerName: default-scheduler
  containers:
    - {name: web, image: %s, ports: [{name: http, containerPort: 8080, protocol: TCP}], readinessProbe: {httpGet: %s, timeoutSeconds: 1}, volumeMounts: [{name: data, mountPath: /data}%s]}
%s
  initContainers:
%s
    - {name: migrate, image: %s}
  volumes: [%s{name: data, emptyDir: {}}%s]
%s`, hash, m.labels, m.annotations, image, m.probe, mounts, m.containers, m.initContainers, image, m.volumes, added, more)
}

// Lists of an ordinary cluster pass where nothing but the image, the replicas, and with them the names and the
// hashes of the pods has changed, with the workloads or the pods alone. One pod that is otherwise is named.
func TestListsOfClusters(t *testing.T) {
	t.Parallel()
	for name, m := range meshes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alone := func(hash string, replicas int) string {
				return together(append([]string{m.policy}, m.pods(hash, "shop/web:1", replicas)...)...)
			}
			for _, pair := range [][2]string{
				{m.cluster("6d5f", "shop/web:1", 2), m.cluster("7c9b", "shop/web:2", 5)},
				{m.cluster("6d5f", "shop/web:1", 5), m.cluster("6d5f", "shop/web:1", 1)},
				{alone("6d5f", 2), alone("7c9b", 4)},
			} {
				old, recent := sideOf(t, pair[0]), sideOf(t, pair[1])
				if got := manifestdiff.Changes(old, recent); len(got) > 0 {
					t.Errorf("nothing has changed, and %s", textOf(got))
				}
				if got := manifestdiff.Differences(old, recent); len(got) > 0 {
					t.Errorf("nothing differs, and %s", textOf(got))
				}
				for was, is := range map[string]string{
					"labels: {app: web, pod-template-hash": "labels: {app: open, pod-template-hash",
					"{name: data, emptyDir: {}}, {":        "{name: data, hostPath: {path: /}}, {",
					"  nodeName: node-0":                   "  hostNetwork: true\n  nodeName: node-0",
					"\n  containers:\n    - {name: web,":   "\n  containers:\n    - {name: kuma-sidecar, image: nginx}\n    - {name: web,",
				} {
					last := strings.LastIndex(pair[1], was)
					if last < 0 {
						t.Fatalf("%s is in no pod", was)
					}
					forged := pair[1][:last] + is + pair[1][last+len(was):]
					if got := manifestdiff.Changes(old, sideOf(t, forged)); len(got) == 0 {
						t.Errorf("a pod has %s, and nothing is named", is)
					}
				}
			}
		})
	}
}
