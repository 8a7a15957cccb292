package manifestdiff_test

import (
	"strings"
	"testing"
)

// Each pair may let somebody in although no policy has changed. The place names the field.
func TestChangesThatMayMatter(t *testing.T) {
	t.Parallel()
	all := together(policy, deployment, service, serviceAccount)
	of := func(version, kind, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: 'n', namespace: shop}\n" + more
	}
	in := func(namespace, object string) string {
		return strings.Replace(object, "namespace: shop", "namespace: "+namespace, 1)
	}
	const (
		linkerd = "apiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {name: s, namespace: shop}\nspec: {podSelector: {matchLabels: {app: web}}, port: http}\n"
		routes  = "apiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {name: a, namespace: shop, creationTimestamp: '2026-01-01T00:00:00Z'}\nspec: {podSelector: {matchLabels: {app: a}}, port: 80}\n---\napiVersion: policy.linkerd.io/v1beta3\nkind: Server\nmetadata: {name: b, namespace: shop, creationTimestamp: '2026-02-01T00:00:00Z'}\nspec: {podSelector: {matchLabels: {app: b}}, port: 80}\n"
		cilium  = "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: p, namespace: shop}\nspec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {app: fe, io.cilium.k8s.namespace.labels.team: a}}]}]}\n"
		dp      = "type: Dataplane\nmesh: default\nname: web\nlabels: {app: web}\nnetworking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, protocol: http}], outbound: [{port: 9000, tags: {kuma.io/service: a}}], transparentProxying: {redirectPortInbound: 15006}}\n"
		kdp     = "apiVersion: kuma.io/v1alpha1\nkind: Dataplane\nmesh: default\nmetadata: {name: web, namespace: shop}\nspec: {networking: {address: 10.0.0.1, inbound: [{name: in, port: 8080}]}}\n"
		istiod  = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: istiod-canary, namespace: shop}\nspec: {template: {spec: {containers: [{name: discovery, image: docker.io/istio/pilot:1, args: [a]}]}}}\n"
	)
	pods := "    metadata: {labels: {app: web, track: stable}, annotations: {checksum/config: abc}}"
	annotated := func(text string) string {
		return strings.Replace(pods, "checksum/config: abc", "checksum/config: abc, "+text, 1)
	}
	for _, tt := range []struct {
		change
		want string
	}{
		// Pods and their containers.
		{change{"the network of the host", all, "serviceAccountName: web\n", "serviceAccountName: web\n      hostNetwork: true\n"}, "spec.template.spec.hostNetwork"},
		{change{"the processes of the host", all, "serviceAccountName: web\n", "serviceAccountName: web\n      hostPID: true\n"}, "spec.template.spec.hostPID"},
		{change{"processes of each other", all, "serviceAccountName: web\n", "serviceAccountName: web\n      shareProcessNamespace: true\n"}, "shareProcessNamespace"},
		{change{"another account", all, "serviceAccountName: web\n", "serviceAccountName: fe\n"}, "f.yaml:19: spec.template.spec.serviceAccountName (Deployment shop/web) has changed"},
		{change{"an account by its old name", all, "serviceAccountName: web\n", "serviceAccount: fe\n"}, "serviceAccountName"},
		{change{"no account any more", all, "      serviceAccountName: web\n", ""}, "serviceAccountName"},
		{change{"no token, so that Linkerd injects nothing", together(all, linkerdServer), "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n"}, "automountServiceAccountToken"},
		{change{"no token of an account", together(all, linkerdServer), "kind: ServiceAccount", "kind: ServiceAccount\nautomountServiceAccountToken: false"}, "automountServiceAccountToken"},
		{change{"more power", all, "securityContext: {runAsNonRoot: true}", "securityContext: {runAsNonRoot: true, capabilities: {add: [NET_ADMIN]}}"}, "spec.template.spec.containers[0].securityContext.capabilities.add"},
		{change{"all power", all, "{name: log, image: shop/log:1}", "{name: log, image: shop/log:1, securityContext: {privileged: true}}"}, "spec.template.spec.containers[1].securityContext.privileged"},
		{change{"the user of the proxy", all, "runAsNonRoot: true", "runAsNonRoot: true, runAsUser: 1337"}, "securityContext.runAsUser"},
		{change{"capabilities are not dropped any more", strings.Replace(all, "runAsNonRoot: true", "capabilities: {drop: [ALL]}", 1), "capabilities: {drop: [ALL]}", "runAsNonRoot: true"}, "capabilities.drop"},
		{change{"the security of the pod", all, "serviceAccountName: web\n", "serviceAccountName: web\n      securityContext: {runAsUser: 1337}\n"}, "spec.template.spec.securityContext.runAsUser"},
		{change{"one more init container", all, "initContainers: [", "initContainers: [{name: rules, image: a}, "}, "spec.template.spec.initContainers"},
		{change{"a command of an init container", all, "{name: migrate,", "{name: migrate, command: [iptables, -F],"}, "spec.template.spec.initContainers[0].command"},
		{change{"the image of an init container with power", strings.Replace(all, "{name: migrate,", "{name: migrate, securityContext: {capabilities: {add: [NET_ADMIN]}},", 1), "NET_ADMIN]}}, image: shop/web:1", "NET_ADMIN]}}, image: shop/web:2"}, "initContainers[0]"},
		{change{"addresses of a Service by hand", all, "", strings.Replace(of("discovery.k8s.io/v1", "EndpointSlice", "endpoints: []"), "name: 'n'", "name: web-x, labels: {kubernetes.io/service-name: web}", 1)}, "EndpointSlice"},
		{change{"a new workload with a folder of the node", policy, "", strings.Replace(deployment, "emptyDir: {}", "hostPath: {path: /}", 1)}, "hostPath"},
		{change{"an init container that stays", all, "{name: migrate,", "{name: migrate, restartPolicy: Always,"}, "initContainers[0].restartPolicy"},
		{change{"a sidecar of its own", all, "        - {name: log,", "        - {name: istio-proxy, image: auto}\n        - {name: log,"}, "containers[1]"},
		{change{"a sidecar by its image", all, "image: shop/log:1", "image: docker.io/istio/proxyv2:1"}, "containers[1]"},
		{change{"the arguments of a sidecar", strings.Replace(all, "name: log,", "name: kuma-sidecar,", 1), "image: shop/log:1", "image: shop/log:1, args: [--dns-enabled=false]"}, "containers[1]"},
		{change{"the path of a probe", all, "path: /ready", "path: /admin"}, "readinessProbe.httpGet.path"},
		{change{"one more probe", all, "readinessProbe", "livenessProbe: {httpGet: {path: /admin, port: 8080}}\n          readinessProbe"}, "livenessProbe.httpGet"},
		{change{"a call of the kubelet", all, "args: [a]", "lifecycle: {postStart: {httpGet: {path: /admin, port: 8080}}}"}, "lifecycle.postStart.httpGet"},
		{change{"a port of the node", all, "containerPort: 8080}]", "containerPort: 8080, hostPort: 80}]"}, "ports[0]"},
		{change{"a port that is not declared any more", all, "          ports: [{name: http, containerPort: 8080}]\n", ""}, "ports[0]"},
		{change{"a port with the name that a Server has", together(linkerd, deployment), "name: http, containerPort: 8080", "name: web, containerPort: 8080"}, "ports[0]"},
		{change{"a port with the name that a Service has", strings.Replace(all, "targetPort: 8080", "targetPort: http", 1), "name: http, containerPort: 8080", "name: web, containerPort: 8080"}, "ports[0]"},
		{change{"a folder of the node", all, "emptyDir: {}", "hostPath: {path: /var/run/cilium}"}, "volumes[0].hostPath"},
		{change{"a volume of a driver", all, "emptyDir: {}", "csi: {driver: csi.spiffe.io}"}, "volumes[0].csi"},
		{change{"a volume with the certificates of the sidecar", all, "volumes: [", "volumes: [{name: workload-certs, secret: {secretName: x}}, "}, "volumes[0]"},
		{change{"another runtime", all, "serviceAccountName: web\n", "serviceAccountName: web\n      runtimeClassName: other\n"}, "runtimeClassName"},
		{change{"names of hosts", all, "serviceAccountName: web\n", "serviceAccountName: web\n      hostAliases: [{ip: 10.0.0.1, hostnames: [istiod.istio-system.svc]}]\n"}, "hostAliases"},
		{change{"a field that nobody knows", all, "replicas: 2", "futureField: 2"}, "spec.futureField"},
		{change{"a label of a selector", all, "{app: web, track: stable}", "{app: other, track: stable}"}, "spec.template.metadata.labels.app"},
		{change{"a label that a Service selects by", strings.Replace(all, "selector: {app: web}, ports", "selector: {track: stable}, ports", 1), "{app: web, track: stable}", "{app: web}"}, "labels.track"},
		{change{"another network beside the mesh", all, pods, annotated("k8s.v1.cni.cncf.io/networks: a")}, `annotations["k8s.v1.cni.cncf.io/networks"]`},
		{change{"metrics that the agent of Istio serves", all, pods, annotated("prometheus.io/path: /admin")}, `annotations["prometheus.io/path"]`},
		{change{"ports that pass the sidecar", all, pods, annotated("traffic.kuma.io/exclude-inbound-ports: '8080'")}, `annotations["traffic.kuma.io/exclude-inbound-ports"]`},
		{change{"a first configuration of the sidecar", all, pods, annotated("sidecar.istio.io/bootstrapOverride: boot")}, `annotations["sidecar.istio.io/bootstrapOverride"]`},
		{change{"the content of that configuration", together(all, strings.Replace(deployment, "checksum/config: abc", "sidecar.istio.io/bootstrapOverride: 'n'", 1)), of("v1", "ConfigMap", "data: {a: b}"), of("v1", "ConfigMap", "data: {a: c}")}, "(ConfigMap shop/n)"},
		{change{"a workload twice, and not alike", policy, deployment, together(deployment, strings.Replace(deployment, "replicas: 2", "hostNetwork: true", 1))}, "twice"},
		{change{"the pods of a CronJob", policy, of("batch/v1", "CronJob", "spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c}]}}}}}"), of("batch/v1", "CronJob", "spec: {jobTemplate: {spec: {template: {spec: {hostNetwork: true, containers: [{name: c}]}}}}}")}, "spec.jobTemplate.spec.template.spec.hostNetwork"},
		{change{"the pods of a Rollout", policy, of("argoproj.io/v1alpha1", "Rollout", "spec: {template: {spec: {}}}"), of("argoproj.io/v1alpha1", "Rollout", "spec: {template: {spec: {serviceAccountName: fe}}}")}, "serviceAccountName"},
		{change{"the account of a machine", policy, of("networking.istio.io/v1", "WorkloadEntry", "spec: {address: 10.0.0.1}"), of("networking.istio.io/v1", "WorkloadEntry", "spec: {address: 10.0.0.1, serviceAccount: fe}")}, "spec.serviceAccount"},
		{change{"the account of machines", policy, of("networking.istio.io/v1", "WorkloadGroup", "spec: {template: {}}"), of("networking.istio.io/v1", "WorkloadGroup", "spec: {template: {serviceAccount: fe}}")}, "spec.template"},

		{change{"a label of statistics that a policy selects by", strings.Replace(all, "matchLabels: {app: web}}, rules", "matchLabels: {service.istio.io/canonical-name: web}}, rules", 1) + "---\n" + strings.Replace(strings.Replace(deployment, "track: stable", "service.istio.io/canonical-name: web", 1), "name: web, namespace", "name: other, namespace", 1), "canonical-name: web}, annotations", "canonical-name: other}, annotations"}, "canonical-name"},
		{change{"a label of a sidecar that a policy selects by", strings.Replace(all, "matchLabels: {app: web}}, rules", "matchLabels: {sidecar.istio.io/inject: 'true'}}, rules", 1), "track: stable", "track: stable, sidecar.istio.io/inject: 'true'"}, "sidecar.istio.io/inject"},
		{change{"a token that the account does not give", strings.Replace(strings.Replace(all, "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: true\n", 1), "kind: ServiceAccount", "kind: ServiceAccount\nautomountServiceAccountToken: false", 1), "      automountServiceAccountToken: true\n", ""}, "automountServiceAccountToken"},
		{change{"the authority of clients of a gateway", together(policy, of("networking.istio.io/v1", "Gateway", "spec: {servers: [{tls: {mode: MUTUAL, credentialName: shop-tls}}]}")), strings.Replace(of("v1", "Secret", "data: {ca.crt: YQ==}"), "name: 'n'", "name: shop-tls-cacert", 1), strings.Replace(of("v1", "Secret", "data: {ca.crt: Yg==}"), "name: 'n'", "name: shop-tls-cacert", 1)}, "shop-tls-cacert"},

		{change{"a secret from elsewhere", together(policy, of("networking.istio.io/v1", "Gateway", "spec: {servers: [{tls: {credentialName: shop-tls}}]}")), strings.Replace(of("external-secrets.io/v1", "ExternalSecret", "spec: {target: {name: shop-tls}, data: [{secretKey: a}]}"), "name: 'n'", "name: other", 1), strings.Replace(of("external-secrets.io/v1", "ExternalSecret", "spec: {target: {name: shop-tls}, data: [{secretKey: b}]}"), "name: 'n'", "name: other", 1)}, "ExternalSecret"},
		{change{"a native sidecar", strings.Replace(all, "initContainers: [", "initContainers: [{name: linkerd-proxy, restartPolicy: Always, env: [{name: A, value: b}]}, ", 1), "env: [{name: A, value: b}]}, {name: migrate", "env: [{name: A, value: c}]}, {name: migrate"}, "initContainers[0]"},
		{change{"a volume that a sidecar mounts", strings.Replace(strings.Replace(all, "{name: log, image: shop/log:1}", "{name: istio-proxy, volumeMounts: [{name: ca}]}", 1), "volumes: [", "volumes: [{name: ca, secret: {secretName: x}}, ", 1), "secretName: x", "secretName: 'y'"}, "volumes[0]"},
		{change{"the authority of a gateway in another namespace", together(policy, of("networking.istio.io/v1", "Gateway", "spec: {servers: [{tls: {mode: MUTUAL, credentialName: 'shop/shop-tls'}}]}")), strings.Replace(of("v1", "Secret", "data: {ca.crt: YQ==}"), "name: 'n'", "name: shop-tls-cacert", 1), strings.Replace(of("v1", "Secret", "data: {ca.crt: Yg==}"), "name: 'n'", "name: shop-tls-cacert", 1)}, "shop-tls-cacert"},
		{change{"a label that an injector looks for", together(all, in("istio-system", of("v1", "ConfigMap", "data:\n  config: |\n    neverInjectSelector:\n    - matchExpressions:\n      - key: no-mesh\n        operator: Exists"))), "track: stable", "track: stable, no-mesh: a"}, "labels.no-mesh"},
		{change{"a label that an expression asks for", together(all, of("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "spec: {matchConditions: [{expression: \"object.metadata.labels['inj']=='yes'\"}]}")), "track: stable", "track: stable, inj: a"}, "labels.inj"},
		{change{"a caller by a condition", strings.Replace(policy, "from: [{source: {principals: [cluster.local/ns/shop/sa/fe]}}]", "when: [{key: source.principal, values: [cluster.local/ns/shop/sa/fe]}]", 1), "", strings.Replace(deployment, "serviceAccountName: web", "serviceAccountName: fe", 1)}, "serviceAccountName"},
		{change{"an owner of a filter", policy, of("networking.istio.io/v1alpha3", "EnvoyFilter", "spec: {}"), strings.Replace(of("networking.istio.io/v1alpha3", "EnvoyFilter", "spec: {}"), "namespace: shop}", "namespace: shop, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: b}]}", 1)}, "ownerReferences"},
		{change{"Helm keeps a policy", policy, "namespace: shop}", "namespace: shop, annotations: {helm.sh/resource-policy: keep}}"}, "helm.sh/resource-policy"},
		{change{"a namespace that AKS keeps from webhooks", together(policy, deployment), "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a, control-plane: 'true'}}"}, "control-plane"},
		{change{"a new namespace that AKS keeps from webhooks", policy, "", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {kubernetes.azure.com/managedby: aks}}"}, "managedby"},
		{change{"a namespace that lets pods have all", together(policy, deployment), "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}"}, "enforce"},
		{change{"a namespace of an older version of its level", together(policy, deployment), "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {pod-security.kubernetes.io/enforce-version: v1.30}}", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {pod-security.kubernetes.io/enforce-version: v1.22}}"}, "enforce-version"},
		{change{"a namespace of a run level", together(policy, deployment), "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a, openshift.io/run-level: '1'}}"}, "run-level"},
		{change{"a namespace with its injection goes, and its workloads stay", together(policy, deployment), "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio-injection: enabled}}", ""}, "is gone"},
		{change{"a new workload without a token", linkerdServer, "", strings.Replace(deployment, "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n", 1)}, "automountServiceAccountToken"},
		{change{"a workload gets a sidecar, and so a name", all, "track: stable", "track: stable, sidecar.istio.io/inject: 'true'"}, "sidecar.istio.io/inject"},
		{change{"an analysis that runs a job", policy, "", of("argoproj.io/v1alpha1", "AnalysisTemplate", "spec: {metrics: []}")}, "AnalysisTemplate"},
		{change{"a workload of Linkerd under another name, with another name of its port", linkerd, deployment, strings.NewReplacer("name: web, namespace", "name: web2, namespace", "name: http, containerPort", "name: other, containerPort").Replace(deployment)}, "spec.template.spec.containers[0].ports[0] (Deployment shop/web2) is new, and another workload is gone"},
		{change{"a workload under another name, with another probe", policy, deployment, strings.NewReplacer("name: web, namespace", "name: web2, namespace", "/ready", "/admin").Replace(deployment)}, "readinessProbe.httpGet.path (Deployment shop/web2) is new"},
		{change{"a Rollout that takes the pods of a workload", all, "", of("argoproj.io/v1alpha1", "Rollout", "spec: {workloadRef: {kind: Deployment, name: web}}")}, "spec.workloadRef.name"},
		{change{"a new Rollout with labels beside its template", policy, "", of("argoproj.io/v1alpha1", "Rollout", "spec: {strategy: {canary: {stableMetadata: {annotations: {sidecar.istio.io/inject: 'false'}}}}, template: {spec: {}}}")}, "spec.strategy.canary.stableMetadata"},
		{change{"a service of addresses goes", together(policy, deployment), strings.Replace(service, "selector: {app: web}, ", "", 1), ""}, "is gone"},
		{change{"a service and its workload go, and a machine stays", together(policy, of("networking.istio.io/v1", "WorkloadEntry", "spec: {address: 10.0.0.1, labels: {app: web}}")), together(deployment, service), ""}, "Service shop/web) is gone"},
		{change{"calls of the kernel that are not limited", all, "runAsNonRoot: true", "seccompProfile: {type: Unconfined}"}, "seccompProfile"},
		{change{"another label of SELinux", all, "runAsNonRoot: true", "seLinuxOptions: {type: spc_t}"}, "seLinuxOptions"},
		{change{"the token of another account", together(all, of("v1", "Secret", "type: kubernetes.io/service-account-token")), "emptyDir: {}", "secret: {secretName: 'n'}"}, "volumes[0].secret"},
		{change{"the token of another account in the environment", together(all, of("v1", "Secret", "type: kubernetes.io/service-account-token")), "env: [{name: A, value: b}]", "env: [{name: A, valueFrom: {secretKeyRef: {name: 'n', key: token}}}]"}, ".env"},
		{change{"a new workload with the token of another account", together(policy, of("v1", "Secret", "type: kubernetes.io/service-account-token")), "", strings.Replace(deployment, "emptyDir: {}", "secret: {secretName: 'n'}", 1)}, "secretName"},
		{change{"metrics by another spelling", all, pods, annotated("prometheus.io.path: /admin")}, "prometheus.io.path"},
		{change{"an annotation of Cilium without a slash", together(cilium, deployment), pods, annotated("io.cilium.proxy-visibility: a")}, "io.cilium.proxy-visibility"},
		{change{"new machines by a prefix", strings.Replace(policy, "cluster.local/ns/shop/sa/fe", "spiffe://td/ns/sh", 1), "", of("networking.istio.io/v1", "WorkloadGroup", "spec: {template: {serviceAccount: x}}")}, "template.serviceAccount"},
		{change{"a policy that goes and stays", deployment, strings.Replace(policy, "namespace: shop}", "namespace: shop, finalizers: [example.com/never]}", 1), ""}, "metadata.finalizers"},
		{change{"a Secret from elsewhere that is a policy", policy, of("external-secrets.io/v1", "ExternalSecret", "spec: {target: {manifest: {kind: AuthorizationPolicy}, template: {data: {a: b}}}}"), of("external-secrets.io/v1", "ExternalSecret", "spec: {target: {manifest: {kind: AuthorizationPolicy}, template: {data: {a: c}}}}")}, "data.a"},
		{change{"a Secret from elsewhere that is a token", policy, "", of("external-secrets.io/v1", "ExternalSecret", "spec: {target: {template: {type: kubernetes.io/service-account-token}}}")}, "ExternalSecret"},
		{change{"the certificate of a gateway", together(policy, of("networking.istio.io/v1", "Gateway", "spec: {servers: [{tls: {credentialName: shop-tls}}]}")), "", of("cert-manager.io/v1", "Certificate", "spec: {secretName: shop-tls, dnsNames: [a.example]}")}, "Certificate shop/n) is new"},
		{change{"the issuer of that certificate", together(policy, of("networking.istio.io/v1", "Gateway", "spec: {servers: [{tls: {credentialName: shop-tls}}]}"), of("cert-manager.io/v1", "Certificate", "spec: {secretName: shop-tls, issuerRef: {name: 'n'}}")), of("cert-manager.io/v1", "Issuer", "spec: {ca: {secretName: a}}"), of("cert-manager.io/v1", "Issuer", "spec: {ca: {secretName: b}}")}, "spec.ca.secretName"},
		{change{"a certificate with the identity of a caller", policy, "", of("cert-manager.io/v1", "Certificate", "spec: {secretName: a, uris: ['spiffe://cluster.local/ns/shop/sa/fe']}")}, "Certificate"},
		{change{"a certificate of an authority", policy, "", of("cert-manager.io/v1", "Certificate", "spec: {secretName: a, isCA: true}")}, "Certificate"},
		{change{"a certificate with an identity of Linkerd", linkerd, "", of("cert-manager.io/v1", "Certificate", "spec: {secretName: a, dnsNames: [fe.shop.serviceaccount.identity.linkerd.cluster.local]}")}, "Certificate"},
		{change{"the issuer of the mesh", policy, "", strings.Replace(deployment, "name: web, namespace", "name: cert-manager-istio-csr, namespace", 1)}, "is new"},
		{change{"a new caller of a namespace by a pattern", strings.Replace(policy, "cluster.local/ns/shop/sa/fe", "cluster.local/ns/shop/*", 1), "", deployment}, "serviceAccountName"},
		{change{"a new caller of a namespace of Linkerd", strings.Replace(policy, "cluster.local/ns/shop/sa/fe", "'*.shop.serviceaccount.identity.linkerd.cluster.local'", 1), "", deployment}, "serviceAccountName"},
		// Objects of one side alone.
		{change{"a new workload behind a service, which its policy does not select", strings.Replace(all, "matchLabels: {app: web}}, rules", "matchLabels: {app: web, track: stable}}, rules", 1), "", strings.NewReplacer("name: web, namespace", "name: web-canary, namespace", "track: stable", "track: canary").Replace(deployment)}, "is new behind Service shop/web"},
		{change{"a new workload in the network of the host, for kubectl", policy, "", strings.Replace(deployment, "serviceAccountName: web", "hostNetwork: yes", 1)}, "hostNetwork"},
		{change{"a new workload with all power, for kubectl", policy, "", strings.Replace(deployment, "runAsNonRoot: true", "privileged: on", 1)}, "privileged"},
		{change{"a new workload with a process of the host", policy, "", strings.Replace(deployment, "runAsNonRoot: true", "windowsOptions: {hostProcess: true}", 1)}, "hostProcess"},
		{change{"a new workload with a future power", policy, "", strings.Replace(deployment, "runAsNonRoot: true", "futurePower: a", 1)}, "futurePower"},
		{change{"a new workload with the volume of a driver", policy, "", strings.Replace(deployment, "emptyDir: {}", "csi: {driver: csi.spiffe.io}", 1)}, "volumes[0].csi.driver"},
		{change{"a new pod with a container for debugging", policy, "", of("v1", "Pod", "spec: {ephemeralContainers: [{name: a, image: b}]}")}, "ephemeralContainers"},
		{change{"a new workload with another network", policy, "", strings.Replace(deployment, "checksum/config", "k8s.v1.cni.cncf.io/networks", 1)}, "k8s.v1.cni.cncf.io/networks"},
		{change{"the parameters of a mutation, by their label", together(policy, of("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", "spec: {paramRef: {selector: {matchLabels: {role: param}}}}")), strings.Replace(of("v1", "ConfigMap", "data: {a: b}"), "name: 'n',", "name: config, labels: {role: param},", 1), strings.Replace(of("v1", "ConfigMap", "data: {a: c}"), "name: 'n',", "name: config, labels: {role: param},", 1)}, "data.a"},
		{change{"a new workload in the network of the host", policy, "", strings.Replace(deployment, "serviceAccountName: web", "hostNetwork: true", 1)}, "hostNetwork (Deployment shop/web) opens something"},
		{change{"a new workload with all power", policy, "", strings.Replace(deployment, "runAsNonRoot", "privileged", 1)}, "privileged"},
		{change{"a new caller by its account", policy, "", strings.Replace(deployment, "serviceAccountName: web", "serviceAccountName: fe", 1)}, "serviceAccountName"},
		{change{"a new caller by its label", cilium, "", strings.ReplaceAll(deployment, "app: web", "app: fe")}, "labels.app"},
		{change{"a new caller by an account with a dot", strings.Replace(policy, "sa/fe", "sa/front.end", 1), "", strings.Replace(deployment, "serviceAccountName: web", "serviceAccountName: front.end", 1)}, "serviceAccountName"},
		{change{"a new caller by a pattern", strings.Replace(policy, "cluster.local/ns/shop/sa/fe", "'*/sa/front*'", 1), "", deployment}, "serviceAccountName"},
		{change{"a new caller by the account default", strings.Replace(policy, "sa/fe", "sa/default", 1), "", strings.Replace(deployment, "      serviceAccountName: web\n", "", 1)}, "calls as somebody whom policies may let in"},
		{change{"a new caller by a key alone", strings.Replace(cilium, "{matchLabels: {app: fe,", "{matchExpressions: [{key: track, operator: Exists}], matchLabels: {app: fe,", 1), "", deployment}, "labels.track"},
		{change{"a new Dataplane with the service of a caller", strings.Replace(policy, "sa/fe", "sa/front", 1), "", strings.Replace(dp, "protocol: http}", "protocol: http, tags: {kuma.io/service: front}}", 1)}, "may call as front"},
		{change{"a new caller by another spelling", "type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: 'spiffe://td/ns/shop/sa/fe'}}]}}]}\n", "", strings.Replace(deployment, "serviceAccountName: web", "serviceAccountName: fe", 1)}, "serviceAccountName"},
		{change{"a new caller by a prefix", strings.Replace(policy, "cluster.local/ns/shop/sa/fe", "spiffe://td/ns/sh", 1), "", deployment}, "serviceAccountName"},
		{change{"a new caller by a trust domain", strings.Replace(policy, "cluster.local/ns/shop/sa/fe", "spiffe://td/", 1), "", deployment}, "serviceAccountName"},
		{change{"a new caller by a negation", strings.Replace(policy, "principals: [cluster.local", "notNamespaces: [other], principals: [cluster.local", 1), "", deployment}, "serviceAccountName"},
		{change{"a new caller by no label", strings.Replace(cilium, "{matchLabels: {app: fe, io.cilium.k8s.namespace.labels.team: a}}", "{}", 1), "", deployment}, "serviceAccountName"},
		{change{"a tag by which callers are chosen", together("type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {from: [{targetRef: {kind: MeshSubset, tags: {team: a}}, default: {action: Allow}}]}\n", strings.Replace(dp, "protocol: http}", "protocol: http, tags: {kuma.io/service: x, team: b}}", 1)), "team: b", "team: a"}, "may call as somebody else"},
		{change{"a new caller by its namespace", strings.Replace(policy, "principals: [cluster.local/ns/shop/sa/fe]", "namespaces: [shop]", 1), "", deployment}, "serviceAccountName"},
		{change{"new machines by their account", policy, "", of("networking.istio.io/v1", "WorkloadGroup", "spec: {template: {serviceAccount: fe}}")}, "template.serviceAccount"},
		{change{"a new namespace of callers", cilium, "", "apiVersion: v1\nkind: Namespace\nmetadata: {name: 'n', labels: {team: a}}"}, "labels.team"},
		{change{"a new workload without a sidecar", policy, "", strings.Replace(deployment, "track: stable", "sidecar.istio.io/inject: 'false'", 1)}, "sidecar.istio.io/inject"},
		{change{"a pod that nobody made", policy, "", "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop, ownerReferences: [{kind: Deployment, name: web, controller: true}]}\nspec: {hostNetwork: true}"}, "hostNetwork"},
		{change{"a workload under another name, which no policy selects", policy, deployment, strings.ReplaceAll(deployment, "web", "shop")}, "another workload is gone"},
		{change{"a workload in another namespace", policy, deployment, strings.Replace(deployment, "namespace: shop", "namespace: other", 1)}, "another workload is gone"},
		{change{"a workload of another kind", policy, deployment, strings.Replace(deployment, "Deployment", "StatefulSet", 1)}, "another workload is gone"},
		{change{"a pod with more power than its set", together(policy, deployment), "", "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop, ownerReferences: [{kind: Deployment, name: web, controller: true}]}\nspec: {serviceAccountName: web, hostNetwork: true}"}, "says otherwise"},
		{change{"a pod with a container that its set lacks", together(policy, deployment), "", "apiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop, ownerReferences: [{kind: Deployment, name: web, controller: true}]}\nspec: {serviceAccountName: web, containers: [{name: x, securityContext: {privileged: true}}]}"}, "says otherwise"},
		{change{"a key of Kuma elsewhere", policy, "", of("v1", "Secret", "type: system.kuma.io/global-secret")}, "Secret shop/n"},
		{change{"the authority of Istio", policy, "", strings.Replace(of("v1", "Secret", "data: {}"), "name: 'n'", "name: cacerts", 1)}, "Secret shop/cacerts"},
		{change{"a service goes, and its pods stay", together(policy, deployment), service, ""}, "Service shop/web) is gone"},
		{change{"a service goes, and its pods are elsewhere", policy, service, ""}, "is gone"},
		{change{"a new service for old pods", together(policy, deployment), "", service}, "is new"},

		{change{"a new workload with a sidecar of its own", policy, "", strings.Replace(deployment, "name: log,", "name: istio-proxy,", 1)}, "containers[1]"},
		{change{"addresses that an author writes", policy, "", of("v1", "Endpoints", "subsets: [{addresses: [{ip: 10.0.0.1}]}]")}, "Endpoints shop/n"},
		{change{"labels of a canary", policy, of("argoproj.io/v1alpha1", "Rollout", "spec: {strategy: {canary: {}}, template: {spec: {}}}"), of("argoproj.io/v1alpha1", "Rollout", "spec: {strategy: {canary: {canaryMetadata: {labels: {app: a}}}}, template: {spec: {}}}")}, "spec.strategy"},
		{change{"metrics that are merged", all, pods, annotated("prometheus.io/scrape: 'true'")}, "prometheus.io/scrape"},
		{change{"what a sidecar of its own reads", together(policy, strings.Replace(strings.Replace(deployment, "name: log,", "name: istio-proxy,", 1), "emptyDir: {}", "configMap: {name: 'n'}", 1)), of("v1", "ConfigMap", "data: {a: b}"), of("v1", "ConfigMap", "data: {a: c}")}, "ConfigMap shop/n"},

		{change{"a port twice, once of the node", strings.Replace(all, "containerPort: 8080}]", "containerPort: 8080}, {name: more, containerPort: 8080}]", 1), "{name: more, ", "{name: more, hostPort: 80, "}, "ports"},
		{change{"the token of an account", policy, "", of("v1", "Secret", "type: kubernetes.io/service-account-token")}, "Secret shop/n"},
		{change{"a new machine with the account of a caller", policy, "", of("networking.istio.io/v1", "WorkloadEntry", "spec: {address: 10.0.0.1, serviceAccount: fe}")}, "spec.serviceAccount"},
		{change{"new machines with the account of a caller", policy, "", of("networking.istio.io/v1", "WorkloadGroup", "spec: {template: {serviceAccount: fe}}")}, "spec.template.serviceAccount"},

		// Services.
		{change{"a selector with an odd name", strings.Replace(all, "selector: {app: web}, ports", "selector: {app: web, metadata.labels: a}, ports", 1), "metadata.labels: a", "metadata.labels: b"}, "spec.selector"},
		{change{"the selector of a service", all, "spec: {selector: {app: web}", "spec: {selector: {app: db}"}, "spec.selector.app"},
		{change{"the port behind a service", all, "targetPort: 8080", "targetPort: 9090"}, "spec.ports[0].targetPort"},
		{change{"a port of a service goes", all, "ports: [{name: http, port: 80, targetPort: 8080}]", "ports: []"}, "spec.ports[0]"},
		{change{"the source address of callers", all, "spec: {selector: {app: web}, ports", "spec: {externalTrafficPolicy: Local, selector: {app: web}, ports"}, "externalTrafficPolicy"},
		{change{"a service for the world", all, "spec: {selector: {app: web}, ports", "spec: {type: LoadBalancer, selector: {app: web}, ports"}, "spec.type"},
		{change{"a service by names alone", all, "spec: {selector: {app: web}, ports", "spec: {clusterIP: None, selector: {app: web}, ports"}, "spec.clusterIP"},
		{change{"addresses of a service that others have", all, "spec: {selector: {app: web}, ports", "spec: {externalIPs: [10.0.0.1], selector: {app: web}, ports"}, "externalIPs"},
		{change{"an annotation of a service", all, "kind: Service\nmetadata: {name: web,", "kind: Service\nmetadata: {annotations: {ingress.kubernetes.io/service-upstream: 'true'}, name: web,"}, "service-upstream"},

		// Control planes, and what changes objects on their way.
		{change{"an argument of a control plane by its name", together(policy, istiod), "args: [a]", "args: [b]"}, "spec.template.spec.containers[0].args"},
		{change{"the image of a control plane", together(policy, istiod), "pilot:1", "pilot:2"}, "image"},
		{change{"replicas of a control plane", policy, in("kuma-system", deployment), strings.Replace(in("kuma-system", deployment), "replicas: 2", "replicas: 0", 1)}, "spec.replicas"},
		{change{"a control plane by its label", together(policy, strings.Replace(deployment, "labels: {app: web}, annot", "labels: {linkerd.io/control-plane-component: destination}, annot", 1)), "env: [{name: A, value: b}]", "env: []"}, "env"},
		{change{"a role of a control plane", policy, "", in("istio-system", of("rbac.authorization.k8s.io/v1", "Role", "rules: []"))}, "Role istio-system/n"},
		{change{"a secret of a control plane", policy, in("istio-system", of("v1", "Secret", "data: {a: b}")), in("istio-system", of("v1", "Secret", "data: {a: c}"))}, "data.a"},
		{change{"the config of Cilium in a namespace of its own", policy, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {policy-audit-mode: 'false'}", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cilium-config, namespace: kube-system}\ndata: {policy-audit-mode: 'true'}"}, `data.policy-audit-mode`},
		{change{"the clusters of Cilium", cilium, strings.Replace(of("v1", "ConfigMap", "data: {a: b}"), "name: 'n'", "name: clustermesh-remote-users", 1), strings.Replace(of("v1", "ConfigMap", "data: {a: c}"), "name: 'n'", "name: clustermesh-remote-users", 1)}, "data.a"},
		{change{"a webhook", policy, "", of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "webhooks: []")}, "is new"},
		{change{"an application of Argo CD", policy, of("argoproj.io/v1alpha1", "Application", "spec: {source: {helm: {parameters: []}}}"), of("argoproj.io/v1alpha1", "Application", "spec: {source: {helm: {parameters: [{name: a}]}}}")}, "spec.source.helm.parameters"},
		{change{"a release of Flux", policy, of("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {values: {a: b}}"), of("helm.toolkit.fluxcd.io/v2", "HelmRelease", "spec: {values: {a: c}}")}, "spec.values.a"},
		{change{"what Flux applies", policy, of("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec: {prune: true}"), of("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "spec: {prune: true, patches: []}")}, "spec.patches"},
		{change{"a mutation of Gatekeeper", policy, "", of("mutations.gatekeeper.sh/v1", "AssignMetadata", "spec: {}")}, "is new"},
		{change{"a policy of Kyverno", policy, "", of("kyverno.io/v1", "ClusterPolicy", "spec: {}")}, "is new"},
		{change{"a kind that nobody knows", policy, of("example.com/v1", "Thing", "spec: {a: 1}"), of("example.com/v1", "Thing", "spec: {a: 2}")}, "spec.a (Thing shop/n) has changed"},
		{change{"the definition of a kind", policy, of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "spec: {}"), ""}, "is gone"},
		{change{"a misspelt group of a harmless kind", policy, "", of("evil.example/v1", "HorizontalPodAutoscaler", "spec: {}")}, "is new"},
		{change{"a cloud-made policy beside the mesh", policy, of("crd.projectcalico.org/v1", "GlobalNetworkPolicy", "spec: {}"), ""}, "is gone"},

		// Meshes.
		{change{"an entry for pods", policy, "", of("networking.istio.io/v1", "ServiceEntry", "spec: {hosts: [a], workloadSelector: {labels: {app: web}}, ports: [{number: 8080, protocol: TCP}]}")}, "ServiceEntry"},
		{change{"an entry for addresses", policy, "", of("networking.istio.io/v1", "ServiceEntry", "spec: {hosts: [a], endpoints: [{address: 10.0.0.1}]}")}, "ServiceEntry"},
		{change{"metrics of Kuma", policy, "", "type: MeshMetric\nmesh: default\nname: m\nspec: {default: {applications: [{path: /admin, port: 8080}]}}"}, "MeshMetric"},
		{change{"a trust of Kuma", policy, "type: MeshTrust\nmesh: default\nname: m\nspec: {trustDomain: a}", "type: MeshTrust\nmesh: default\nname: m\nspec: {trustDomain: b}"}, "spec.trustDomain"},
		{change{"an identity of Kuma", policy, "type: MeshIdentity\nmesh: default\nname: m\nspec: {selector: {dataplane: {matchLabels: {}}}}", ""}, "is gone"},
		{change{"a zone", policy, "type: Zone\nname: z\nenabled: true", "type: Zone\nname: z\nenabled: false"}, "enabled"},
		{change{"a patch of containers of Kuma", policy, "", "apiVersion: kuma.io/v1alpha1\nkind: ContainerPatch\nmetadata: {name: 'n'}\nspec: {}"}, "ContainerPatch"},
		{change{"a group of addresses", cilium, "apiVersion: cilium.io/v2alpha1\nkind: CiliumCIDRGroup\nmetadata: {name: g}\nspec: {externalCIDRs: []}", "apiVersion: cilium.io/v2alpha1\nkind: CiliumCIDRGroup\nmetadata: {name: g}\nspec: {externalCIDRs: [0.0.0.0/0]}"}, "externalCIDRs"},
		{change{"a profile of Linkerd", linkerd, "", of("linkerd.io/v1alpha2", "ServiceProfile", "spec: {}")}, "ServiceProfile"},
		{change{"a route of Gateway API", policy, "", of("gateway.networking.k8s.io/v1", "GRPCRoute", "spec: {}")}, "GRPCRoute"},

		// Dataplanes.
		{change{"no transparent proxy", dp, ", transparentProxying: {redirectPortInbound: 15006}", ""}, "networking.transparentProxying"},
		{change{"the address of a Dataplane", dp, "address: 10.0.0.1", "address: 10.0.0.2"}, "networking.address"},
		{change{"the address of an inbound", dp, "protocol: http}", "protocol: http, address: 10.0.0.9}"}, "networking.inbound[0].address"},
		{change{"an outbound for others", dp, "{port: 9000,", "{address: 0.0.0.0, port: 9000,"}, "networking.outbound"},
		{change{"the service of a Dataplane", strings.Replace(dp, "protocol: http}", "protocol: http, tags: {kuma.io/service: db}}", 1), "kuma.io/service: db", "kuma.io/service: fe"}, "may call as somebody else"},
		{change{"the account of a Dataplane", strings.Replace(kdp, "name: web,", "name: web, labels: {k8s.kuma.io/service-account: db},", 1), "service-account: db", "service-account: fe"}, "may call as somebody else"},
		{change{"a label of an identity", together(dp, "type: MeshIdentity\nmesh: default\nname: i\nspec: {spiffeID: {path: '/{{ label \"app\" }}'}}"), "labels: {app: web}", "labels: {app: fe}"}, "may call as somebody else"},
		{change{"the admin of a Dataplane", dp, "networking: {", "networking: {admin: {port: 9901}, "}, "networking.admin"},
		{change{"a gateway", dp, "networking: {", "networking: {gateway: {type: DELEGATED, tags: {}}, "}, "networking.gateway"},
		{change{"probes in Kubernetes", kdp, "spec: {", "spec: {probes: {port: 9000}, "}, "spec.probes"},
		{change{"a transparent proxy in Kubernetes", kdp, "spec: {networking: {", "spec: {networking: {transparentProxying: {}, "}, "spec.networking.transparentProxying"},
		{change{"a new Dataplane with an outbound for others", kdp, "", strings.Replace(strings.Replace(dp, "{port: 9000,", "{address: 0.0.0.0, port: 9000,", 1), "name: web", "name: other", 1)}, "networking.outbound"},

		// What tools do with policies, and which of two objects is older.
		{change{"a hook of Helm", policy, "namespace: shop}", "namespace: shop, annotations: {helm.sh/hook: test}}"}, `metadata.annotations["helm.sh/hook"]`},
		{change{"a hook of Argo CD", policy, "namespace: shop}", "namespace: shop, annotations: {argocd.argoproj.io/hook: Skip}}"}, "argocd.argoproj.io/hook"},
		{change{"options of Argo CD", policy, "namespace: shop}", "namespace: shop, annotations: {argocd.argoproj.io/sync-options: Prune=false}}"}, "sync-options"},
		{change{"a policy that Flux skips, and a change beside it", strings.Replace(policy, "namespace: shop}", "namespace: shop, annotations: {kustomize.toolkit.fluxcd.io/reconcile: Disabled}}", 1), "", strings.Replace(policy, "name: p", "name: q", 1)}, "may not be applied by a tool"},
		{change{"a policy of other clusters, and a change beside it", strings.Replace(policy, "namespace: shop}", "namespace: shop, annotations: {configsync.gke.io/cluster-name-selector: staging}}", 1), "", strings.Replace(policy, "name: p", "name: q", 1)}, "may not be applied by a tool"},
		{change{"a label of Flux", policy, "namespace: shop}", "namespace: shop, labels: {kustomize.toolkit.fluxcd.io/reconcile: disabled}}"}, `metadata.labels["kustomize.toolkit.fluxcd.io/reconcile"]`},
		{change{"kapp", policy, "namespace: shop}", "namespace: shop, annotations: {kapp.k14s.io/noop: ''}}"}, "kapp.k14s.io/noop"},
		{change{"Config Sync", policy, "namespace: shop}", "namespace: shop, annotations: {configmanagement.gke.io/managed: disabled}}"}, "configmanagement.gke.io/managed"},
		{change{"a tool that nobody knows", policy, "namespace: shop}", "namespace: shop, annotations: {tool.example/skip: 'true'}}"}, "tool.example/skip"},
		{change{"the revision of Istio", policy, "namespace: shop}", "namespace: shop, labels: {istio.io/rev: canary}}"}, "istio.io/rev"},
		{change{"an owner, without whom a policy is deleted", policy, "namespace: shop}", "namespace: shop, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: b}]}"}, "metadata.ownerReferences"},
		{change{"a policy that goes", policy, "namespace: shop}", "namespace: shop, deletionTimestamp: '2026-01-01T00:00:00Z'}"}, "deletionTimestamp"},
		{change{"a hook that was there, and a change beside it", strings.Replace(policy, "namespace: shop}", "namespace: shop, annotations: {helm.sh/hook: test}}", 1), "", strings.Replace(policy, "name: p", "name: q", 1)}, "may not be applied by a tool"},
		{change{"times that change places", routes, "metadata: {name: a, namespace: shop, creationTimestamp: '2026-01-01T00:00:00Z'}", "metadata: {name: a, namespace: shop, creationTimestamp: '2026-03-01T00:00:00Z'}"}, "is older or younger than Server shop/a now"},
		{change{"a time that is there no more", routes, "creationTimestamp: '2026-01-01T00:00:00Z'", "uid: a"}, "older or younger"},
	} {
		tt.expect(t, tt.want)
	}
}
