package diff

import (
	"fmt"
	"strings"
	"testing"
)

// TestWideningOfSelectors has a row for each way in which a selector of Cilium tells workloads apart, so that only some of
// them are opened: by a list of values, by an absent label, by a namespace.
func TestWideningOfSelectors(t *testing.T) {
	t.Parallel()
	const (
		front  = "fromEndpoints: [{matchLabels: {'k8s:io.kubernetes.pod.namespace': shop, app: front}}]"
		legacy = "fromEndpoints: [{matchLabels: {'k8s:io.kubernetes.pod.namespace': shop, app: legacy}}]"
		some   = "fromEndpoints: [{matchLabels: {'k8s:io.kubernetes.pod.namespace': shop}}]"
		space  = "'k8s:io.kubernetes.pod.namespace'"
	)
	named := func(name, selector, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: %s, namespace: shop}, spec: {endpointSelector: %s, %s}}\n", name, selector, spec)
	}
	wide := func(name, selector, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: %s}, spec: {endpointSelector: %s, %s}}\n", name, selector, spec)
	}
	label := func(key, value string) string { return "{matchLabels: {" + key + ": " + value + "}}" }
	asks := func(key, operator, values string) string {
		if values != "" {
			values = ", values: [" + values + "]"
		}
		return "{matchExpressions: [{key: " + key + ", operator: " + operator + values + "}]}"
	}
	ports := func(peers string, first, last int) string {
		return fmt.Sprintf("ingress: [{%s, toPorts: [{ports: [{port: '%d', endPort: %d, protocol: TCP}]}]}]", peers, first, last)
	}
	denied, allowed := "ingressDeny: [{"+legacy+"}]", "ingress: [{"+some+"}]"
	all := named("all", "{}", allowed)
	everywhere := wide("all", "{}", "ingress: [{fromEntities: [cluster]}]")
	for name, tt := range map[string]struct{ same, old, recent string }{
		"a deny loses a value":            {all, named("d", asks("app", "In", "api, web"), denied), named("d", asks("app", "In", "api"), denied)},
		"a deny loses the first value":    {all, named("d", asks("app", "In", "api, web"), denied), named("d", asks("app", "In", "web"), denied)},
		"a deny of one label":             {all, named("d", asks("app", "In", "api, web"), denied), named("d", label("app", "api"), denied)},
		"an allow hides behind a deny":    {"", named("p", asks("app", "In", "api, web"), "ingress: [{"+front+"}]"), named("p", asks("app", "In", "api, web"), "ingress: [{"+front+"}, {"+legacy+"}]") + named("d", label("app", "api"), denied)},
		"a deny has an exception more":    {all, named("d", asks("app", "NotIn", "a"), denied), named("d", asks("app", "NotIn", "a, b"), denied)},
		"a deny of those without a label": {all, named("d", "{}", denied), named("d", asks("tier", "DoesNotExist", ""), denied)},
		"a deny of a label, of a value":   {all, named("d", asks("app", "Exists", ""), denied), named("d", label("app", "other"), denied)},
		"a deny of two lists":             {all, named("d", asks("app", "In", "api, web"), denied) + named("e", asks("tier", "In", "a, b"), denied), named("d", asks("app", "In", "api, web"), denied) + named("e", asks("tier", "In", "a"), denied)},
		"a deny loses a namespace":        {everywhere, wide("d", asks(space, "In", "shop, pay"), denied), wide("d", asks(space, "In", "shop"), denied)},
		"a deny goes to a namespace":      {everywhere, wide("d", "{}", denied), named("d", "{}", denied)},
		"two ranges become one":           {"", named("p", "{}", ports(some, 8000, 8400)) + named("q", "{}", ports(some, 8600, 8999)), named("p", "{}", ports(some, 8000, 8999))},
		"a range that is denied has gaps": {all, named("d", "{}", strings.Replace(ports(legacy, 7000, 7090), "ingress:", "ingressDeny:", 1)), named("d", "{}", strings.NewReplacer("}], ingress: [", "}, ", "ingress: [", "ingressDeny: [").Replace(ports(legacy, 7000, 7040)+", "+ports(legacy, 7060, 7090)))},
		"a namespace is excepted":         {everywhere, wide("d", asks(space, "NotIn", "kube-system"), denied), wide("d", asks(space, "NotIn", "kube-system, pay"), denied)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWidening(t, tt.same, tt.old, tt.recent, tt.old)
		})
	}
}

// TestWideningInPlaintext has rows that open an inbound to callers without TLS alone: the classes have witnesses with a name,
// which mTLS keeps out.
func TestWideningInPlaintext(t *testing.T) {
	t.Parallel()
	peer := func(spec string) string {
		return "---\n{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: m, namespace: shop}, spec: {" + spec + "}}\n"
	}
	policy := func(rules string) string {
		return "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [" + rules + "]}}\n"
	}
	const (
		friends = "{from: [{source: {namespaces: [shop]}}]}"
		metrics = "to: [{operation: {methods: [GET], paths: [/metrics]}}]"
	)
	either := func(other string) string {
		return "{from: [{source: {principals: [cluster.local/ns/monitoring/sa/prometheus]}}, {source: {" + other + "}}], " + metrics + "}"
	}
	const disabled, onPort = "mtls: {mode: DISABLE}", "selector: {matchLabels: {app: a}}, mtls: {mode: STRICT}, portLevelMtls: {8080: {mode: DISABLE}}"
	for name, tt := range map[string]struct{ old, recent string }{
		"a source of addresses":         {peer(disabled) + policy(friends), peer(disabled) + policy(friends+", "+either("ipBlocks: [10.1.2.0/24]"))},
		"a source of remote addresses":  {peer(disabled) + policy(friends), peer(disabled) + policy(friends+", "+either("remoteIpBlocks: [10.1.2.0/24]"))},
		"a source that is none":         {peer(disabled) + policy(friends), peer(disabled) + policy(friends+", "+either("notIpBlocks: [10.1.2.0/24]"))},
		"a port without mTLS":           {peer(onPort) + policy(friends), peer(onPort) + policy(friends+", "+either("ipBlocks: [10.1.2.0/24]"))},
		"mTLS ends":                     {policy(friends + ", " + either("ipBlocks: [10.1.2.0/24]")), peer(disabled) + policy(friends+", "+either("ipBlocks: [10.1.2.0/23]"))},
		"mTLS ends on one port":         {peer("mtls: {mode: STRICT}") + policy(friends+", "+either("ipBlocks: [10.1.2.0/24]")), peer(onPort) + policy(friends+", "+either("ipBlocks: [10.1.2.0/24]"))},
		"a DENY of addresses, or names": {peer(disabled) + policy("{}") + denyEither("10.1.2.0/24"), peer(disabled) + policy("{}") + denyEither("10.1.2.0/25")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWidening(t, "", tt.old, tt.recent, tt.recent)
		})
	}
}

func denyEither(block string) string {
	return "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {action: DENY, rules: [" +
		"{from: [{source: {principals: [cluster.local/ns/evil/sa/x]}}, {source: {ipBlocks: [" + block + "]}}], to: [{operation: {methods: [PUT]}}]}]}}\n"
}

// TestWideningOfPlaces has rows that open the workloads of one zone, or at addresses that lie outside of several lists.
func TestWideningOfPlaces(t *testing.T) {
	t.Parallel()
	permission := func(name, labels, target, lists string) string {
		return "---\n{type: MeshTrafficPermission, mesh: default, name: " + name + ", labels: {" + labels + "}, spec: {targetRef: {kind: Dataplane" + target + "}, rules: [{default: {" + lists + "}}]}}\n"
	}
	const (
		pay  = "{spiffeID: {type: Exact, value: spiffe://default/pay}}"
		web  = "{spiffeID: {type: Exact, value: spiffe://default/web}}"
		east = "kuma.io/origin: zone, kuma.io/zone: east"
		west = ", labels: {kuma.io/zone: west}"
	)
	allow := func(paths string) string {
		return "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: a, namespace: shop}, spec: {selector: {matchLabels: {app: api}}, rules: [{from: [{source: {ipBlocks: [10.0.0.0/8]}}], to: [{operation: {paths: [" + paths + "]}}]}]}}\n"
	}
	denyAt := func(name, blocks string) string {
		return "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: " + name + ", namespace: shop}, spec: {selector: {matchLabels: {app: api}}, action: DENY, rules: [{to: [{operation: {paths: [/admin]}}], when: [{key: destination.ip, values: [" + blocks + "]}]}]}}\n"
	}
	denies := denyAt("d0", "10.0.0.0/16, 10.2.0.0/16") + denyAt("d1", "10.1.0.0/16, 10.64.0.0/16")
	for name, tt := range map[string]struct{ same, old, recent string }{
		"a deny of another zone hides nothing": {permission("d", east, "", "deny: ["+pay+"]"), permission("a", "", west, "allow: ["+web+"]"), permission("a", "", west, "allow: ["+web+", "+pay+"]")},
		"a deny of the zone that a name is of": {permission("d", "", ", labels: {kuma.io/zone: east}", "deny: ["+pay+"]"), permission("a", east, ", name: web", "allow: ["+web+"]"), permission("a", east, ", name: web", "allow: ["+web+", "+pay+"]")},
		"a deny goes to another zone":          {permission("a", "", west, "allow: ["+web+", "+pay+"]"), permission("d", "", "", "deny: ["+pay+"]"), permission("d", east, "", "deny: ["+pay+"]")},
		"an address outside of all lists":      {denies, allow("/x"), allow("/x, /admin")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWidening(t, tt.same, tt.old, tt.recent, tt.recent)
		})
	}
}

// TestWideningOfListedClaims has rows about a claim that is a list: a caller is a member of two groups, of which one is let in and
// the other one was kept out beside something else.
func TestWideningOfListedClaims(t *testing.T) {
	t.Parallel()
	document := func(name, spec string) string {
		return "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: " + name + ", namespace: shop}, spec: {" + spec + "}}\n"
	}
	claim := func(name, value string) string {
		return "{key: 'request.auth.claims[" + name + "]', values: [" + value + "]}"
	}
	deny := func(to string, when ...string) string {
		return document("d", "action: DENY, rules: [{"+to+"when: ["+strings.Join(when, ", ")+"]}]")
	}
	reads := "---\n{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: r, namespace: shop}, spec: {jwtRules: [{issuer: i, jwksUri: 'https://k.example/k'}]}}\n"
	same := reads + document("a", "rules: [{when: ["+claim("groups", "staff")+"]}]")
	at := func(operation string) string { return "to: [{operation: {" + operation + "}}], " }
	for name, tt := range map[string]struct{ old, recent string }{
		"the deny beside another claim ends": {deny("", claim("groups", "contractor"), claim("mfa", "none")), ""},
		"one claim more":                     {deny("", claim("groups", "contractor")), deny("", claim("groups", "contractor"), claim("mfa", "none"))},
		"one path less":                      {deny(at("paths: [/a, /b]"), claim("groups", "contractor")), deny(at("paths: [/a]"), claim("groups", "contractor"))},
		"another method":                     {deny(at("methods: [PUT]"), claim("groups", "contractor")), deny(at("methods: [POST]"), claim("groups", "contractor"))},
		"another claim":                      {deny("", claim("groups", "contractor"), claim("mfa", "none")), deny("", claim("groups", "contractor"), claim("amr", "none"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWidening(t, same, tt.old, tt.recent, tt.recent)
		})
	}
}

// checkWidening fails where nothing widens from one set of policies to another one beside those that stay, or where something
// widens though nothing has changed.
func checkWidening(t *testing.T, same, old, recent, unchanged string) {
	t.Helper()
	if len(differenceOf(t, same+old, same+recent).widenings()) == 0 {
		t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", old, recent, same)
	}
	if got := differenceOf(t, same+unchanged, same+unchanged).widenings(); len(got) > 0 {
		t.Errorf("no change widens: %q", got)
	}
}

// TestWideningOfUnmadeWorkloads has rows that open workloads which are hard to make: of a namespace with a label that nothing states,
// with a label that is there and empty.
func TestWideningOfUnmadeWorkloads(t *testing.T) {
	t.Parallel()
	wide := func(name, selector, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: %s}, spec: {endpointSelector: %s, %s}}\n", name, selector, spec)
	}
	pods := func(name, expressions string) string {
		return fmt.Sprintf("---\n{apiVersion: gateway.networking.x-k8s.io/v1alpha1, kind: XAuthorizationPolicy, metadata: {name: %s, namespace: shop}, spec: {targetRefs: [{kind: Pod, selector: {matchExpressions: [%s]}}], action: ALLOW, enforcementLevel: Network, rules: [{sources: [{type: ServiceAccount, serviceAccount: {name: front}}]}]}}\n", name, expressions)
	}
	const (
		untrusted = "{matchExpressions: [{key: 'k8s:io.cilium.k8s.namespace.labels.trust', operator: DoesNotExist}]}"
		others    = "{matchExpressions: [{key: 'k8s:io.cilium.k8s.namespace.labels.team', operator: NotIn, values: [red]}]}"
		front     = "{matchLabels: {app: front}}"
		legacy    = "{matchLabels: {app: legacy}}"
	)
	denied, one, two := "ingressDeny: [{fromEndpoints: ["+legacy+"]}]", wide("p", "{}", "ingress: [{fromEndpoints: ["+front+"]}]"), wide("p", "{}", "ingress: [{fromEndpoints: ["+front+", "+legacy+"]}]")
	from := func(selector string) string { return "ingressDeny: [{fromEndpoints: [" + selector + "]}]" }
	for name, tt := range map[string]struct{ same, old, recent string }{
		"workloads of namespaces with a label":      {wide("d", untrusted, denied), one, two},
		"workloads of namespaces with a value":      {wide("d", others, denied), one, two},
		"callers of namespaces with a label":        {wide("d", "{}", from(untrusted)), one, two},
		"callers of namespaces with a value":        {wide("d", "{}", from(others)), one, two},
		"pods with an empty label":                  {pods("d", "{key: app, operator: DoesNotExist}") + pods("e", "{key: app, operator: NotIn, values: ['']}"), pods("p", "{key: app, operator: Exists}"), pods("p", "{key: app, operator: In, values: [a]}")},
		"pods with an empty label, of two policies": {pods("d", "{key: app, operator: NotIn, values: ['', a]}") + pods("e", "{key: app, operator: In, values: [a]}"), pods("p", "{key: app, operator: In, values: ['', a]}"), pods("p", "{key: app, operator: In, values: [a]}")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWidening(t, tt.same, tt.old, tt.recent, tt.old)
		})
	}
}
