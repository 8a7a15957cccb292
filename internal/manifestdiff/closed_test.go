package manifestdiff_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
)

// A kind that is harmless by most of its fields counts by each other one: the world is closed inside of it too.
func TestKindsAreClosedInside(t *testing.T) {
	t.Parallel()
	of := func(version, kind, name, meta, more string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: shop" + meta + "}\n" + more + "\n"
	}
	route := func(gateways, http string) string {
		return of("networking.istio.io/v1", "VirtualService", "v", "", "spec: {hosts: [shop.example.com], "+gateways+"http: ["+http+"]}")
	}
	const edge, web = "gateways: [edge], ", "route: [{destination: {host: web}, weight: 100, headers: {response: {set: {a: b}}}}]"
	rule := func(host, policy string) string {
		return of("networking.istio.io/v1", "DestinationRule", "d", "", "spec: {host: '"+host+"', "+policy+"}")
	}
	quota := func(bound string) string {
		return of("v1", "ResourceQuota", "q", "", "spec: {hard: {"+bound+": '1'}}")
	}
	ingress := func(annotation string) string {
		return of("networking.k8s.io/v1", "Ingress", "i", ", annotations: {"+annotation+"}", "spec: {}")
	}
	log := func(address string) string {
		return "type: MeshAccessLog\nmesh: default\nname: l\nspec: {rules: [{default: {backends: [{type: Tcp, tcp: {address: '" + address + "'}}]}}]}\n"
	}
	slice := func(service string) string {
		return of("discovery.k8s.io/v1", "EndpointSlice", "web", ", labels: {kubernetes.io/service-name: "+service+", endpointslice.kubernetes.io/managed-by: endpointslice-controller.k8s.io}", "endpoints: []")
	}
	identity := func(version, app string) string {
		return "apiVersion: cilium.io/v2\nkind: CiliumIdentity\nmetadata: {name: '1', resourceVersion: '" + version + "'}\nsecurity-labels: {'k8s:app': " + app + "}\n"
	}
	endpoint := func(app string) string {
		return of("cilium.io/v2", "CiliumEndpoint", "e", "", "status: {identity: {labels: ['k8s:app="+app+"']}}")
	}
	keys := together(policy, of("security.istio.io/v1", "RequestAuthentication", "r", "", "spec: {jwtRules: [{issuer: a, jwksUri: 'http://keys.shop.svc.cluster.local/k'}]}"))
	edgeTLS := together(policy, of("networking.istio.io/v1", "Gateway", "g", "", "spec: {servers: [{tls: {mode: MUTUAL, credentialName: shop-tls}}]}"))
	const issued = "cert-manager.io/cluster-issuer: root, cert-manager.io/duration: 1h"
	outside := of("v1", "Service", "outside", "", "spec: {ports: [{port: 80}]}")
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"a copy with another host", policy, route(edge, "{"+web+"}"), route(edge, "{"+web+", mirror: {host: web}}")}, "mirror"},
		{change{"copies with another host", policy, route(edge, "{"+web+"}"), route(edge, "{"+web+", mirrors: [{destination: {host: web}}]}")}, "mirrors"},
		{change{"a route that another document says", policy, route(edge, "{"+web+"}"), route(edge, "{delegate: {name: other}}")}, "delegate"},
		{change{"a field that nobody knows", policy, route(edge, "{"+web+"}"), route(edge, "{"+web+", future: a}")}, "future"},
		{change{"a part of another VirtualService, by an empty list", policy, "", strings.Replace(route("", "{rewrite: {uri: /a}, "+web+"}"), "[shop.example.com]", "[]", 1)}, "VirtualService"},
		{change{"a log to the own machine, with a user", policy, log("logs.example:80"), log("http://a@127.0.0.1:80/b")}, "address"},
		{change{"a log to a socket", policy, log("logs.example:80"), log("unix:///run/a")}, "address"},
		{change{"a copy by sidecars", policy, route("", "{"+web+"}"), route("", "{"+web+", mirror: {host: web}}")}, ""},
		{change{"where a gateway sends requests", policy, "", route(edge, "{match: [{headers: {a: {exact: b}}}], timeout: 1s, retries: {attempts: 1}, "+web+"}")}, ""},
		{change{"plaintext to a machine of the mesh", policy, "", rule("vm.example.com", "trafficPolicy: {tls: {mode: DISABLE}}")}, "DestinationRule"},
		{change{"a tunnel", policy, "", rule("web", "trafficPolicy: {tunnel: {targetHost: admin, targetPort: 80}}")}, "DestinationRule"},
		{change{"bounds of a subset", policy, "", rule("web", "subsets: [{name: a, labels: {a: b}, trafficPolicy: {portLevelSettings: [{port: {number: 80}, outlierDetection: {consecutive5xxErrors: 1}}]}}]")}, ""},
		{change{"a bound on policies", policy, "", quota("count/authorizationpolicies.security.istio.io")}, "ResourceQuota"},
		{change{"a bound on pods", policy, "", quota("count/deployments.apps")}, ""},
		{change{"a bound on what they ask for", policy, "", quota("requests.nvidia.com/gpu")}, ""},
		{change{"the prefix that an Ingress says", policy, ingress(""), ingress("nginx.ingress.kubernetes.io/x-forwarded-prefix: /a")}, "x-forwarded-prefix"},
		{change{"the path of another controller", policy, ingress(""), ingress("appgw.ingress.kubernetes.io/backend-path-prefix: /a")}, "backend-path-prefix"},
		{change{"the identity of a controller", policy, ingress(""), ingress("nginx.ingress.kubernetes.io/proxy-ssl-secret: shop/a")}, "proxy-ssl-secret"},
		{change{"the name of a caller in the certificate of an Ingress", policy, ingress(""), ingress("cert-manager.io/uri-sans: 'spiffe://cluster.local/ns/shop/sa/fe'")}, "uri-sans"},
		{change{"labels for the Secret of an Ingress", policy, ingress(""), ingress("cert-manager.io/secret-template: '{}'")}, "secret-template"},
		{change{"the Secret of a gateway, by an Ingress", edgeTLS, "", strings.Replace(ingress(issued), "spec: {}", "spec: {tls: [{hosts: [a.example], secretName: shop-tls-cacert}]}", 1)}, "Ingress"},
		{change{"another Secret, by an Ingress", edgeTLS, "", strings.Replace(ingress(issued), "spec: {}", "spec: {tls: [{hosts: [a.example], secretName: other}]}", 1)}, ""},
		{change{"limits of an Ingress", policy, ingress(""), ingress("nginx.ingress.kubernetes.io/limit-rps: '1', alb.ingress.kubernetes.io/scheme: internal, note: a")}, ""},
		{change{"a log to the own machine, with a dot", policy, log("logs.example:80"), log("localhost.:80")}, "address"},
		{change{"a log to the own machine, by a domain", policy, log("logs.example:80"), log("a.localhost:80")}, "address"},
		{change{"a log to the own machine, by the table of hosts", policy, log("logs.example:80"), log("ip6-loopback:80")}, "address"},
		{change{"a log to the own machine, by a short number", policy, log("logs.example:80"), log("127.1:80")}, "address"},
		{change{"a log to another machine", policy, log("logs.example:80"), log("logs.other:80")}, ""},
		{change{"addresses of a Service without a selector, under the name of another", policy + "---\n" + service + "---\n" + outside, "", slice("outside")}, "EndpointSlice"},
		{change{"addresses of a Service with a selector", policy + "---\n" + service, "", slice("web")}, ""},
		{change{"what an author writes of an endpoint", policy, endpoint("a"), endpoint("b")}, "status"},
		{change{"an extension of a service", policy, "", "type: MeshExternalService\nmesh: default\nname: x\nspec: {extension: {type: a}}\n"}, "MeshExternalService"},
		{change{"a new Service with addresses of others", policy, "", of("v1", "Service", "x", "", "spec: {selector: {app: x}, externalIPs: [10.0.0.1]}") + "---\n" + strings.ReplaceAll(deployment, "app: web", "app: x")}, "Service shop/x"},
		{change{"a new Service with the host of the keys of tokens", keys, "", of("v1", "Service", "keys", "", "spec: {type: ExternalName, externalName: a.example}")}, "Service shop/keys"},
		{change{"a new Service with the short host of the keys", strings.Replace(keys, "keys.shop.svc.cluster.local/k", "KEYS.shop:80/k", 1), "", of("v1", "Service", "keys", "", "spec: {type: ExternalName, externalName: a.example}")}, "Service shop/keys"},
		{change{"a new Service with another host", keys, "", of("v1", "Service", "x", "", "spec: {type: ExternalName, externalName: a.example}")}, ""},
		{change{"a name that an author changes", policy, identity("5", "a"), identity("5", "b")}, "security-labels"},
		{change{"a name with a version that an API server does not write", policy, "", identity("0", "b")}, "CiliumIdentity"},
		{change{"a name that an author changes, with its version", policy, identity("5", "a"), identity("6", "b")}, "security-labels"},
	} {
		tt.expect(t, tt.want)
	}
}

// Who has the control plane of the cluster, or a tool that applies or signs objects, passes the policies.
func TestSystemCounts(t *testing.T) {
	t.Parallel()
	of := func(version, kind, name, more string) string {
		in, name, _ := strings.Cut(name, "/")
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: " + in + "}\n" + more + "\n"
	}
	issuer := together(policy, of("cert-manager.io/v1", "ClusterIssuer", "default/root", "spec: {ca: {secretName: root-ca}}"))
	const excluded = "data: {resource.exclusions: 'a'}"
	pods := func(more string) string { return "spec: {containers: [{name: a, image: b" + more + "}]}" }
	made := func(image string) string {
		return strings.Replace(of("v1", "Pod", "kube-system/dns-1", "spec: {containers: [{name: a, image: "+image+"}]}"), "namespace: kube-system", "namespace: kube-system, ownerReferences: [{kind: DaemonSet, name: dns, controller: true}]", 1)
	}
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"the arguments of the API server", policy, of("v1", "Pod", "kube-system/kube-apiserver", pods(", args: [a]")), of("v1", "Pod", "kube-system/kube-apiserver", pods(", args: [b]"))}, "args"},
		{change{"the configuration of a component", policy, of("v1", "ConfigMap", "kube-system/kube-proxy", "data: {a: b}"), of("v1", "ConfigMap", "kube-system/kube-proxy", "data: {a: c}")}, "data.a"},
		{change{"a token that lets a node join", policy, "", of("v1", "Secret", "kube-system/bootstrap-token-abcdef", "type: bootstrap.kubernetes.io/token")}, "is new"},
		{change{"authorities of clients goes", policy, of("v1", "ConfigMap", "kube-system/extension-apiserver-authentication", "data: {a: b}"), ""}, "is gone"},
		{change{"kinds that Argo CD leaves out", policy, of("v1", "ConfigMap", "argocd/argocd-cm", "data: {a: b}"), of("v1", "ConfigMap", "argocd/argocd-cm", excluded)}, "resource.exclusions"},
		{change{"another program in the place of a made pod", together(policy, of("apps/v1", "Deployment", "kube-system/dns", "spec: {template: {"+pods("")+"}}")), "", strings.Replace(of("v1", "Pod", "kube-system/dns-1", pods(", command: [a]")), "namespace: kube-system", "namespace: kube-system, ownerReferences: [{kind: Deployment, name: dns, controller: true}]", 1)}, "Pod kube-system/dns-1"},
		{change{"no pods of a control plane", policy, "", of("keda.sh/v1alpha1", "ScaledObject", "istio-system/s", "spec: {minReplicaCount: 0}")}, "ScaledObject"},
		{change{"a bound on the pods of a control plane", policy, "", of("v1", "ResourceQuota", "kuma-system/s", "spec: {hard: {pods: '0'}}")}, "ResourceQuota"},
		{change{"no pods of a workload", policy, "", of("keda.sh/v1alpha1", "ScaledObject", "shop/s", "spec: {minReplicaCount: 0}")}, ""},
		{change{"another program in a made pod", policy, made("b"), made("c")}, "image"},
		{change{"a role for its configurations", policy, "", of("rbac.authorization.k8s.io/v1", "Role", "kube-system/r", "rules: [{apiGroups: [''], resources: [configmaps], verbs: [update]}]")}, "update configmaps"},
		{change{"a lease", policy, "", of("coordination.k8s.io/v1", "Lease", "kube-system/a", "spec: {}")}, ""},
		{change{"a pod that a workload made", together(policy, of("apps/v1", "Deployment", "kube-system/dns", "spec: {template: {"+pods("")+"}}")), "", strings.Replace(of("v1", "Pod", "kube-system/dns-1", pods("")), "namespace: kube-system", "namespace: kube-system, ownerReferences: [{kind: Deployment, name: dns, controller: true}]", 1)}, ""},
		{change{"the authority of an issuer of the mesh", together(issuer, of("cert-manager.io/v1", "Certificate", "linkerd/identity", "spec: {isCA: true, secretName: a, issuerRef: {name: root}}")), of("v1", "Secret", "shop/root-ca", "data: {tls.key: YQ==}"), of("v1", "Secret", "shop/root-ca", "data: {tls.key: Yg==}")}, "tls.key"},
		{change{"the authority of other hosts", together(issuer, of("cert-manager.io/v1", "Certificate", "shop/host", "spec: {dnsNames: [a.example], secretName: a, issuerRef: {name: root}}")), of("v1", "Secret", "shop/root-ca", "data: {tls.key: YQ==}"), of("v1", "Secret", "shop/root-ca", "data: {tls.key: Yg==}")}, ""},
		{change{"a client of a gateway", together(issuer, of("networking.istio.io/v1", "Gateway", "shop/edge", "spec: {servers: [{tls: {mode: MUTUAL, credentialName: root-ca}}]}")), "", of("cert-manager.io/v1", "Certificate", "shop/client", "spec: {dnsNames: [a.example], secretName: a, issuerRef: {name: root}}")}, "Certificate"},
		{change{"a user of the API server", policy, "", of("cert-manager.io/v1", "Certificate", "shop/client", "spec: {commonName: a, subject: {organizations: ['system:masters']}, secretName: a}")}, "Certificate"},
	} {
		tt.expect(t, tt.want)
	}
	changed := strings.Replace(policy, "sa/fe", "sa/fe2", 1)
	old, recent := sideOf(t, together(policy, of("v1", "ConfigMap", "argocd/argocd-cm", excluded))), sideOf(t, together(changed, of("v1", "ConfigMap", "argocd/argocd-cm", excluded)))
	if got := textOf(manifestdiff.Changes(old, recent)); !strings.Contains(got, "resource.exclusions") {
		t.Errorf("policies have changed, and Argo CD may leave some out: %q", got)
	}
}

// A new workload counts where it may get an address or an account that was somebody else's.
func TestNewWorkloadsOfOthers(t *testing.T) {
	t.Parallel()
	with := func(annotation string) string { return strings.Replace(deployment, "checksum/config", annotation, 1) }
	addresses := strings.Replace(policy, "principals: [cluster.local/ns/shop/sa/fe]", "ipBlocks: [10.0.0.5/32]", 1)
	binding := "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {kind: ClusterRole, name: cluster-admin}\nsubjects: [{kind: %, namespace: shop, name: @}]\n"
	bound := func(kind, name string) string {
		return together(policy, strings.NewReplacer("%", kind, "@", name).Replace(binding))
	}
	bearer := together(policy, "apiVersion: v1\nkind: Secret\nmetadata: {name: fe-token, namespace: shop}\ntype: kubernetes.io/service-account-token\n")
	monitor := func(secret string) string {
		return "apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: m, namespace: shop}\nspec: {endpoints: [{authorization: {credentials: {name: " + secret + "}}}]}\n"
	}
	gateway := func(account string) string {
		return "apiVersion: gateway.networking.x-k8s.io/v1alpha1\nkind: XAuthorizationPolicy\nmetadata: {name: p, namespace: shop}\nspec: {rules: [{sources: [{type: ServiceAccount, serviceAccount: " + account + "}]}]}\n"
	}
	entry := "apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: vm, namespace: shop}\nspec: {address: 10.0.0.9, labels: {app: vm}}\n"
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"an address of its own", addresses, "", with("cni.projectcalico.org/ipAddrs")}, "ipAddrs"},
		{change{"an address of its own, where no policy has one", policy, "", with("cni.projectcalico.org/ipAddrs")}, ""},
		{change{"a device of the node", policy, "", with("io.kubernetes.cri-o.Devices")}, "cri-o"},
		{change{"a device of the node, later", policy + "---\n" + deployment, "checksum/config", "io.kubernetes.cri-o.Devices"}, "cri-o"},
		{change{"an account that may change policies", bound("ServiceAccount", "web"), "", deployment}, "serviceAccountName"},
		{change{"a group that may change policies", bound("Group", "'system:serviceaccounts:shop'"), "", deployment}, "serviceAccountName"},
		{change{"the account default, which may change policies", bound("ServiceAccount", "default"), "", strings.Replace(deployment, "      serviceAccountName: web\n", "", 1)}, "may change policies"},
		{change{"the user of the sidecar", policy, "", strings.Replace(deployment, "runAsNonRoot: true", "runAsUser: 1337", 1)}, "runAsUser"},
		{change{"the group of the sidecar", policy, "", strings.Replace(deployment, "serviceAccountName: web\n", "serviceAccountName: web\n      securityContext: {runAsGroup: 1337}\n", 1)}, "runAsGroup"},
		{change{"another user", policy, "", strings.Replace(deployment, "runAsNonRoot: true", "runAsUser: 1000", 1)}, ""},
		{change{"power of an init container", policy, "", strings.Replace(deployment, "{name: migrate,", "{name: migrate, securityContext: {capabilities: {add: [NET_ADMIN]}},", 1)}, "capabilities.add"},
		{change{"a target that gets the token of an account", bearer, "", monitor("fe-token")}, "ServiceMonitor"},
		{change{"a target that gets another Secret", bearer, "", monitor("other")}, ""},
		{change{"an account that may not", bound("ServiceAccount", "other"), "", deployment}, ""},
		{change{"the address of a pod", policy, "", entry}, "is new"},
		{change{"an account of the policy's own namespace", gateway("{name: '*'}"), "", deployment}, "serviceAccountName"},
		{change{"an account of another namespace", gateway("{name: '*', namespace: other}"), "", deployment}, ""},
	} {
		tt.expect(t, tt.want)
	}
}

// A policy that an API server refuses, or that comes later than others, hides nothing that these let in.
func TestPoliciesThatMayNotCome(t *testing.T) {
	t.Parallel()
	with := func(text string) string {
		return strings.Replace(strings.Replace(policy, "name: ", "name: d-", 1), "namespace: shop", "namespace: shop, "+text, 1)
	}
	const wave = "annotations: {argocd.argoproj.io/sync-wave: '7'}"
	if !strings.Contains(with(wave), wave) {
		t.Fatal("the policy has another form")
	}
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"a label with a space", policy, "", with("labels: {a: 'b c'}")}, "metadata.labels.a (AuthorizationPolicy shop/d-p) is refused"},
		{change{"a key with a space", policy, "", with("labels: {'a b': c}")}, "is refused"},
		{change{"a key of an annotation with a space", policy, "", with("annotations: {'a b': c}")}, "is refused"},
		{change{"a long label", policy, "", with("labels: {a: " + strings.Repeat("b", 64) + "}")}, "is refused"},
		{change{"long annotations", policy, "", with("annotations: {a: " + strings.Repeat("b", 300000) + "}")}, "metadata.annotations (AuthorizationPolicy shop/d-p) is refused"},
		{change{"a finalizer without a domain", policy, "", with("finalizers: [a]")}, "finalizers"},
		{change{"another wave", policy, with(""), with(wave)}, "sync-wave"},
		{change{"a label by which kubectl deletes", policy, with(""), with("labels: {applyset.kubernetes.io/part-of: a}")}, "applyset.kubernetes.io/part-of"},
		{change{"a new policy of another wave", policy, "", with(wave)}, "sync-wave"},
		{change{"labels and annotations that it takes", policy, "", with("labels: {app.kubernetes.io/b: C_d.e}, annotations: {note: 'c d'}, finalizers: [a.example/b]")}, ""},
	} {
		tt.expect(t, tt.want)
	}
	// Of two sides side by side, the first one counts too.
	for text, want := range map[string]string{"labels: {a: 'b c'}": "is refused", wave: "sync-wave", "ownerReferences: [{kind: ConfigMap, name: a, uid: b}]": "ownerReferences"} {
		if got := textOf(manifestdiff.Differences(sideOf(t, together(policy, with(text))), sideOf(t, policy))); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
