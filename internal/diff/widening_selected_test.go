package diff

import (
	"fmt"
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
		"a namespace is excepted":         {everywhere, wide("d", asks(space, "NotIn", "kube-system"), denied), wide("d", asks(space, "NotIn", "kube-system, pay"), denied)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(differenceOf(t, tt.same+tt.old, tt.same+tt.recent).widenings()) == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", tt.old, tt.recent, tt.same)
			}
			if got := differenceOf(t, tt.same+tt.old, tt.same+tt.old).widenings(); len(got) > 0 {
				t.Errorf("no change widens: %q", got)
			}
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
			if len(differenceOf(t, tt.old, tt.recent).widenings()) == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s", tt.old, tt.recent)
			}
			if got := differenceOf(t, tt.recent, tt.recent).widenings(); len(got) > 0 {
				t.Errorf("no change widens: %q", got)
			}
		})
	}
}

func denyEither(block string) string {
	return "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: shop}, spec: {action: DENY, rules: [" +
		"{from: [{source: {principals: [cluster.local/ns/evil/sa/x]}}, {source: {ipBlocks: [" + block + "]}}], to: [{operation: {methods: [PUT]}}]}]}}\n"
}
