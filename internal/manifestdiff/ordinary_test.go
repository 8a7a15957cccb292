package manifestdiff_test

import (
	"strings"
	"testing"
)

// Ordinary changes pass, and those beside them that may open something do not.
func TestOrdinaryAndNearby(t *testing.T) {
	t.Parallel()
	all := together(policy, deployment, service, serviceAccount)
	const security = "securityContext: {runAsNonRoot: true}"
	inPod := func(text string) string {
		return strings.Replace(all, "serviceAccountName: web\n", "serviceAccountName: web\n      "+text+"\n", 1)
	}
	// ports is a Service with a second port.
	ports := func(second string) string { return "targetPort: 8080}, " + second + "]" }
	const first = "targetPort: 8080}]"
	with := func(from, to string) string { return strings.Replace(all, from, to, 1) }
	kuma := together("type: MeshTrafficPermission\nmesh: default\nname: p\nspec: {targetRef: {kind: Dataplane, labels: {app: web}}, rules: [{default: {deny: [{spiffeID: {type: Prefix, value: 'spiffe://a/'}}]}}]}", service, deployment)
	route := func(kind, parent, rule string) string {
		return "apiVersion: gateway.networking.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: r, namespace: shop}\nspec: {" + parent + "hostnames: [a.example], rules: [{" + rule + "}]}\n"
	}
	allowOf := func(version, kind string) string {
		return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: p, namespace: shop}\nspec: {endpointSelector: {}, ingress: [{}]}\n"
	}
	const (
		edge     = "parentRefs: [{name: edge}], "
		backends = "matches: [{path: {type: PathPrefix, value: /}}], timeouts: {request: 1s}, backendRefs: [{name: web, port: 80}]"
		attached = "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: SecurityPolicy\nmetadata: {name: s, namespace: shop}\nspec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: other}]}\n"
	)
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"options of the resolver", all, "serviceAccountName: web\n", "serviceAccountName: web\n      dnsConfig: {options: [{name: ndots, value: '2'}]}\n"}, ""},
		{change{"no token", all, "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n"}, ""},
		{change{"no token of an account", all, "kind: ServiceAccount", "kind: ServiceAccount\nautomountServiceAccountToken: false"}, ""},
		{change{"no token of Cilium", together(allowOf("cilium.io/v2", "CiliumNetworkPolicy"), deployment, serviceAccount), "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n"}, ""},
		{change{"a new workload without a token", policy, "", strings.Replace(deployment, "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n", 1)}, ""},
		{change{"a token again", inPod("automountServiceAccountToken: false"), "automountServiceAccountToken: false", "automountServiceAccountToken: true"}, "automountServiceAccountToken"},
		{change{"no token of Kuma", kuma, "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n"}, "automountServiceAccountToken"},
		{change{"no token beside Linkerd", together(all, linkerdServer), "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n"}, "automountServiceAccountToken"},
		{change{"no token in a namespace of Linkerd", together(all, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {linkerd.io/inject: enabled}}"), "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n"}, "automountServiceAccountToken"},
		{change{"no token without policies", together(deployment, serviceAccount), "serviceAccountName: web\n", "serviceAccountName: web\n      automountServiceAccountToken: false\n"}, "automountServiceAccountToken"},
		{change{"another server of names", all, "serviceAccountName: web\n", "serviceAccountName: web\n      dnsConfig: {options: [{name: ndots, value: '2'}], nameservers: [10.0.0.9]}\n"}, "dnsConfig.nameservers"},
		{change{"another domain of names", all, "serviceAccountName: web\n", "serviceAccountName: web\n      dnsConfig: {searches: [a.example]}\n"}, "dnsConfig.searches"},

		{change{"a user", all, security, "securityContext: {runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000}"}, ""},
		{change{"the user of a sidecar", all, security, "securityContext: {runAsUser: 1337}"}, "securityContext.runAsUser"},
		{change{"the group of a sidecar", all, security, "securityContext: {runAsGroup: 1337}"}, "securityContext.runAsGroup"},
		{change{"the user with all power", all, security, "securityContext: {runAsUser: 0}"}, "securityContext.runAsUser"},
		{change{"a user in the place of that of the sidecar", with(security, "securityContext: {runAsUser: 1337}"), "runAsUser: 1337", "runAsUser: 1000"}, "securityContext.runAsUser"},
		{change{"a user in the place of that of the pod", inPod("securityContext: {runAsUser: 1337}"), security, "securityContext: {runAsUser: 1000}"}, "securityContext.runAsUser"},
		{change{"a user of the pod", all, "serviceAccountName: web\n", "serviceAccountName: web\n      securityContext: {runAsUser: 1000}\n"}, "securityContext.runAsUser"},
		{change{"a user of an init container", all, "{name: migrate,", "{name: migrate, securityContext: {runAsUser: 1000},"}, "initContainers[0].securityContext"},
		{change{"a user that is a text", all, security, "securityContext: {runAsUser: '1000'}"}, "securityContext.runAsUser"},

		{change{"the user that a mesh gives to a sidecar", with("checksum/config: abc", "config.linkerd.io/proxy-uid: '1000'"), security, "securityContext: {runAsUser: 1000}"}, "securityContext.runAsUser"},

		{change{"a second port of a Service with a waypoint", with("kind: Service\nmetadata: {name: web, namespace: shop}", "kind: Service\nmetadata: {name: web, namespace: shop, labels: {istio.io/use-waypoint: a}}"), first, ports("{name: http-alt, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a second port in a Namespace with a waypoint", together(all, "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {istio.io/use-waypoint: a}}"), first, ports("{name: http-alt, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a second port for the same one", all, first, ports("{name: http-alt, port: 81, targetPort: 8080}")}, ""},
		{change{"a second port in front", all, "ports: [{name: http, port: 80, targetPort: 8080}]", "ports: [{name: http-alt, port: 81, targetPort: 8080}, {name: http, port: 80, targetPort: 8080}]"}, "spec.ports[0]"},
		{change{"a second port of another protocol", all, first, ports("{name: tcp-alt, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a second port with a protocol of its own", all, first, ports("{name: http-alt, port: 81, targetPort: 8080, appProtocol: tcp}")}, "spec.ports[1]"},
		{change{"a second port for another one", all, first, ports("{name: http-alt, port: 81, targetPort: 8081}")}, "spec.ports[1]"},
		{change{"a second port for a named one", all, first, ports("{name: http-alt, port: 81, targetPort: http}")}, "spec.ports[1]"},
		{change{"a second port of UDP", all, first, ports("{name: http-alt, port: 81, targetPort: 8080, protocol: UDP}")}, "spec.ports[1]"},
		{change{"a second port that a port of the pods has", all, first, ports("{name: http-alt, port: 8081, targetPort: 8080}")}, ""},
		{change{"a second port with a field that nobody knows", all, first, ports("{name: http-alt, port: 81, targetPort: 8080, future: a}")}, "spec.ports[1]"},
		{change{"a second port of a balancer", with("spec: {selector: {app: web}, ports", "spec: {type: LoadBalancer, selector: {app: web}, ports"), first, ports("{name: http-alt, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a second port of Kuma", kuma, first, ports("{name: http-alt, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a second port, without policies", together(deployment, service), first, ports("{name: http-alt, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a second port of a Service with a policy", with("selector: {matchLabels: {app: web}}, rules", "targetRefs: [{kind: Service, group: '', name: web}], rules"), first, ports("{name: http-alt, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a port that goes", with(first, ports("{name: http-alt, port: 81, targetPort: 8080}")), ports("{name: http-alt, port: 81, targetPort: 8080}"), first}, "spec.ports[1]"},

		{change{"a route of a gateway", policy, "", route("HTTPRoute", edge, backends)}, ""},
		{change{"a route of gRPC", policy, "", route("GRPCRoute", edge, "backendRefs: [{name: web, port: 80}]")}, ""},
		{change{"where a gateway sends requests", policy, route("HTTPRoute", edge, backends), route("HTTPRoute", edge, strings.Replace(backends, "name: web", "name: web2", 1))}, ""},
		{change{"a route that redirects", policy, "", route("HTTPRoute", edge, "filters: [{type: RequestRedirect, requestRedirect: {scheme: https}}]")}, ""},
		{change{"another path behind a gateway", policy, route("HTTPRoute", edge, backends), route("HTTPRoute", edge, "filters: [{type: URLRewrite, urlRewrite: {hostname: a}}], "+backends)}, "HTTPRoute"},
		{change{"a header of a gateway", policy, "", route("HTTPRoute", edge, "filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: a, value: b}]}}], "+backends)}, "HTTPRoute"},
		{change{"a filter of a backend", policy, "", route("HTTPRoute", edge, "backendRefs: [{name: web, port: 80, filters: [{type: URLRewrite}]}]")}, "HTTPRoute"},
		{change{"copies of requests", policy, "", route("HTTPRoute", edge, "filters: [{type: RequestMirror, requestMirror: {}}], "+backends)}, "HTTPRoute"},
		{change{"a filter with two contents", policy, "", route("HTTPRoute", edge, "filters: [{type: RequestRedirect, urlRewrite: {hostname: a}}], "+backends)}, "HTTPRoute"},
		{change{"a route of a Service", policy, "", route("HTTPRoute", "parentRefs: [{group: '', kind: Service, name: web}], ", backends)}, "HTTPRoute"},
		{change{"a route of a gateway and a Service", policy, "", route("HTTPRoute", "parentRefs: [{name: edge}, {group: '', kind: Service, name: web}], ", backends)}, "HTTPRoute"},
		{change{"a route of nothing", policy, "", route("HTTPRoute", "", backends)}, "HTTPRoute"},
		{change{"a field of a route that nobody knows", policy, "", route("HTTPRoute", edge, backends+", future: a")}, "HTTPRoute"},
		{change{"a route beside one with a policy", together(policy, attached), "", route("HTTPRoute", edge, backends)}, "HTTPRoute"},
		{change{"a field without content that nobody knows", policy, "", route("HTTPRoute", edge, backends+", future: {}")}, "HTTPRoute"},
		{change{"an annotation of a controller", policy, "", strings.Replace(route("HTTPRoute", edge, backends), "namespace: shop}", "namespace: shop, annotations: {konghq.com/strip-path: 'true'}}", 1)}, "HTTPRoute"},
		{change{"a route of a gateway, beside Linkerd", linkerdServer, "", route("HTTPRoute", edge, backends)}, ""},
		{change{"a second port beside one without a name", with("{name: http, port: 80", "{port: 80"), first, ports("{name: http-alt, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a second port that gRPC of the web has", with("{name: http, port: 80", "{name: grpc, port: 80"), first, ports("{name: grpc-web-b, port: 81, targetPort: 8080}")}, "spec.ports[1]"},
		{change{"a route of TCP", policy, "", route("TCPRoute", edge, "backendRefs: [{name: web, port: 80}]")}, "TCPRoute"},
	} {
		tt.expect(t, tt.want)
	}
}
