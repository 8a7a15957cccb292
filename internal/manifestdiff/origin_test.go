package manifestdiff_test

import (
	"strings"
	"testing"
)

// Where policies choose callers by addresses, it counts who reaches a balancer and from which address it sends requests.
func TestOriginsOfRequests(t *testing.T) {
	t.Parallel()
	const (
		blocks = "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a, namespace: shop}\nspec: {rules: [{from: [{source: {ipBlocks: [10.0.128.0/17]}}]}]}\n"
		class  = "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: alb, annotations: {%}}\nspec: {controller: ingress.k8s.aws/alb}\n"
	)
	nodes := func(entity string) string {
		return "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: c, namespace: shop}\nspec: {endpointSelector: {}, ingress: [{fromEntities: [" + entity + "]}]}\n"
	}
	ingress := func(annotations, more string) string {
		return "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i, namespace: shop, annotations: {" + annotations + "}}\nspec: {" + more + "rules: [{host: a.example}]}\n"
	}
	alb := func(annotation string) string { return ingress("alb.ingress.kubernetes.io/"+annotation, "") }
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"pods in the place of nodes", blocks, alb("target-type: ip"), alb("target-type: instance")}, "target-type"},
		{change{"pods in the place of nodes, by entities", nodes("remote-node"), alb("target-type: ip"), alb("target-type: instance")}, "target-type"},
		{change{"the internet", blocks, alb("scheme: internal"), alb("scheme: internet-facing")}, "scheme"},
		{change{"the internet, by default", blocks, alb("scheme: internal"), ingress("", "")}, "scheme"},
		{change{"other subnets", blocks, alb("subnets: a"), alb("subnets: b")}, "subnets"},
		{change{"other groups of security", blocks, alb("security-groups: a"), alb("security-groups: b")}, "security-groups"},
		{change{"the balancer of another Ingress", blocks, alb("group.name: a"), alb("group.name: b")}, "group.name"},
		{change{"another entry", blocks, ingress("traefik.ingress.kubernetes.io/router.entrypoints: a", ""), ingress("traefik.ingress.kubernetes.io/router.entrypoints: b", "")}, "entrypoints"},
		{change{"another controller", blocks, ingress("kubernetes.io/ingress.class: internal", ""), ingress("kubernetes.io/ingress.class: public", "")}, "ingress.class"},
		{change{"another controller, by a field", blocks, ingress("", "ingressClassName: internal, "), ingress("", "ingressClassName: public, ")}, "spec.ingressClassName"},
		{change{"a new balancer for the internet", blocks, "", alb("scheme: internet-facing")}, "is new"},
		{change{"two Ingresses of one name", blocks, alb("scheme: internal"), alb("scheme: internal") + "---\n" + alb("scheme: internet-facing")}, "twice"},
		{change{"a class that Ingresses have by default", blocks, strings.Replace(class, "%", "", 1), strings.Replace(class, "%", "ingressclass.kubernetes.io/is-default-class: 'true'", 1)}, "is-default-class"},
		{change{"another controller of a class", blocks, strings.Replace(class, "%", "", 1), strings.Replace(strings.Replace(class, "%", "", 1), "aws/alb", "aws/other", 1)}, "spec.controller"},

		{change{"the internet, where policies have no address", policy, alb("scheme: internal"), alb("scheme: internet-facing")}, ""},
		{change{"another host", blocks, alb("scheme: internal"), strings.Replace(alb("scheme: internal"), "a.example", "b.example", 1)}, ""},
		{change{"another certificate", blocks, alb("certificate-arn: a"), alb("certificate-arn: b")}, ""},
		{change{"a new Ingress", blocks, "", ingress("", "ingressClassName: public, ")}, ""},
		{change{"an Ingress that goes", blocks, alb("scheme: internal"), ""}, ""},
		{change{"a new class", blocks, "", strings.Replace(class, "%", "", 1)}, ""},
	} {
		tt.expect(t, tt.want)
	}
}

// An author may write what agents of Cilium write, with a version too. It passes in an export alone: what an API server writes is
// in each policy and each object of the kind.
func TestObjectsOfAgents(t *testing.T) {
	t.Parallel()
	const written = "resourceVersion: '%', uid: 3f4bc1a5-6d59-4a0b-9e13-6c1f7b9a4d01, creationTimestamp: '2026-01-01T00:00:00Z'"
	by := func(version string) string { return strings.Replace(written, "%", version, 1) }
	rules := func(meta string) string {
		return "apiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: c, namespace: shop, " + meta + "}\nspec: {endpointSelector: {}, ingress: [{fromEntities: [remote-node]}]}\n"
	}
	node := func(name, meta, ip string) string {
		return "apiVersion: cilium.io/v2\nkind: CiliumNode\nmetadata: {name: " + name + ", " + meta + "}\nspec: {addresses: [{ip: " + ip + ", type: InternalIP}]}\n"
	}
	export := together(rules(by("3")), node("a", by("4"), "10.0.0.4"))
	for _, tt := range []struct {
		change
		want string
	}{
		{change{"a new one with a version", rules(""), "", node("evil", "resourceVersion: '7'", "203.0.113.5")}, "CiliumNode"},
		{change{"another one with a version", rules(""), node("evil", "resourceVersion: '6'", "10.0.0.5"), node("evil", "resourceVersion: '7'", "203.0.113.5")}, "spec.addresses"},
		{change{"a new one that looks like an export", rules(""), "", node("evil", by("7"), "203.0.113.5")}, "CiliumNode"},
		{change{"a new one beside an export of its kind", together(rules(""), node("a", by("4"), "10.0.0.4")), "", node("evil", by("7"), "203.0.113.5")}, "CiliumNode"},
		{change{"a new one of a kind that OLD has not", rules(by("3")), "", node("evil", by("7"), "203.0.113.5")}, "CiliumNode"},
		{change{"a new one in an export, with a version alone", export, "", node("evil", "resourceVersion: '7'", "203.0.113.5")}, "CiliumNode"},
		{change{"a new one in an export, older than all", export, "", node("evil", by("2"), "203.0.113.5")}, "CiliumNode"},
		{change{"another one in an export, with an older version", export, node("b", by("9"), "10.0.0.5"), node("b", by("8"), "10.0.0.6")}, "spec.addresses"},
		{change{"one that goes, of no export", rules(""), node("a", by("4"), "10.0.0.4"), ""}, "is gone"},

		{change{"a new node in an export", export, "", node("b", by("7"), "10.0.0.5")}, ""},
		{change{"another address in an export", export, node("b", by("7"), "10.0.0.5"), node("b", by("8"), "10.0.0.6")}, ""},
		{change{"a node that goes in an export", export, node("b", by("7"), "10.0.0.5"), ""}, ""},
	} {
		tt.expect(t, tt.want)
	}
}
