package networkpolicy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
)

// warnings returns the kind, the field and the message of each warning.
func warnings(t *testing.T, yaml string, in []policy.Inbound) (out []string) {
	t.Helper()
	for _, w := range networkpolicy.Lint(parseAll(t, yaml), in, options()) {
		_, field, _ := strings.Cut(w.Place, ": ")
		out = append(out, fmt.Sprintf("%s %s: %s", w.Kind, field, w.Message))
	}
	return out
}

func TestLintOfRulesTogether(t *testing.T) {
	t.Parallel()
	const (
		frontend  = "fromEndpoints: [{matchLabels: {app: frontend}}]"
		backend   = "fromEndpoints: [{matchLabels: {app: backend}}]"
		port      = `toPorts: [{ports: [{port: "8080", protocol: TCP}]}]`
		other     = `toPorts: [{ports: [{port: "5432", protocol: TCP}]}]`
		paths     = `toPorts: [{ports: [{port: "8080", protocol: TCP}], rules: {http: [{path: "/a.*"}]}}]`
		split     = "the rule lets in everybody on its ports, and "
		opened    = "hidden-by-open-rule spec.ingress[0]: cnp[default/p]-ingress[1] lets %s in on backend/http-port without HTTP rules: those of this rule bound none of its requests"
		noPod     = "no-peer spec.ingressDeny[0]: Cilium knows a pod by its labels, so that no pod is in %s, whatever its address: this denies none of the pods that spec.ingress[0] lets in; name them with fromEndpoints"
		leavesOut = "which Cilium leaves out of the identities of pods: ask for a label of your own"
		hidden    = "hidden-by-deny spec.ingress[0]: never allows: each of its callers is denied, by cnp[default/p]-ingressDeny[0]"
	)
	spec := func(format string, a ...any) string {
		return one("CiliumNetworkPolicy", "name: p", "spec: {endpointSelector: {matchLabels: {tier: data}}, "+fmt.Sprintf(format, a...)+"}")
	}
	allow := func(rules ...string) string { return spec("ingress: [{%s}]", strings.Join(rules, "}, {")) }
	denied := func(rule, deny string) string { return spec("ingress: [{%s}], ingressDeny: [{%s}]", rule, deny) }
	http, both := inbounds()[:1], inbounds()[:2]
	for _, tt := range []struct {
		name, policies string
		inbounds       []policy.Inbound
		want           []string
	}{
		{name: "callers, and ports as a rule of their own", policies: allow(frontend, port), inbounds: http, want: []string{"split-rule spec.ingress[1]: " + split + "spec.ingress[0] lets in its callers on every port: write peers and toPorts in one item if both have to hold"}},
		{name: "ports, and callers as a rule of their own", policies: allow(port, "fromCIDR: [10.0.0.0/8]"), inbounds: http, want: []string{"split-rule spec.ingress[0]: " + split + "spec.ingress[1] lets in its callers on every port: write peers and toPorts in one item if both have to hold"}},
		{name: "callers and ports in one rule", policies: allow(frontend+", "+port, backend), inbounds: http},
		{name: "calls of another workload", policies: one("CiliumNetworkPolicy", "name: p", "spec: {endpointSelector: {matchLabels: {tier: other}}, egress: [{toEntities: [world]}]}"), inbounds: http},
		{name: "nodes and the API server", policies: allow("fromEntities: [host, remote-node, kube-apiserver]"), inbounds: http},
		{name: "nobody, and no other", policies: allow("fromEntities: [none]"), inbounds: http, want: []string{"no-peer spec.ingress[0]: the rule is about no caller: no workload that is known is among its peers, or the list of them is empty"}},
		{name: "a node, and ports", policies: allow("fromEntities: [cluster]", port), inbounds: http},
		{name: "the same caller on the port", policies: allow(frontend+", "+paths, frontend+", "+port), inbounds: http, want: []string{fmt.Sprintf(opened, "default/frontend")}},
		{name: "the same caller on each port", policies: allow(frontend+", "+paths, frontend), inbounds: http, want: []string{fmt.Sprintf(opened, "default/frontend")}},
		{name: "the same caller on another port", policies: allow(frontend+", "+paths, frontend+", "+other), inbounds: both},
		{name: "another caller", policies: allow(frontend+", "+paths, backend+", "+port), inbounds: http},
		{name: "everybody by one and by the other", policies: allow(paths, port), inbounds: http, want: []string{fmt.Sprintf(opened, "default/backend")}},
		{name: "the world within everybody", policies: allow(paths, "fromEntities: [world]"), inbounds: http, want: []string{fmt.Sprintf(opened, "the world")}},
		{name: "a block within everybody", policies: allow(paths, "fromCIDR: [10.0.0.0/8]"), inbounds: http, want: []string{fmt.Sprintf(opened, "10.0.0.0/8")}},
		{name: "a block within a block", policies: allow("fromCIDR: [10.1.0.0/16], "+paths, "fromCIDR: [10.0.0.0/8]"), inbounds: http, want: []string{fmt.Sprintf(opened, "10.1.0.0/16")}},
		{name: "a block within an exception", policies: allow("fromCIDR: [10.1.2.0/24], "+paths, "fromCIDRSet: [{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}]"), inbounds: http},
		{name: "a block around an exception", policies: allow("fromCIDRSet: [{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}], "+paths, "fromCIDR: [10.1.2.0/24]"), inbounds: http},
		{name: "a block within the world", policies: allow("fromCIDR: [10.1.0.0/16], "+paths, "fromEntities: [world]"), inbounds: http, want: []string{fmt.Sprintf(opened, "10.1.0.0/16")}},
		{name: "another entry of the rule", policies: allow(frontend + `, toPorts: [{ports: [{port: "8080", protocol: TCP}], rules: {http: [{path: "/a.*"}]}}, {ports: [{port: "8080"}]}]`), inbounds: http,
			want: []string{"hidden-by-open-rule spec.ingress[0]: another entry of the rule has the port of backend/http-port without HTTP rules: these bound no request of its callers"}},
		{name: "a caller that proves nothing", policies: allow("fromEntities: [world], "+paths, "fromEntities: [all], authentication: {mode: required}"), inbounds: http,
			want: []string{"mutual-authentication spec.ingress[1].authentication: Cilium 1.20 deprecates mutual authentication, and its agent has it off (mesh-auth-enabled) unless somebody turns it on: off, this rule lets nobody in, and a later release may let its callers in without a proof"}},
		{name: "all that is allowed is denied", policies: denied(frontend, "fromEndpoints: [{}]"), inbounds: both, want: []string{hidden}},
		{name: "a part of it is denied", policies: denied("fromEndpoints: [{}]", frontend), inbounds: both},
		{name: "it is denied on one port of two", policies: denied(frontend, "fromEndpoints: [{}], "+port), inbounds: both},
		{name: "it is denied on its port", policies: denied(frontend+", "+port, "fromEndpoints: [{}], "+port), inbounds: both, want: []string{hidden}},
		{name: "a narrow block in a wide one", policies: denied("fromCIDR: [10.1.2.3/32]", "fromCIDR: [10.0.0.0/8]"), inbounds: both, want: []string{hidden}},
		{name: "a wide block around a narrow one", policies: denied("fromCIDR: [10.0.0.0/8]", "fromCIDR: [10.1.2.3/32]"), inbounds: both},
		{name: "a block that has an exception", policies: denied("fromCIDR: [10.1.2.3/32]", "fromCIDRSet: [{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}]"), inbounds: both},
		{name: "the world and a block", policies: denied("fromCIDR: [10.1.2.3/32]", "fromEntities: [world]"), inbounds: both, want: []string{hidden}},
		{name: "a block of pods is denied", policies: denied("fromEntities: [all]", "fromCIDR: [10.0.0.0/8]"), inbounds: both, want: []string{fmt.Sprintf(noPod, "10.0.0.0/8")}},
		{name: "a narrower block is denied to everybody", policies: denied(port, "fromCIDRSet: [{cidr: 8.8.8.8/32}, {cidr: 10.1.0.0/16}]"), inbounds: both, want: []string{fmt.Sprintf(noPod, "10.1.0.0/16")}},
		{name: "a block of the internet is denied", policies: denied("fromEntities: [all]", "fromCIDR: [203.0.113.0/24, 0.0.0.0/0]"), inbounds: both},
		{name: "a block beside some callers", policies: denied(frontend, "fromCIDR: [10.0.0.0/8]"), inbounds: both},
		{name: "a label of namespaces", policies: allow("fromEndpoints: [{matchLabels: {kubernetes.io/metadata.name: shop}}]"), inbounds: http,
			want: []string{"no-peer spec.ingress[0].fromEndpoints[0]: no pod has the label kubernetes.io/metadata.name, which is one of namespaces: ask for io.kubernetes.pod.namespace"}},
		{name: "all but a label of namespaces", policies: allow("fromEndpoints: [{matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [evil]}]}]"), inbounds: http,
			want: []string{"no-peer spec.ingress[0].fromEndpoints[0]: no pod has the label kubernetes.io/metadata.name, which is one of namespaces, so that each pod meets this: ask for io.kubernetes.pod.namespace"}},
		{name: "a label of namespaces as Cilium has it", policies: allow("fromEndpoints: [{matchLabels: {io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name: default}}]"), inbounds: http},
		{name: "a label that Cilium leaves out", policies: allow("fromEndpoints: [{matchLabels: {pod-template-hash: a}}]"), inbounds: http, want: []string{"no-peer spec.ingress[0].fromEndpoints[0]: no pod has the label pod-template-hash, " + leavesOut}},
		{name: "a reserved label of that name", policies: allow("fromEndpoints: [{matchLabels: {\"reserved:kubernetes.io\": a}}]"), inbounds: http, want: []string{"no-peer spec.ingress[0]: the rule is about no caller: no workload that is known is among its peers, or the list of them is empty"}},
		{name: "a subject by a label that Cilium leaves out", policies: one("CiliumNetworkPolicy", "name: p", "spec: {endpointSelector: {matchLabels: {apps.kubernetes.io/pod-index: \"0\"}}, ingress: [{"+frontend+"}]}"), inbounds: http,
			want: []string{"selects-nothing spec.endpointSelector: the selector selects no workload: it asks for the label apps.kubernetes.io/pod-index, " + leavesOut}},
		{name: "a subject without a label that Cilium leaves out", policies: one("CiliumNetworkPolicy", "name: p", "spec: {endpointSelector: {matchExpressions: [{key: annotations, operator: DoesNotExist}]}, ingress: [{"+frontend+"}]}"), inbounds: http,
			want: []string{"never-matches spec.endpointSelector: the selector leaves no workload out by the label annotations, " + leavesOut}},
		{name: "the whole world against a block", policies: denied("fromEntities: [world]", "fromCIDR: [0.0.0.0/0]"), inbounds: both},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, warnings(t, tt.policies, tt.inbounds)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLintOfExpressions(t *testing.T) {
	t.Parallel()
	const query = "path-with-query"
	for http, want := range map[string][]string{
		`path: "/a(\\?.*)?"`:          nil,
		"path: /a":                    {query},
		"path: ^/a$":                  {query},
		"path: a.*":                   {"never-matches"},
		"path: a|/b":                  nil,
		`path: "[*]"`:                 nil,
		"path: /a/*":                  {query},
		"path: ^/a/*$":                {query},
		"path: /a/*|/b":               {query},
		`path: "/a/*(\\?.*)?"`:        nil,
		"path: /a/*b.*":               nil,
		`path: "/a\\.b.*"`:            nil,
		"path: /a.b.*":                {"dot-for-any"},
		"path: /.+/b.*":               nil,
		`path: "/(a.b|c).*"`:          {"dot-for-any"},
		"host: a.example":             {"dot-for-any"},
		`host: "a\\.example"`:         nil,
		`host: ".*\\.example"`:        nil,
		"method: get":                 {"never-matches"},
		"method: GET":                 {"get-without-head"},
		"method: GET|HEAD":            nil,
		"method: .*":                  nil,
		"method: POST":                nil,
		"method: GET}, {path: /.*":    nil,
		"method: GET}, {method: HEAD": nil,
	} {
		yaml := one("CiliumNetworkPolicy", "name: p", `spec: {endpointSelector: {}, ingress: [{toPorts: [{ports: [{port: "8080", protocol: TCP}], rules: {http: [{`+http+`}]}}]}]}`)
		var got []string
		for _, w := range networkpolicy.Lint(parseAll(t, yaml), inbounds()[:1], options()) {
			got = append(got, string(w.Kind))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", http, got, want)
		}
	}
}
