package diff

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/policyset/choice"
)

// drawnDialect draws the policies of one dialect. They are alike: each of them selects by few values, and lets in or keeps out few
// callers, so that they hide each other. Those of package policyset ask for so much that few of them meet.
type drawnDialect struct {
	name, dialect string
	// policy draws a policy, of that name where its kind is about no other object.
	policy func(c *choice.Chooser, name string) string
	// base draws the objects that policies are about; nil for none.
	base func(c *choice.Chooser) []string
	// options are texts of options to choose from.
	options []string
	space   drawnSpace
}

// drawnSelector draws a selector of labels.
func drawnSelector(c *choice.Chooser) string {
	value := func() string { return choice.Pick(c, "a", "b", "a", "b", "''") }
	tier := func() string { return choice.Pick(c, "x", "w") }
	expression := func(key string, value func() string) string {
		switch op := choice.Pick(c, "In", "NotIn", "NotIn", "Exists", "DoesNotExist"); op {
		case "In", "NotIn":
			values := value()
			if other := value(); other != values && c.OneIn(2) {
				values += ", " + other
			}
			return "{key: " + key + ", operator: " + op + ", values: [" + values + "]}"
		default:
			return "{key: " + key + ", operator: " + op + "}"
		}
	}
	switch c.Choose(8) {
	case 0, 1:
		return "{}"
	case 2:
		return "{matchLabels: {app: " + value() + "}}"
	case 3:
		return "{matchExpressions: [" + expression("app", value) + "]}"
	case 4:
		return "{matchExpressions: [" + expression("tier", tier) + "]}"
	case 5:
		return "{matchExpressions: [" + expression("app", value) + ", " + expression("tier", tier) + "]}"
	case 6:
		return "{matchLabels: {tier: " + tier() + "}, matchExpressions: [" + expression("app", value) + "]}"
	default:
		return "{matchLabels: {app: a, tier: " + tier() + "}}"
	}
}

// oneOrTwo returns one of the items, or two of them.
func oneOrTwo(c *choice.Chooser, items ...string) string {
	first := choice.Pick(c, items...)
	if other := choice.Pick(c, items...); other != first && c.OneIn(3) {
		return first + ", " + other
	}
	return first
}

var drawnDialects = []drawnDialect{
	{name: "gateway", dialect: "gateway", policy: drawnGateway, space: drawnLabels},
	{name: "istio", dialect: "istio", policy: drawnIstio, space: istioSpace()},
	{name: "cilium", dialect: "cilium", policy: drawnCilium, space: ciliumSpace(), options: []string{
		"", "", "{cilium: {namespaceLabels: {shop: {team: red}, pay: {team: blue}, third: {}}}}", "{cilium: {policyEnforcement: always}}",
	}},
	{name: "linkerd", dialect: "linkerd", policy: drawnLinkerd, base: linkerdBase, space: linkerdSpace(), options: []string{
		"", "", "{linkerd: {defaultInboundPolicy: deny}}", "{linkerd: {defaultInboundPolicy: all-authenticated}}",
	}},
	{name: "kuma", dialect: "kuma", policy: drawnKuma, space: kumaSpace()},
	{name: "legacy", dialect: "kuma", policy: drawnLegacy, space: legacySpace()},
}

func drawnGateway(c *choice.Chooser, name string) string {
	source := func() string {
		return choice.Pick(c, "{type: ServiceAccount, serviceAccount: {name: front}}", "{type: ServiceAccount, serviceAccount: {name: legacy, namespace: shop}}", "{type: ServiceAccount, serviceAccount: {name: '*'}}",
			"{type: SPIFFE, spiffe: 'spiffe://trust-domain.mesh/ns/shop/sa/front'}", "{type: ServiceAccount, serviceAccount: {name: '*', namespace: pay}}")
	}
	rule := func() string {
		switch c.Choose(6) {
		case 0:
			return "{}"
		case 1:
			return "{networkAttributes: {ports: [" + oneOrTwo(c, "8080", "8081", "9090") + "]}}"
		case 2:
			return "{networkAttributes: {ports: [" + oneOrTwo(c, "8080", "8081") + "]}, sources: [" + oneOrTwo(c, source(), source()) + "]}"
		default:
			return "{sources: [" + oneOrTwo(c, source(), source()) + "]}"
		}
	}
	rules := rule()
	if c.OneIn(3) {
		rules += ", " + rule()
	}
	if c.OneIn(10) {
		rules = ""
	}
	return fmt.Sprintf("{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: %s, namespace: %s}, spec: {targetRefs: [{kind: Pod, selector: %s}], action: ALLOW, enforcementLevel: Network, rules: [%s]}}",
		name, choice.Pick(c, "shop", "shop", "pay"), drawnSelector(c), rules)
}

func drawnIstio(c *choice.Chooser, name string) string {
	selector := ""
	switch c.Choose(6) {
	case 0, 1:
		selector = "selector: {matchLabels: {app: " + choice.Pick(c, "a", "b") + "}}, "
	case 2:
		selector = "selector: {matchLabels: {app: a, tier: " + choice.Pick(c, "x", "w") + "}}, "
	}
	namespace := choice.Pick(c, "shop", "shop", "pay", "istio-system")
	head := func(kind string) string {
		created := ""
		if kind == "PeerAuthentication" {
			created = ", creationTimestamp: '2024-01-0" + choice.Pick(c, "1", "2", "3") + "T00:00:00Z'"
		}
		return fmt.Sprintf("{apiVersion: security.istio.io/v1, kind: %s, metadata: {name: %s, namespace: %s%s}, spec: {%s", kind, name, namespace, created, selector)
	}
	switch c.Choose(12) {
	case 0, 1:
		mode := "mtls: {mode: " + choice.Pick(c, "STRICT", "STRICT", "PERMISSIVE", "DISABLE", "UNSET") + "}"
		if selector != "" && c.OneIn(3) {
			mode += ", portLevelMtls: {" + choice.Pick(c, "8080", "8081") + ": {mode: " + choice.Pick(c, "STRICT", "PERMISSIVE", "DISABLE", "UNSET") + "}}"
		}
		return head("PeerAuthentication") + mode + "}}"
	case 2:
		return head("RequestAuthentication") + "jwtRules: [{issuer: 'https://login.example', jwksUri: 'https://login.example/keys'}]}}"
	}
	source := func() string {
		switch c.Choose(10) {
		case 0:
			return "{namespaces: [" + oneOrTwo(c, "shop", "pay", "istio-system") + "]}"
		case 1:
			return "{notNamespaces: [" + oneOrTwo(c, "shop", "pay") + "]}"
		case 2:
			return "{serviceAccounts: [" + oneOrTwo(c, "front", "legacy", "shop/front") + "]}"
		case 3:
			return "{notServiceAccounts: [" + oneOrTwo(c, "front", "shop/legacy") + "]}"
		case 4:
			return "{principals: ['*']}"
		case 5:
			return "{requestPrincipals: ['*']}"
		case 6:
			return "{notPrincipals: [" + oneOrTwo(c, "cluster.local/ns/shop/sa/front", "cluster.local/ns/shop/sa/legacy") + "]}"
		default:
			return "{principals: [" + oneOrTwo(c, "cluster.local/ns/shop/sa/front", "cluster.local/ns/shop/sa/legacy", "cluster.local/ns/pay/sa/front") + "]}"
		}
	}
	rule := func() string {
		var parts []string
		if !c.OneIn(4) {
			parts = append(parts, "from: [{source: "+source()+"}]")
		}
		switch c.Choose(7) {
		case 0:
			parts = append(parts, "to: [{operation: {paths: ["+oneOrTwo(c, "/a", "/a/*", "/")+"]}}]")
		case 1:
			parts = append(parts, "to: [{operation: {ports: ['"+choice.Pick(c, "8080", "8081")+"']}}]")
		case 2:
			parts = append(parts, "to: [{operation: {notPorts: ['"+choice.Pick(c, "8080", "8081")+"']}}]")
		case 3:
			parts = append(parts, "to: [{operation: {methods: ["+oneOrTwo(c, "GET", "POST")+"]}}]")
		}
		switch c.Choose(12) {
		case 0:
			parts = append(parts, "when: [{key: destination.ip, "+choice.Pick(c, "values", "notValues")+": ["+oneOrTwo(c, "10.1.0.0/16", "10.1.0.0/24", "10.2.0.0/16")+"]}]")
		case 1:
			parts = append(parts, "when: [{key: destination.port, "+choice.Pick(c, "values", "notValues")+": ['"+choice.Pick(c, "8080", "9090")+"']}]")
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	action := choice.Pick(c, "ALLOW", "ALLOW", "DENY", "DENY", "AUDIT")
	rules := rule()
	if c.OneIn(3) {
		rules += ", " + rule()
	}
	if action == "ALLOW" && c.OneIn(8) {
		rules = ""
	}
	out := head("AuthorizationPolicy") + "action: " + action + ", rules: [" + rules + "]}}"
	if action != "AUDIT" && c.OneIn(12) {
		out = strings.Replace(out, "metadata: {", "metadata: {annotations: {istio.io/dry-run: 'true'}, ", 1)
	}
	return out
}

// drawnCiliumSelector draws a selector of Cilium, which knows namespaces, their labels and accounts too.
func drawnCiliumSelector(c *choice.Chooser, apps ...string) string {
	of := func(key string, values ...string) string {
		switch op := choice.Pick(c, "In", "In", "NotIn", "Exists", "DoesNotExist"); op {
		case "In", "NotIn":
			return "{matchExpressions: [{key: '" + key + "', operator: " + op + ", values: [" + oneOrTwo(c, values...) + "]}]}"
		default:
			return "{matchExpressions: [{key: '" + key + "', operator: " + op + "}]}"
		}
	}
	switch c.Choose(10) {
	case 0:
		return of("k8s:io.kubernetes.pod.namespace", "shop", "pay", "third")
	case 1:
		return of("k8s:io.cilium.k8s.namespace.labels.team", "red", "blue")
	case 2:
		return of("k8s:io.cilium.k8s.policy.serviceaccount", "one", "two")
	case 3:
		return "{matchLabels: {'k8s:io.kubernetes.pod.namespace': " + choice.Pick(c, "shop", "pay") + ", app: " + choice.Pick(c, apps...) + "}}"
	case 4, 5:
		return "{matchLabels: {app: " + choice.Pick(c, apps...) + "}}"
	case 6:
		return of(choice.Pick(c, "app", "k8s:app", "any:app"), apps...)
	case 7:
		return of("tier", "x", "w")
	default:
		return strings.NewReplacer("[a]", "["+apps[0]+"]", "[b]", "["+apps[1]+"]").Replace(drawnSelector(c))
	}
}

func drawnCilium(c *choice.Chooser, name string) string {
	kind, namespace := "CiliumNetworkPolicy", ", namespace: "+choice.Pick(c, "shop", "shop", "pay")
	if c.OneIn(3) {
		kind, namespace = "CiliumClusterwideNetworkPolicy", ""
	}
	peers := func() string {
		switch c.Choose(9) {
		case 0:
			return "fromEntities: [" + choice.Pick(c, "all", "cluster", "world") + "]"
		case 1:
			return "fromEndpoints: [{}]"
		case 2:
			return "fromEndpoints: []"
		default:
			return "fromEndpoints: [" + drawnCiliumSelector(c, "front", "legacy") + "]"
		}
	}
	port := func() string {
		return choice.Pick(c, "{port: '8080', protocol: TCP}", "{port: '8081', protocol: TCP}", "{port: '8080', endPort: 8100, protocol: TCP}", "{port: '8081', endPort: 8099, protocol: TCP}", "{port: web, protocol: TCP}", "{port: metrics, protocol: TCP}", "{port: '8080', protocol: ANY}")
	}
	ports := func(http bool) string {
		switch {
		case c.OneIn(2):
			return ""
		case http && c.OneIn(3):
			return ", toPorts: [{ports: [" + choice.Pick(c, "{port: '8080', protocol: TCP}", "{port: web, protocol: TCP}", "{port: '8080', endPort: 8100, protocol: TCP}") + "], rules: {http: [" + oneOrTwo(c, "{path: /a}", "{method: GET}", "{}", "{path: '/a/.*'}") + "]}}]"
		default:
			return ", toPorts: [{ports: [" + oneOrTwo(c, port(), port()) + "]}]"
		}
	}
	rule := func(http bool) string {
		text := peers() + ports(http)
		return "{" + text + "}"
	}
	rules := func(http bool) string {
		text := rule(http)
		if c.OneIn(3) {
			text += ", " + rule(http)
		}
		return text
	}
	var parts []string
	if n := c.Choose(4); n < 2 {
		parts = append(parts, "ingress: ["+rules(true)+"]")
	} else if n == 2 {
		parts = append(parts, "ingressDeny: ["+rules(false)+"]")
	} else {
		parts = append(parts, "ingress: ["+rules(true)+"]", "ingressDeny: ["+rules(false)+"]")
	}
	if c.OneIn(8) {
		parts = append(parts, "enableDefaultDeny: {ingress: "+choice.Pick(c, "true", "false")+"}")
	}
	if c.OneIn(16) {
		parts = []string{"ingress: [{}]"}
	}
	return fmt.Sprintf("{apiVersion: cilium.io/v2, kind: %s, metadata: {name: %s%s}, spec: {endpointSelector: %s, %s}}", kind, name, namespace, drawnCiliumSelector(c, "a", "b"), strings.Join(parts, ", "))
}
