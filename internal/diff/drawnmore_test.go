package diff

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/policyset/choice"
)

func drawnLinkerd(c *choice.Chooser, name string) string {
	namespace := choice.Pick(c, "shop", "shop", "shop", "shop", "pay")
	server := func() string { return choice.Pick(c, "s1", "s2") }
	networks := func() string {
		return "[" + oneOrTwo(c, "{cidr: 10.66.0.0/24}", "{cidr: 10.66.0.0/28}", "{cidr: 0.0.0.0/0, except: [10.66.0.0/30]}") + "]"
	}
	identities := func() string {
		return "[" + oneOrTwo(c, "front.shop.serviceaccount.identity.linkerd.cluster.local", "legacy.shop.serviceaccount.identity.linkerd.cluster.local", "'*'", "'*.pay.serviceaccount.identity.linkerd.cluster.local'") + "]"
	}
	head := func(version, kind, name string) string {
		return fmt.Sprintf("{apiVersion: policy.linkerd.io/%s, kind: %s, metadata: {name: %s, namespace: %s}, spec: ", version, kind, name, namespace)
	}
	switch c.Choose(10) {
	case 0, 1, 2:
		extra := ""
		if c.OneIn(3) {
			extra += ", accessPolicy: " + choice.Pick(c, "all-authenticated", "all-unauthenticated", "deny", "cluster-authenticated", "audit")
		}
		if c.OneIn(4) {
			extra += ", proxyProtocol: " + choice.Pick(c, "HTTP/1", "opaque", "unknown")
		}
		return head("v1beta3", "Server", choice.Pick(c, "s1", "s2")) + "{podSelector: " + drawnSelector(c) + ", port: " + choice.Pick(c, "8080", "8080", "8081", "web", "admin") + extra + "}}"
	case 3:
		return head("v1beta3", "HTTPRoute", "r1") + "{parentRefs: [{group: policy.linkerd.io, kind: Server, name: " + server() + "}], rules: [{matches: [" + oneOrTwo(c, "{path: {type: Exact, value: /a}}", "{path: {type: PathPrefix, value: /a}}", "{path: {type: PathPrefix, value: /}}", "{method: POST}") + "]}]}}"
	case 4:
		return head("v1alpha1", "MeshTLSAuthentication", "m1") + choice.Pick(c, "{identities: "+identities()+"}", "{identityRefs: [{kind: ServiceAccount, name: "+choice.Pick(c, "front", "legacy")+"}]}") + "}"
	case 5:
		return head("v1alpha1", "NetworkAuthentication", "net1") + "{networks: " + networks() + "}}"
	case 6:
		of := choice.Pick(c, "name: "+server(), "selector: {}")
		client := choice.Pick(c, "{unauthenticated: true}", "{meshTLS: {identities: "+identities()+"}}", "{meshTLS: {unauthenticatedTLS: true}}", "{networks: "+networks()+", unauthenticated: true}")
		return head("v1beta1", "ServerAuthorization", name) + "{server: {" + of + "}, client: " + client + "}}"
	default:
		target := choice.Pick(c, "{group: policy.linkerd.io, kind: Server, name: "+server()+"}", "{group: policy.linkerd.io, kind: Server, name: "+server()+"}", "{kind: Namespace, name: "+namespace+"}", "{group: policy.linkerd.io, kind: HTTPRoute, name: "+"r1"+"}")
		refs := choice.Pick(c, "", "{kind: ServiceAccount, name: front}", "{kind: ServiceAccount, name: legacy}", "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m1}", "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m1}", "{group: policy.linkerd.io, kind: NetworkAuthentication, name: net1}")
		return head("v1alpha1", "AuthorizationPolicy", name) + "{targetRef: " + target + ", requiredAuthenticationRefs: [" + refs + "]}}"
	}
}

func drawnKumaHead(c *choice.Chooser, name string) (string, string) {
	labels := []string{}
	if c.OneIn(4) {
		labels = append(labels, "kuma.io/origin: zone", "kuma.io/zone: "+choice.Pick(c, "east", "west"))
	}
	if c.OneIn(12) {
		labels = append(labels, "kuma.io/effect: shadow")
	}
	if c.OneIn(3) {
		namespace := choice.Pick(c, "shop", "pay", "kuma-system")
		if c.OneIn(2) {
			labels = append(labels, "kuma.io/policy-role: "+choice.Pick(c, "system", "producer", "consumer", "workload-owner"))
		}
		return fmt.Sprintf("{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: %s, namespace: %s, labels: {%s}}, spec: {", name, namespace, strings.Join(labels, ", ")), "}}"
	}
	return fmt.Sprintf("{type: MeshTrafficPermission, mesh: %s, name: %s, labels: {%s}, spec: {", choice.Pick(c, "default", "default", "default", "other"), name, strings.Join(labels, ", ")), "}}"
}

func drawnKumaTarget(c *choice.Chooser) string {
	switch c.Choose(9) {
	case 0, 1:
		return ""
	case 2:
		return "targetRef: {kind: Mesh}, "
	case 3:
		return "targetRef: {kind: Dataplane, name: " + choice.Pick(c, "web", "api") + "}, "
	case 4:
		return "targetRef: {kind: Dataplane, labels: {app: " + choice.Pick(c, "a", "b") + "}}, "
	case 5:
		return "targetRef: {kind: Dataplane, labels: {app: a, tier: " + choice.Pick(c, "x", "w") + "}}, "
	case 6:
		return "targetRef: {kind: Dataplane, sectionName: '" + choice.Pick(c, "in", "admin", "8080", "8081") + "'}, "
	case 7:
		return "targetRef: {kind: Dataplane, labels: {tier: x}, sectionName: '" + choice.Pick(c, "in", "8080") + "'}, "
	default:
		return "targetRef: {kind: Dataplane, labels: {" + choice.Pick(c, "k8s.kuma.io/namespace: shop", "kuma.io/zone: east", "kuma.io/display-name: web", "kuma.io/origin: zone") + "}}, "
	}
}

func drawnKumaLists(c *choice.Chooser) string {
	match := func() string {
		caller := choice.Pick(c, "{type: Exact, value: 'spiffe://trust-domain.mesh/ns/shop/sa/front'}", "{type: Exact, value: 'spiffe://trust-domain.mesh/ns/shop/sa/legacy'}", "{type: Prefix, value: 'spiffe://trust-domain.mesh/ns/shop/'}", "{type: Prefix, value: 'spiffe://trust-domain.mesh/'}")
		switch c.Choose(6) {
		case 0:
			return "{spiffeId: " + caller + ", path: {type: " + choice.Pick(c, "Exact", "Prefix") + ", value: /a}}"
		case 1:
			return "{method: " + choice.Pick(c, "GET", "POST") + "}"
		default:
			return "{spiffeId: " + caller + "}"
		}
	}
	list := func() string {
		text := match()
		if c.OneIn(4) {
			text += ", " + match()
		}
		return "[" + text + "]"
	}
	switch c.Choose(5) {
	case 0, 1:
		return "{allow: " + list() + "}"
	case 2:
		return "{deny: " + list() + "}"
	case 3:
		return "{deny: " + list() + ", allow: " + list() + "}"
	default:
		return "{allowWithShadowDeny: " + list() + "}"
	}
}

func drawnKuma(c *choice.Chooser, name string) string {
	head, tail := drawnKumaHead(c, name)
	rules := "default: " + drawnKumaLists(c)
	if c.OneIn(2) {
		rules = "rules: [{default: " + drawnKumaLists(c) + "}]"
	}
	return head + drawnKumaTarget(c) + rules + tail
}

func drawnLegacy(c *choice.Chooser, name string) string {
	if c.OneIn(8) {
		return drawnKuma(c, name)
	}
	head, tail := drawnKumaHead(c, name)
	target := drawnKumaTarget(c)
	switch c.Choose(6) {
	case 0:
		target = "targetRef: {kind: MeshSubset, tags: {version: " + choice.Pick(c, "v1", "v2") + "}}, "
	case 1:
		target = "targetRef: {kind: MeshService, name: " + choice.Pick(c, "web", "api") + "}, "
	case 2:
		target = "targetRef: {kind: MeshServiceSubset, name: web, tags: {version: " + choice.Pick(c, "v1", "v2") + "}}, "
	case 3:
		if c.OneIn(2) {
			target = "targetRef: {kind: MeshHTTPRoute, name: " + choice.Pick(c, "orders", "items") + "}, "
		}
	}
	item := func() string {
		ref := choice.Pick(c, "{kind: Mesh}", "{kind: MeshService, name: front}", "{kind: MeshService, name: legacy}", "{kind: MeshSubset, tags: {'kuma.io/service': front}}", "{kind: MeshSubset, tags: {env: prod}}")
		return "{targetRef: " + ref + ", default: {action: " + choice.Pick(c, "Allow", "Allow", "Deny", "AllowWithShadowDeny", "DenyWithShadowAllow") + "}}"
	}
	items := item()
	for c.OneIn(2) {
		items += ", " + item()
	}
	return head + target + "from: [" + items + "]" + tail
}

// linkerdBase draws the Servers of a namespace, and what policies name.
func linkerdBase(c *choice.Chooser) (out []string) {
	add := func(version, kind, name, spec string) {
		out = append(out, fmt.Sprintf("{apiVersion: policy.linkerd.io/%s, kind: %s, metadata: {name: %s, namespace: shop}, spec: {%s}}", version, kind, name, spec))
	}
	for i, name := range []string{"s1", "s2"} {
		add("v1beta3", "Server", name, "podSelector: "+drawnSelector(c)+", port: "+[]string{"8080", "8081"}[i])
	}
	add("v1alpha1", "MeshTLSAuthentication", "m1", "identities: [front.shop.serviceaccount.identity.linkerd.cluster.local]")
	add("v1alpha1", "NetworkAuthentication", "net1", "networks: [{cidr: 10.66.0.0/28}]")
	add("v1beta3", "HTTPRoute", "r1", "parentRefs: [{group: policy.linkerd.io, kind: Server, name: s1}], rules: [{matches: [{path: {type: PathPrefix, value: /a}}]}]")
	return out
}
