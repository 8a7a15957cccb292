package manifestdiff_test

import (
	"fmt"
	"strings"
	"testing"
)

// A role counts where it lets its subjects in past the policies. Most roles do not.
func TestRights(t *testing.T) {
	t.Parallel()
	role := func(kind, group, resources, verbs, more string) string {
		return fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata: {name: r, namespace: shop}\nrules: [{apiGroups: ['%s'], resources: [%s], verbs: [%s]%s}]\n", kind, group, resources, verbs, more)
	}
	binding := func(role, subject string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: shop}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + role + "}\nsubjects: [{kind: ServiceAccount, name: " + subject + "}]\n"
	}
	exec, reads := role("Role", "", "pods/exec", "create", ""), role("Role", "", "pods, configmaps", "get, list, watch", "")
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"tokens of accounts", policy, "", role("Role", "", "serviceaccounts/token", "create", "")}, "create serviceaccounts/token"},
		{change{"tokens of one account", policy, "", role("Role", "", "serviceaccounts/token", "create", ", resourceNames: [fe]")}, "create serviceaccounts/token fe"},
		{change{"tokens of another account", policy, role("Role", "", "serviceaccounts/token", "create", ", resourceNames: [be]"), role("Role", "", "serviceaccounts/token", "create", ", resourceNames: [fe]")}, "fe"},
		{change{"a part of every resource", policy, "", role("Role", "", "'*/token'", "create", "")}, "create */token"},
		{change{"everything", policy, "", role("ClusterRole", "*", "'*'", "'*'", "")}, "* *.*"},
		{change{"a verb more", policy, role("Role", "", "secrets", "create", ""), role("Role", "", "secrets", "create, list", "")}, "list secrets"},
		{change{"another account", policy, "", role("ClusterRole", "", "serviceaccounts", "impersonate", "")}, "impersonate serviceaccounts"},
		{change{"commands in a pod", policy, "", exec}, "create pods/exec"},
		{change{"pods of any account", policy, "", role("Role", "apps", "deployments", "patch", "")}, "patch deployments.apps"},
		{change{"the console of a virtual machine", policy, "", role("Role", "subresources.kubevirt.io", "virtualmachineinstances/vsock", "get", "")}, "get virtualmachineinstances/vsock.subresources.kubevirt.io"},
		{change{"the logs and the metrics of pods and nodes", policy, "", role("ClusterRole", "", "pods/log, nodes/metrics, nodes/stats", "get", "")}, ""},
		{change{"policies", policy, "", role("Role", "security.istio.io", "authorizationpolicies", "delete", "")}, "delete authorizationpolicies.security.istio.io"},
		{change{"labels of a namespace", policy, "", role("ClusterRole", "", "namespaces", "patch", "")}, "patch namespaces"},
		{change{"the kinds of policies", policy, "", role("ClusterRole", "apiextensions.k8s.io", "customresourcedefinitions", "delete", "")}, "delete customresourcedefinitions"},
		{change{"mutations", policy, "", role("ClusterRole", "kyverno.io", "clusterpolicies", "create", "")}, "create clusterpolicies.kyverno.io"},
		{change{"certificates", policy, "", role("ClusterRole", "certificates.k8s.io", "signers", "sign", "")}, "sign signers"},
		{change{"rules of other roles", policy, "", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\naggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}\n"}, "the rules of other roles"},
		{change{"a role that no file describes", policy, "", binding("ClusterRole, name: cluster-admin", "web")}, "cluster-admin for ServiceAccount shop web"},
		{change{"one subject more of such a role", exec + "---\n" + policy, binding("Role, name: r", "web"), binding("Role, name: r", "evil")}, "Role r for ServiceAccount shop evil"},
		{change{"reading", policy, "", reads}, ""},
		{change{"a binding of it", reads + "---\n" + policy, "", binding("Role, name: r", "web")}, ""},
		{change{"a role for readers", policy, "", binding("ClusterRole, name: view", "web")}, ""},
		{change{"a role with the name of readers, which gives more", strings.Replace(role("Role", "", "pods/exec", "create", ""), "name: r,", "name: view,", 1) + "---\n" + policy, "", binding("Role, name: view", "web")}, "Role view for ServiceAccount shop web"},
		{change{"the status of every kind", policy, "", role("ClusterRole", "*", "'*/status'", "update", "")}, "update */status"},
		{change{"what agents write", policy, "", role("ClusterRole", "cilium.io", "ciliumendpoints/status", "update", "")}, "update ciliumendpoints/status"},
		{change{"less", policy, role("ClusterRole", "*", "'*'", "'*'", ""), role("ClusterRole", "", "pods/exec", "create", "")}, ""},
		{change{"a role goes", policy, exec, ""}, ""},
		{change{"elections", policy, "", role("Role", "coordination.k8s.io', '', 'events.k8s.io", "leases, events, configmaps", "'*'", "")}, ""},
		{change{"ConfigMaps of every namespace", policy, "", role("ClusterRole", "", "configmaps", "update", "")}, "update configmaps"},
		{change{"an unknown kind", policy, "", role("Role", "shop.example", "carts", "'*'", "")}, "* carts.shop.example"},
		{change{"an unknown verb", policy, "", role("Role", "", "events", "launch", "")}, "launch events"},
		{change{"Secrets that are written", policy, "", role("Role", "", "secrets", "create", "")}, "create secrets"},
		{change{"what a tool applies", policy, "", role("Role", "argoproj.io", "applications", "create", "")}, "create applications.argoproj.io"},
		{change{"the addresses of pods", policy, "", role("Role", "", "pods/status", "patch", "")}, "patch pods/status"},
		{change{"certificates of an issuer", policy, "", role("Role", "cert-manager.io", "certificaterequests", "create", "")}, "create certificaterequests"},
		{change{"questions about rights", policy, "", role("ClusterRole", "authentication.k8s.io', 'authorization.k8s.io", "tokenreviews, subjectaccessreviews", "create", "")}, ""},
		{change{"the number of pods, and their end", policy, "", role("Role", "apps', '", "deployments/scale, statefulsets/scale", "patch, update", "")}, ""},
		{change{"the number of pods of every namespace", policy, "", role("ClusterRole", "apps", "deployments/scale", "patch", "")}, "patch deployments/scale"},
		{change{"the end of pods of every namespace", policy, "", role("ClusterRole", "apps", "deployments", "delete", "")}, "delete deployments"},
		{change{"the end of the pods of a cluster's control plane", policy, "", strings.Replace(role("Role", "", "pods", "delete", ""), "namespace: shop", "namespace: kube-system", 1)}, "delete pods"},
		{change{"monitors, which send Secrets", policy, "", role("Role", "monitoring.coreos.com", "servicemonitors", "create", "")}, "create servicemonitors"},
		{change{"the end of pods", policy, "", role("Role", "", "pods", "get, delete, deletecollection", "")}, ""},
		{change{"every kind of a group is read", policy, "", role("ClusterRole", "apps", "'*'", "get, list, watch", "")}, ""},
		{change{"every kind is read", policy, "", role("ClusterRole", "", "'*'", "get", "")}, "get *"},
		{change{"all in the place of one", policy, role("Role", "", "pods/exec", "create", ""), role("Role", "", "'*/exec'", "create", "")}, "create */exec"},
		{change{"one in the place of all", policy, role("Role", "", "'*/exec'", "create", ""), role("Role", "", "pods/exec", "create", ", resourceNames: [a]")}, ""},
		{change{"a role whose rules other roles take", policy, role("ClusterRole", "", "users", "impersonate", ""), strings.Replace(role("ClusterRole", "", "users", "impersonate", ""), "namespace: shop", "namespace: shop, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}", 1)}, "aggregate-to-view=true"},
		{change{"a role that reads, and whose rules other roles take", policy, role("ClusterRole", "", "pods", "get", ""), strings.Replace(role("ClusterRole", "", "pods", "get", ""), "namespace: shop", "namespace: shop, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}", 1)}, ""},
		{change{"one Secret of any namespace", policy, "", role("ClusterRole", "", "secrets", "get", ", resourceNames: [cacerts]")}, "get secrets cacerts"},
		{change{"one Secret that a control plane made", policy, "", role("Role", "", "secrets", "get", ", resourceNames: [fe-token-ab1de]")}, "get secrets fe-token-ab1de"},
		{change{"one Secret", policy, "", role("Role", "", "secrets", "get", ", resourceNames: [db]")}, ""},
		{change{"what gateways change", policy, "", role("Role", "networking.istio.io", "virtualservices, destinationrules", "update", "")}, "update virtualservices"},
		{change{"the status of policies", policy, "", role("Role", "security.istio.io", "authorizationpolicies/status", "update", "")}, ""},
	} {
		tt.expect(t, tt.want)
	}
}

// A ConfigMap counts where a tool may apply what it has. Most configurations are no manifests.
func TestCarriedManifests(t *testing.T) {
	t.Parallel()
	config := func(kind, field, text string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: %s\nmetadata: {name: 'n', namespace: shop}\n%s: {a: %s}\n", kind, field, text)
	}
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"a policy", policy, "", config("ConfigMap", "data", `"apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy"`)}, "ConfigMap shop/n"},
		{change{"the mesh of an operator", policy, "", config("ConfigMap", "data", `"apiVersion: sailoperator.io/v1\nkind: Istio"`)}, "ConfigMap shop/n"},
		{change{"an unknown kind", policy, "", config("ConfigMap", "data", `"apiVersion: a.example/v1\nkind: Thing"`)}, "ConfigMap shop/n"},
		{change{"the cluster to which Argo CD applies", policy, "", strings.Replace(config("Secret", "data", "YQ=="), "namespace: shop", "namespace: shop, labels: {argocd.argoproj.io/secret-type: cluster}", 1)}, "Secret shop/n"},
		{change{"a policy as JSON", policy, "", config("ConfigMap", "data", `'{"kind": "Namespace", "apiVersion": "v1"}'`)}, "ConfigMap shop/n"},
		{change{"a policy of Kuma on Universal", policy, config("ConfigMap", "data", `"type: MeshTrafficPermission\nname: p"`), ""}, "ConfigMap shop/n"},
		{change{"a policy in binary data", policy, "", config("ConfigMap", "binaryData", "YXBpVmVyc2lvbjogdjEKa2luZDogTmFtZXNwYWNl")}, "ConfigMap shop/n"},
		{change{"a policy in a Secret", policy, "", config("Secret", "data", "YXBpVmVyc2lvbjogdjEKa2luZDogTmFtZXNwYWNl")}, "Secret shop/n"},
		{change{"a configuration of a component", policy, "", config("ConfigMap", "data", `"apiVersion: kubelet.config.k8s.io/v1\nkind: KubeletConfiguration"`)}, ""},
		{change{"where an API server is", policy, "", config("ConfigMap", "data", `"apiVersion: v1\nkind: Config\nclusters: []"`)}, ""},
		{change{"a configuration with a version", policy, "", config("ConfigMap", "data", `"apiVersion: 1\ndatasources: [{type: prometheus}]"`)}, ""},
	} {
		tt.expect(t, tt.want)
	}
}

// Istio takes the protocol of a port of a workload from the oldest Service, and there from the first port that leads to it.
func TestOrderOfServices(t *testing.T) {
	t.Parallel()
	named := func(name, selector, age, ports string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + ", namespace: shop" + age + "}\nspec: {selector: {" + selector + "}, ports: [" + ports + "]}\n---\n"
	}
	age := func(year string) string { return ", creationTimestamp: '" + year + "-01-01T00:00:00Z'" }
	const http, tcp, other = "{name: http, port: 80, targetPort: 8080}", "{name: tcp, port: 8080}", "{name: tcp, port: 81, targetPort: 8081}"
	b := named("b", "app: web", age("2021"), http)
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"ports of one target", policy, named("a", "app: web", "", tcp+", "+http), named("a", "app: web", "", http+", "+tcp)}, "spec.ports"},
		{change{"ports of two targets", policy, named("a", "app: web", "", other+", "+http), named("a", "app: web", "", http+", "+other)}, ""},
		{change{"ages", b + policy, named("a", "app: web", age("2020"), tcp), named("a", "app: web", age("2022"), tcp)}, "older or younger than Service shop/b"},
		{change{"ages of other pods", b + policy, named("a", "app: db", age("2020"), tcp), named("a", "app: db", age("2022"), tcp)}, ""},
		{change{"an age that an API server wrote", b + policy, named("a", "app: web", "", tcp), named("a", "app: web", age("2022"), tcp)}, ""},
	} {
		tt.expect(t, tt.want)
	}
}

// A gateway, a sidecar or a cloud may let requests past a policy by what passes otherwise.
func TestWhatChangesRequests(t *testing.T) {
	t.Parallel()
	ingress := func(annotation string) string {
		return "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: shop, annotations: {" + annotation + "}}\nspec: {}\n"
	}
	log := func(address string) string {
		return "type: MeshAccessLog\nmesh: default\nname: l\nspec: {rules: [{default: {backends: [{type: Tcp, tcp: {address: '" + address + "'}}]}}]}\n"
	}
	users := func(text string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aws-auth, namespace: kube-system}\ndata: {mapRoles: " + text + "}\n"
	}
	rule := func(host, tls string) string {
		return "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: d, namespace: shop}\nspec: {host: '" + host + "', trafficPolicy: {" + tls + "}}\n"
	}
	entry := func(host string) string {
		return "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: e, namespace: shop}\nspec: {hosts: ['" + host + "'], resolution: DNS}\n"
	}
	const disk = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: v}\nspec: {hostPath: {path: /}, claimRef: {name: c, namespace: shop}}\n---\n"
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: d, namespace: shop}\nspec: {volumeName: v}\n---\n"
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"the claim of a folder of a node", disk + policy + "---\n" + deployment, "emptyDir: {}", "persistentVolumeClaim: {claimName: c}"}, "volumes[0].persistentVolumeClaim"},
		{change{"a claim that names a folder of a node", disk + claim + policy + "---\n" + deployment, "emptyDir: {}", "persistentVolumeClaim: {claimName: d}"}, "volumes[0].persistentVolumeClaim"},
		{change{"a claim that names the folder now", disk + policy + "---\n" + deployment + "---\n" + strings.Replace(claim, "volumeName: v", "volumeName: w", 1), "volumeName: w", "volumeName: v"}, "spec.volumeName"},
		{change{"a claim of the class of the folder", strings.Replace(disk, "{hostPath", "{storageClassName: local, hostPath", 1) + policy + "---\n" + strings.Replace(claim, "volumeName: v", "storageClassName: fast", 1), "Name: fast", "Name: local"}, "spec.storageClassName"},
		{change{"a claim of the pod itself", disk + policy + "---\n" + deployment, "emptyDir: {}", "ephemeral: {volumeClaimTemplate: {spec: {volumeName: v}}}"}, "volumes[0].ephemeral"},
		{change{"a claim of the pod itself for another volume", disk + policy + "---\n" + deployment, "emptyDir: {}", "ephemeral: {volumeClaimTemplate: {spec: {volumeName: w}}}"}, ""},
		{change{"a new set with a claim of the folder", disk + policy, "", strings.NewReplacer("kind: Deployment", "kind: StatefulSet", "  replicas: 2", "  volumeClaimTemplates: [{metadata: {name: d}, spec: {volumeName: v}}]").Replace(deployment)}, "StatefulSet"},
		{change{"another claim", disk + policy + "---\n" + deployment, "emptyDir: {}", "persistentVolumeClaim: {claimName: d}"}, ""},
		{change{"a certificate of a signer", policy + "---\n" + deployment, "emptyDir: {}", "projected: {sources: [{podCertificate: {signerName: a}}]}"}, "volumes[0].projected"},
		{change{"no mTLS to a service", policy, "", rule("web", "tls: {mode: DISABLE}")}, "DestinationRule"},
		{change{"the mTLS of the mesh to a service", policy, rule("web", ""), rule("web", "tls: {mode: ISTIO_MUTUAL}")}, ""},
		{change{"the mTLS of the mesh in the place of none", policy, rule("web", "tls: {mode: DISABLE}"), rule("web", "tls: {mode: ISTIO_MUTUAL}")}, "mode"},
		{change{"no mTLS to a port of all services", policy, "", rule("*.local", "portLevelSettings: [{port: {number: 80}, tls: {mode: DISABLE}}]")}, "DestinationRule"},
		{change{"TLS to another host", policy, "", rule("api.example.com", "tls: {mode: SIMPLE}")}, ""},
		{change{"how a service is called", policy, "", rule("web", "connectionPool: {tcp: {maxConnections: 1}}")}, ""},
		{change{"an entry with the name of a service", policy, "", entry("web.shop.svc.cluster.local")}, "ServiceEntry"},
		{change{"an entry of another host", policy, "", entry("api.example.com")}, ""},
		{change{"a path of an Ingress", policy, ingress(""), ingress("nginx.ingress.kubernetes.io/rewrite-target: /admin")}, "rewrite-target"},
		{change{"a snippet of an Ingress", policy, ingress(""), ingress("nginx.ingress.kubernetes.io/configuration-snippet: a")}, "configuration-snippet"},
		{change{"the host of an Ingress", policy, ingress(""), ingress("nginx.ingress.kubernetes.io/upstream-vhost: a")}, "upstream-vhost"},
		{change{"middlewares of an Ingress", policy, ingress(""), ingress("traefik.ingress.kubernetes.io/router.middlewares: a")}, "router.middlewares"},
		{change{"a bound of an Ingress", policy, ingress(""), ingress("nginx.ingress.kubernetes.io/proxy-body-size: 10m, cert-manager.io/cluster-issuer: a")}, ""},
		{change{"a log to the own workload", policy, "", log("127.0.0.1:8080")}, "MeshAccessLog"},
		{change{"a log to the own workload, by IPv6", policy, "", log("[::ffff:127.0.0.1]:8080")}, "MeshAccessLog"},
		{change{"a log to the own workload, by name", policy, log("a.example:80"), log("http://localhost/a")}, "address"},
		{change{"a log to another host", policy, "", log("collector.logs:4317")}, ""},
		{change{"users of a cloud", policy, users("a"), users("b")}, "aws-auth"},
	} {
		tt.expect(t, tt.want)
	}
}
