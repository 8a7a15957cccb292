package diff

import (
	"fmt"
	"strings"
	"testing"
)

// A policy hides nothing where kubectl refuses it, where the cluster may not have its kind, or where no release has its fields.
// So NEW widens where it lets in a caller that only such a policy keeps out. There is nothing to tell where OLD has the same
// policy, or where no caller gets in without it.
func TestWideningBehindWhatMayBeRefused(t *testing.T) {
	t.Parallel()
	const all, none = "[{spiffeID: {type: Prefix, value: spiffe://td}}]", "[]"
	spec := func(allow, deny string) string {
		return fmt.Sprintf("spec: {targetRef: {kind: Mesh}, rules: [{default: {allow: %s, deny: %s}}]}", allow, deny)
	}
	object := func(name, spec string) string {
		return "{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: " + name + ", namespace: kuma-system}, " + spec + "}\n"
	}
	universal := func(name, spec string) string {
		return "{type: MeshTrafficPermission, mesh: default, name: " + name + ", " + spec + "}\n"
	}
	exact := func(key, rest string) string {
		return "[{" + key + ": {type: Exact, value: spiffe://td/a}" + rest + "}]"
	}
	within := func(head, item string) string { return "{" + head + "items: [" + strings.TrimSpace(item) + "]}\n" }
	cilium := func(kind, name, rest string) string {
		return "{apiVersion: cilium.io/v2, kind: " + kind + ", metadata: {name: " + name + "}, spec: {endpointSelector: {}, " + rest + "}}\n"
	}
	gateway := func(version, kind string) string {
		return "{apiVersion: gateway.networking." + version + ", kind: " + kind + ", metadata: {name: " + strings.ToLower(kind) + ", namespace: shop}, spec: {targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network, rules: []}}\n"
	}
	linkerd := func(kind, name, spec string) string {
		return "{apiVersion: policy.linkerd.io/v1alpha1, kind: " + kind + ", metadata: {name: " + name + ", namespace: shop}, spec: {" + spec + "}}\n"
	}
	ofCase := func(policies ...string) string {
		return "case: c\nworkloads: [{name: web, inbounds: [{name: in, port: 80}]}]\npolicies: [" + strings.ReplaceAll(strings.Join(policies, ", "), "\n", "") + "]\nrequests: [{from: spiffe://td/b, to: web/in, want: allow}]\n"
	}
	const (
		server    = "{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: shop}, spec: {podSelector: {}, port: 80, proxyProtocol: HTTP/1}}\n"
		httpRoute = "{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: r, namespace: shop}, spec: {parentRefs: [{group: policy.linkerd.io, kind: Server, name: s}], rules: [{matches: [{path: {value: /a}}]}]}}\n"
		account   = "requiredAuthenticationRefs: [{kind: ServiceAccount, name: fe}]"
		istioNone = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: i, namespace: shop}, spec: {}}\n"
		plane     = "{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]}}\n"
		slash     = "[{spiffeID: {type: Exact, value: spiffe://td/a}}, {spiffeID: {type: Prefix, value: spiffe://td/a/}}]"
		more      = ", sni: {type: Exact, value: a.example}"
	)
	var (
		own, wide, deny       = exact("spiffeID", ""), object("p", spec(all, none)), object("d", spec(none, all))
		narrow                = object("p", spec(own, none))
		plain, plainWide      = universal("p", spec(own, none)), universal("p", spec(all, none))
		plainDeny             = universal("d", spec(none, all))
		released, byDesign    = universal("p", spec(exact("spiffeID", more), none)), universal("p", spec(exact("spiffeId", more), none))
		denies, deniesOutside = universal("d", spec(none, own)), universal("d", "spec: {targetRef: {kind: Mesh}, default: {deny: "+own+"}}")
		first                 = cilium("CiliumNetworkPolicy", "p", "ingress: [{fromEndpoints: [{matchLabels: {a: x}}]}]")
		second                = cilium("CiliumNetworkPolicy", "p", "ingress: [{fromEndpoints: [{}]}]")
		serverOpen            = server + "---\n" + linkerd("AuthorizationPolicy", "p", "targetRef: {group: policy.linkerd.io, kind: Server, name: s}, "+account)
	)
	for name, tt := range map[string]struct {
		old, recent []string
		// want is a part of the reason, "" for none.
		want string
	}{
		"a list of another group":      {[]string{narrow}, []string{wide, within("apiVersion: example.io/v1, kind: List, ", deny)}, "it stands in a list of the kind example.io/v1 List"},
		"a list of another version":    {[]string{narrow}, []string{wide, within("apiVersion: kuma.io/v1beta1, kind: MeshTrafficPermissionList, ", deny)}, "a list of the kind kuma.io/v1beta1"},
		"a list without a kind":        {[]string{narrow}, []string{wide, within("", deny)}, "it stands in a list without a kind"},
		"a list within a list":         {[]string{narrow}, []string{wide, within("apiVersion: v1, kind: List, ", within("apiVersion: v1, kind: List, ", deny))}, "it stands in a list within a list"},
		"a deny that goes into one":    {[]string{wide, deny}, []string{wide, within("", deny)}, "it stands in a list without a kind"},
		"a list of kubectl":            {[]string{narrow}, []string{wide, within("apiVersion: v1, kind: List, ", deny)}, ""},
		"a list of an API server":      {[]string{narrow}, []string{wide, within("apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermissionList, ", deny)}, ""},
		"such a list as before":        {[]string{within("", narrow)}, []string{within("", wide), within("", deny)}, ""},
		"a list of kumactl":            {[]string{plain}, []string{plainWide, within("", plainDeny)}, ""},
		"universal beside objects":     {[]string{narrow}, []string{wide, plainDeny}, "kubectl refuses the universal form"},
		"beside a Dataplane":           {[]string{narrow, plane}, []string{wide, plane, plainDeny}, "kubectl refuses the universal form"},
		"an object beside universals":  {[]string{plain}, []string{plainWide, deny}, "kumactl refuses the form of Kubernetes"},
		"a deny becomes universal":     {[]string{wide, object("d", spec(none, own))}, []string{wide, denies}, "kubectl refuses the universal form"},
		"a deny becomes an object":     {[]string{plainWide, denies}, []string{plainWide, object("d", spec(none, own))}, "kumactl refuses the form of Kubernetes"},
		"all become objects":           {[]string{plain, denies}, []string{narrow, object("d", spec(none, own))}, ""},
		"both forms as before":         {[]string{narrow, universal("u", spec(none, none))}, []string{wide, plainDeny, universal("u", spec(none, none))}, ""},
		"another group":                {[]string{gateway("x-k8s.io/v1alpha1", "XAuthorizationPolicy")}, []string{gateway("k8s.io/v1", "AuthorizationPolicy")}, "OLD has no AuthorizationPolicy of gateway.networking.k8s.io"},
		"another mesh":                 {[]string{istioNone}, []string{gateway("x-k8s.io/v1alpha1", "XAuthorizationPolicy")}, "OLD has no XAuthorizationPolicy"},
		"another mesh, universal":      {[]string{istioNone}, []string{plainDeny}, "OLD has no MeshTrafficPermission, and"},
		"the first of another group":   {[]string{gateway("x-k8s.io/v1alpha1", "XAuthorizationPolicy")}, []string{gateway("x-k8s.io/v1alpha1", "XAuthorizationPolicy"), gateway("k8s.io/v1", "AuthorizationPolicy")}, ""},
		"a deny of the whole cluster":  {[]string{first}, []string{second, cilium("CiliumClusterwideNetworkPolicy", "d", "ingressDeny: [{fromEndpoints: [{}]}]")}, "OLD has no CiliumClusterwideNetworkPolicy"},
		"the first of a cluster":       {[]string{first}, []string{first, cilium("CiliumClusterwideNetworkPolicy", "d", "ingressDeny: [{fromEndpoints: [{}]}]")}, ""},
		"the first authentication":     {[]string{serverOpen}, []string{server, linkerd("AuthorizationPolicy", "p", "targetRef: {group: policy.linkerd.io, kind: Server, name: s}, requiredAuthenticationRefs: [{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m}]"), linkerd("MeshTLSAuthentication", "m", "identityRefs: [{kind: ServiceAccount, name: fe}]")}, ""},
		"the first route":              {[]string{serverOpen}, []string{server, httpRoute, linkerd("AuthorizationPolicy", "p", "targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}, "+account)}, ""},
		"the spelling of the design":   {[]string{released}, []string{byDesign}, "has spiffeId: the field is lost"},
		"the spelling without more":    {[]string{plain}, []string{universal("p", spec(exact("spiffeId", ""), none))}, ""},
		"a deny that leaves the rules": {[]string{plainWide, denies}, []string{plainWide, deniesOutside}, "has default without rules"},
		"a path that is lost":          {[]string{plain}, []string{universal("p", spec("[{spiffeID: {type: Prefix, value: spiffe://td}, path: {type: Exact, value: /a}}]", none))}, "p"},
		"a path for fewer requests":    {[]string{plain}, []string{universal("p", spec(exact("spiffeID", ", path: {type: Exact, value: /a}"), none))}, ""},
		"the design throughout":        {[]string{byDesign}, []string{universal("p", spec(exact("spiffeId", more+", path: {type: Exact, value: /a}"), none))}, ""},
		"a prefix that is refused":     {[]string{plainWide, denies}, []string{plainWide, universal("e", spec(none, slash))}, "has a prefix that ends in a slash"},
		"such a prefix of a case":      {[]string{ofCase(plainWide, denies)}, []string{ofCase(plainWide, universal("e", spec(none, slash)))}, ""},
		"another form in a case":       {[]string{ofCase(plainWide, denies)}, []string{ofCase(plainWide, object("e", spec(none, own)))}, ""},
		"default throughout":           {[]string{plainWide, deniesOutside}, []string{plainWide, deniesOutside, universal("e", "spec: {targetRef: {kind: Mesh}, default: {deny: "+own+"}}")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := func(docs []string) map[string]string { return map[string]string{"p.yaml": strings.Join(docs, "---\n")} }
			checkReasons(t, folderSide(t, text(tt.old), ""), folderSide(t, text(tt.recent), ""), tt.want)
		})
	}
}
