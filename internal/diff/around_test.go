package diff

import (
	"fmt"
	"strings"
	"testing"
)

// Each row widens access, or may widen it: to workloads beside those that Dataplanes describe, by
// the Dataplanes themselves, by other documents of a mesh, and by policies of Istio.
func TestVerdictOfWidening(t *testing.T) {
	t.Parallel()
	const one = "[{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/a}}]"
	const all = `[{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}}]`
	mtp := func(name, target, rules string) string {
		return fmt.Sprintf("---\n{type: MeshTrafficPermission, mesh: default, name: %s, spec: {targetRef: %s, %s}}\n", name, target, rules)
	}
	ist := func(name, ns, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: %s}, spec: %s}\n", name, ns, spec)
	}
	gw := func(name, ns, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: gateway.networking.k8s.io/v1, kind: AuthorizationPolicy, metadata: {name: %s, namespace: %s}, spec: %s}\n", name, ns, spec)
	}
	dp := func(name, labels, inbounds string) string {
		return fmt.Sprintf("---\n{type: Dataplane, mesh: default, name: %s, labels: {%s}, networking: {address: 10.0.0.1, inbound: [%s]}}\n", name, labels, inbounds)
	}
	in8080 := "{name: in, port: 8080, protocol: http}"
	const mesh = "{kind: Mesh}"
	labels := func(text string) string { return "{kind: Dataplane, labels: {" + text + "}}" }
	section := func(name string) string { return "{kind: Dataplane, sectionName: '" + name + "'}" }
	allow := func(l string) string { return "default: {allow: " + l + "}" }
	deny := func(l string) string { return "default: {deny: " + l + "}" }
	peer := func(namespace, mode string) string {
		return "---\n{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: d, namespace: " + namespace + "}, spec: {mtls: {mode: " + mode + "}}}\n"
	}
	config := func(name, normalization string) string {
		return "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: istio-system}, data: {mesh: 'pathNormalization: {normalization: " + normalization + "}'}}\n"
	}
	onCase := func(head, inbounds, rules string) string {
		return "---\ncase: c\n" + head + "\nworkloads: [{name: web, inbounds: [" + in8080 + inbounds + "]}]\npolicies: [{type: MeshTrafficPermission, name: p, spec: {" + rules + "}}]\nrequests: [{from: plaintext, to: web/in, want: handshake-failure}]\n"
	}
	ofAddress := func(inbound string) string {
		return "---\ncase: c\nworkloads: [{name: web, namespace: x, inbounds: [{name: in, port: 8080, protocol: http" + inbound + "}]}]\npolicies:" + strings.Replace(ist("p", "x", "{rules: [{from: [{source: {remoteIpBlocks: [10.1.0.0/16]}}]}]}"), "---\n", " [", 1) + "]\nrequests: [{from: plaintext, to: web/in, want: handshake-failure}]\n"
	}
	asking := func(provider, more string) string {
		return "---\ncase: c\noptions: {istio: {extensionProviders: [{name: a, envoyExtAuthzGrpc: {service: a.x, port: 1" + more + "}}, {name: b, envoyExtAuthzGrpc: {service: b.x, port: 1}}]}}\nworkloads: [{name: web, namespace: x, inbounds: [" + in8080 + "]}]\npolicies:" +
			strings.Replace(ist("p", "x", "{action: CUSTOM, provider: {name: "+provider+"}, rules: [{}]}"), "---\n", " [", 1) + "]\nrequests: [{from: plaintext, to: web/in, want: handshake-failure}]\n"
	}
	const deep = "default: {allow: [{path: {type: Prefix, value: /public}}]}"
	const cilium = "---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: x}, spec: {endpointSelector: {}, ingress: [{toPorts: [{ports: [{port: '8080'}]}]}]}}\n"
	const linkerd = "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: b}}, port: 8080}}\n"
	of := func(version, kind, more string) string {
		return "---\n{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: x, " + more + "}}\n"
	}
	pods := func(kind, more string) string {
		return "---\n{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: b, namespace: x}, spec: {template: {metadata: {" + more + "}}}}\n"
	}
	for _, tt := range []struct{ name, same, old, recent string }{
		{"described: another port", dp("web", "app: a", in8080) + mtp("d", section("8080"), deny(all)), mtp("p", labels("app: a"), allow(one)), mtp("p", labels("app: a"), allow(all))},
		{"described: section name", dp("web", "app: a", in8080) + mtp("d", section("in"), deny(all)), mtp("p", labels("app: a"), allow(one)), mtp("p", labels("app: a"), allow(all))},
		{"described: two together", dp("web", "app: a", in8080) + dp("api", "env: x", in8080) + mtp("p", labels("env: x"), allow(all)), mtp("d", labels("app: a"), deny(all)), mtp("d", labels("app: a"), deny("[]"))},
		{"described: two together, allow", dp("web", "app: a", in8080) + dp("api", "env: x", in8080) + mtp("d", labels("app: a"), deny(all)), mtp("p", labels("env: x"), allow(one)), mtp("p", labels("env: x"), allow(all))},
		{"described: deny by another label of the same", dp("web", "app: a, env: x", in8080) + mtp("d", labels("env: x"), deny(all)), mtp("p", labels("app: a"), allow(one)), mtp("p", labels("app: a"), allow(all))},
		{"described: name", dp("web", "app: a", in8080) + mtp("d", "{kind: Dataplane, name: web}", deny(all)), mtp("p", labels("app: a"), allow(one)), mtp("p", labels("app: a"), allow(all))},
		{"described: label changes", mtp("p", mesh, allow(all)) + mtp("d", labels("app: a"), deny(all)), dp("web", "app: a", in8080), dp("web", "app: b", in8080)},
		{"described: label goes", mtp("p", mesh, allow(all)) + mtp("d", labels("app: a"), deny(all)), dp("web", "app: a", in8080), dp("web", "env: b", in8080)},
		{"described: inbound renamed", mtp("p", mesh, allow(all)) + mtp("d", section("in"), deny(all)), dp("web", "app: a", in8080), dp("web", "app: a", "{name: in2, port: 8080, protocol: http}")},
		{"described: mesh changes", mtp("p", mesh, allow(all)) + "---\n{type: MeshTrafficPermission, mesh: other, name: q, spec: {targetRef: {kind: Mesh}, default: {allow: " + one + "}}}\n", "---\n{type: Dataplane, mesh: other, name: web, networking: {address: 10.0.0.1, inbound: [" + in8080 + "]}}\n", "---\n{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [" + in8080 + "]}}\n"},
		{"others: Mesh permissive", mtp("p", mesh, allow(one)), "---\n{type: Mesh, name: default, mtls: {enabledBackend: ca-1, backends: [{name: ca-1, type: builtin, mode: STRICT}]}}\n", "---\n{type: Mesh, name: default, mtls: {enabledBackend: ca-1, backends: [{name: ca-1, type: builtin, mode: PERMISSIVE}]}}\n"},
		{"others: Mesh without mtls", mtp("p", mesh, allow(one)), "---\n{type: Mesh, name: default, mtls: {enabledBackend: ca-1, backends: [{name: ca-1, type: builtin}]}}\n", "---\n{type: Mesh, name: default}\n"},
		{"others: MeshTLS", mtp("p", mesh, allow(one)), "", "---\n{type: MeshTLS, mesh: default, name: t, spec: {rules: [{default: {mode: Permissive}}]}}\n"},
		{"others: MeshTrust", mtp("p", mesh, allow(one)), "", "---\n{type: MeshTrust, mesh: default, name: t, spec: {trustDomain: trust-domain.mesh}}\n"},
		{"others: MeshProxyPatch", mtp("p", mesh, allow(one)), "", "---\n{type: MeshProxyPatch, mesh: default, name: t, spec: {targetRef: {kind: Mesh}}}\n"},
		{"others: MeshHTTPRoute", mtp("p", mesh, allow(one)), "", "---\n{type: MeshHTTPRoute, mesh: default, name: t, spec: {targetRef: {kind: Mesh}}}\n"},
		{"istio: PeerAuthentication goes", ist("p", "x", "{}"), peer("x", "STRICT"), ""},
		{"istio: PeerAuthentication of the mesh goes", ist("p", "x", "{rules: [{from: [{source: {notNamespaces: [a]}}]}]}"), peer("istio-system", "STRICT"), ""},
		{"istio: PeerAuthentication of another mode", ist("p", "x", "{rules: [{}]}"), peer("x", "STRICT"), peer("x", "PERMISSIVE")},
		{"istio: PeerAuthentication ends plaintext alone", ist("p", "x", "{rules: [{from: [{source: {principals: ['*']}}]}]}"), peer("x", "DISABLE"), peer("x", "STRICT")},
		{"others: EnvoyFilter", ist("p", "x", "{}"), "", "---\n{apiVersion: networking.istio.io/v1alpha3, kind: EnvoyFilter, metadata: {name: d, namespace: x}, spec: {}}\n"},
		{"others: Sidecar", ist("p", "x", "{}"), "", "---\n{apiVersion: networking.istio.io/v1, kind: Sidecar, metadata: {name: d, namespace: x}, spec: {}}\n"},
		{"others: RequestAuthentication goes", ist("p", "x", "{}"), "---\n{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: d, namespace: x}, spec: {jwtRules: [{issuer: a}]}}\n", ""},
		{"others: the mesh config of Istio", ist("p", "x", "{}"), config("istio", "BASE"), config("istio", "NONE")},
		{"others: the mesh config of a revision", ist("p", "x", "{}"), config("istio-canary", "BASE"), ""},
		{"others: IstioOperator", ist("p", "x", "{}"), "", "---\n{apiVersion: install.istio.io/v1alpha1, kind: IstioOperator, metadata: {name: i}}\n"},
		{"others: the default policy of a namespace", linkerd, of("v1", "Namespace", ""), of("v1", "Namespace", "annotations: {config.linkerd.io/default-inbound-policy: all-unauthenticated}")},
		{"others: ports that pass the sidecar", linkerd, "", of("v1", "Namespace", "annotations: {config.linkerd.io/skip-inbound-ports: '8080'}")},
		{"others: ports of pods that pass the sidecar", linkerd, pods("Deployment", ""), pods("Deployment", "annotations: {config.linkerd.io/skip-inbound-ports: '8080'}")},
		{"others: ports of jobs that pass the sidecar", ist("p", "x", "{}"), "", "---\n{apiVersion: batch/v1, kind: CronJob, metadata: {name: 'n'}, spec: {jobTemplate: {spec: {template: {metadata: {annotations: {traffic.sidecar.istio.io/excludeInboundPorts: '8080'}}}}}}}\n"},
		{"others: a namespace loses its sidecars", ist("p", "x", "{}"), of("v1", "Namespace", "labels: {istio-injection: enabled}"), of("v1", "Namespace", "")},
		{"others: a pod loses its sidecar", mtp("p", mesh, allow(one)), pods("StatefulSet", "labels: {kuma.io/sidecar-injection: enabled}"), pods("StatefulSet", "labels: {kuma.io/sidecar-injection: disabled}")},
		{"others: a namespace in another mesh", mtp("p", mesh, allow(one)), of("v1", "Namespace", "labels: {kuma.io/mesh: a}"), of("v1", "Namespace", "labels: {kuma.io/mesh: b}")},
		{"others: NetworkPolicy beside Cilium", cilium, "", "---\n{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: 'n', namespace: x}, spec: {podSelector: {}, ingress: [{}]}}\n"},
		{"Dataplane: probes", mtp("p", mesh, allow(one)), dp("web", "app: a", in8080), strings.Replace(dp("web", "app: a", in8080), "networking", "probes: {port: 9000, endpoints: [{inboundPort: 8080, inboundPath: /admin, path: /a}]}, networking", 1)},
		{"Dataplane: metrics of one that is new", mtp("p", mesh, allow(one)), "", strings.Replace(dp("web", "app: a", in8080), "networking", "metrics: {type: prometheus}, networking", 1)},
		{"Dataplane: an inbound goes", mtp("p", mesh, allow(one)), dp("web", "app: a", in8080+", {name: b, port: 9090, protocol: tcp}"), dp("web", "app: a", in8080)},
		{"Dataplane: an inbound has another port", mtp("p", mesh, allow(one)), dp("web", "app: a", in8080), dp("web", "app: a", "{name: in, port: 8081, protocol: http}")},
		{"case: one more trust domain", "", onCase("", "", allow(all)), onCase("trustDomains: [trust-domain.mesh, evil.example]", "", allow(all))},
		{"case: paths are not normalized", "", onCase("", "", deep), onCase("options: {pathNormalization: {normalizePath: false}}", "", deep)},
		{"case: slashes are not merged", "", onCase("", "", deep), onCase("options: {pathNormalization: {mergeSlashes: false}}", "", deep)},
		{"case: one more trusted hop", "", ofAddress(""), ofAddress(", xffTrustedHops: 1")},
		{"case: another authorizer", "", asking("a", ""), asking("b", "")},
		{"case: an authorizer that lets in where it fails", "", asking("a", ""), asking("a", ", failOpen: true")},
		{"case: an authorizer elsewhere", "", asking("a", ""), strings.Replace(asking("a", ""), "a.x", "evil.x", 1)},
		{"case: an inbound goes", "", onCase("", ", {name: b, port: 9090, protocol: tcp}", allow(one)), onCase("", "", allow(one))},
		{"case: one of Istio goes", "", onCase("", "", allow(one)) + strings.Replace(ofAddress(""), "case: c", "case: d", 1), onCase("", "", allow(one))},
		{"Dataplane: a new inbound has the port of one that moved", mtp("p", mesh, allow(all)) + mtp("d", section("in"), deny(all)), dp("web", "app: a", in8080), dp("web", "app: a", "{name: in, port: 9090, protocol: http}, {name: main, port: 8080, protocol: http}")},
		{"Dataplane: two inbounds exchange their ports", mtp("p", mesh, allow(all)) + mtp("d", section("in"), deny(all)), dp("web", "app: a", in8080+", {name: b, port: 9090, protocol: http}"), dp("web", "app: a", "{name: in, port: 9090, protocol: http}, {name: b, port: 8080, protocol: http}")},
		{"Dataplane: an inbound is renamed away from its deny", mtp("p", mesh, allow(all)) + mtp("d", section("in"), deny(all)), dp("web", "app: a", in8080), dp("web", "app: a", "{name: in2, port: 8080, protocol: http}")},
		// Istio
		{"istio: last ALLOW deleted", ist("d", "x", "{action: DENY, rules: [{to: [{operation: {paths: [/x]}}]}]}"), ist("p", "x", "{rules: [{from: [{source: {principals: ['*/a']}}]}]}"), ""},
		{"istio: DENY to shadow", "", ist("d", "x", "{action: DENY, rules: [{}]}"), "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: x, annotations: {istio.io/dry-run: 'true'}}, spec: {action: DENY, rules: [{}]}}\n"},
		{"istio: ALLOW nothing to shadow", "", ist("d", "x", "{}"), "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: x, annotations: {istio.io/dry-run: 'true'}}, spec: {}}\n"},
		{"istio: DENY to ALLOW", "", ist("d", "x", "{action: DENY, rules: [{}]}"), ist("d", "x", "{action: ALLOW, rules: [{}]}")},
		{"istio: DENY to AUDIT", "", ist("d", "x", "{action: DENY, rules: [{}]}"), ist("d", "x", "{action: AUDIT, rules: [{}]}")},
		{"istio: namespace", "", ist("d", "x", "{}"), ist("d", "'y'", "{}")},
		{"istio: root to one", "", ist("d", "istio-system", "{}"), ist("d", "'y'", "{}")},
		{"istio: selector", "", ist("d", "x", "{}"), ist("d", "x", "{selector: {matchLabels: {app: a}}}")},
		{"istio: selector value", "", ist("d", "x", "{selector: {matchLabels: {app: b}}}"), ist("d", "x", "{selector: {matchLabels: {app: a}}}")},
		{"istio: ALLOW on a corner", ist("d", "x", "{selector: {matchLabels: {app: a}}}"), ist("p", "x", "{selector: {matchLabels: {env: b}}, rules: [{from: [{source: {principals: ['trust-domain.mesh/a']}}]}]}"), ist("p", "x", "{selector: {matchLabels: {env: b}}, rules: [{}]}")},
		{"istio: deny hides", ist("d", "x", "{action: DENY, selector: {matchLabels: {app: a}}, rules: [{}]}"), ist("p", "x", "{rules: [{from: [{source: {principals: ['trust-domain.mesh/a']}}]}]}"), ist("p", "x", "{rules: [{}]}")},
		{"istio: rule added", "", ist("p", "x", "{rules: [{from: [{source: {principals: ['trust-domain.mesh/a']}}]}]}"), ist("p", "x", "{rules: [{from: [{source: {principals: ['trust-domain.mesh/a']}}]}, {to: [{operation: {ports: ['9090']}}]}]}")},
		{"istio: from lost", "", ist("p", "x", "{rules: [{from: [{source: {namespaces: ['y']}}], to: [{operation: {methods: [GET]}}]}]}"), ist("p", "x", "{rules: [{to: [{operation: {methods: [GET]}}]}]}")},
		{"istio: notPrincipals", "", ist("p", "x", "{rules: [{from: [{source: {notPrincipals: ['trust-domain.mesh/a', 'trust-domain.mesh/b']}}]}]}"), ist("p", "x", "{rules: [{from: [{source: {notPrincipals: ['trust-domain.mesh/a']}}]}]}")},
		{"istio: prefix", "", ist("p", "x", "{rules: [{to: [{operation: {paths: [/a]}}]}]}"), ist("p", "x", "{rules: [{to: [{operation: {paths: ['/a*']}}]}]}")},
		{"istio: suffix", "", ist("p", "x", "{rules: [{to: [{operation: {paths: [/a]}}]}]}"), ist("p", "x", "{rules: [{to: [{operation: {paths: ['*/a']}}]}]}")},
		{"istio: port in when", "", ist("p", "x", "{rules: [{when: [{key: destination.port, values: ['8080']}]}]}"), ist("p", "x", "{rules: [{when: [{key: destination.port, values: ['8080', '9090']}]}]}")},
		{"istio: deny of tcp by path", "", ist("p", "x", "{action: DENY, rules: [{to: [{operation: {paths: [/a]}}]}]}"), ""},
		// Gateway
		{"gw: namespace", "", gw("p", "x", "{targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network, rules: []}"), gw("p", "'y'", "{targetRefs: [{kind: Pod, selector: {}}], action: ALLOW, enforcementLevel: Network, rules: []}")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := differenceOf(t, tt.same+tt.old, tt.same+tt.recent); len(d.widenings()) == 0 {
				t.Errorf("from\n%s\nto\n%s\nbeside\n%s: %s", tt.old, tt.recent, tt.same, d.Verdict())
			}
			if d := differenceOf(t, tt.same+tt.old, tt.same+tt.old); len(d.widenings()) > 0 {
				t.Errorf("no change: %s", d.Verdict())
			}
		})
	}
	both := func(a, b int) string {
		return dp("web", "app: a", fmt.Sprintf("{name: in, port: %d, protocol: http}, {name: b, port: %d, protocol: http}", a, b))
	}
	for name, d := range map[string]*Difference{
		"a DENY of those without a name takes other trust domains too": differenceOf(t, ist("d", "x", "{action: DENY, rules: [{from: [{source: {notPrincipals: ['*']}}]}]}"), ist("d", "x", "{action: DENY, rules: [{from: [{source: {notPrincipals: ['trust-domain.mesh/*']}}]}]}")),
		"ports are exchanged under one policy":                         differenceOf(t, mtp("p", mesh, allow(one))+both(1, 2), mtp("p", mesh, allow(one))+both(2, 1)),
		"inbounds are written in another order":                        differenceOf(t, mtp("d", section("in"), deny(all))+dp("web", "app: a", in8080+", {name: b, port: 1}"), mtp("d", section("in"), deny(all))+dp("web", "app: a", "{name: b, port: 1}, "+in8080)),
	} {
		if len(d.widenings()) > 0 {
			t.Errorf("%s: %s", name, d.Verdict())
		}
	}
	for kind, doc := range map[string]string{
		"MeshTimeout": "---\n{type: MeshTimeout, mesh: default, name: t, spec: {}}\n",
		"ConfigMap":   strings.Replace(config("app", "NONE"), "istio-system", "shop", 1),
		"a sidecar":   of("v1", "Namespace", "labels: {istio-injection: enabled}"),
		"its memory":  pods("Deployment", "annotations: {config.linkerd.io/proxy-memory-limit: 1Gi, app.example/x: 'y'}"),
		"Deployment":  "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}\n",
	} {
		if d := differenceOf(t, mtp("p", mesh, allow(one)), mtp("p", mesh, allow(one))+doc); len(d.widenings()) > 0 {
			t.Errorf("%s: %s", kind, d.Verdict())
		}
	}
}

// A change beside the policies may make them select another workload, or let a workload call as
// somebody else. A policy may stay as it is and not be applied any more. None of it is read.
func TestWorkloadsBesidePolicies(t *testing.T) {
	t.Parallel()
	const (
		allow   = "---\n{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: x%s}, spec: {selector: {matchLabels: {app: web}}, rules: [{from: [{source: {serviceAccounts: [fe]}}], to: [{operation: {ports: ['8080']}}]}]}}\n"
		cilium  = "---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: x}, spec: {endpointSelector: {matchLabels: {app: web}}, ingress: [{fromEndpoints: [{matchLabels: {io.cilium.k8s.namespace.labels.team: a}}]}]}}\n"
		server  = "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: web}}, port: http}}\n"
		pods    = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, namespace: x}, spec: {template: {metadata: {labels: {%s}}, spec: {%scontainers: [{name: c, ports: [{name: %s, containerPort: 8080}]}]}}}}\n"
		service = "---\n{apiVersion: v1, kind: Service, metadata: {name: s, namespace: x}, spec: {ports: [%s]}}\n"
		entry   = "---\n{apiVersion: networking.istio.io/v1, kind: WorkloadEntry, metadata: {name: d, namespace: x}, spec: {labels: {%s}}}\n"
		group   = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: x, labels: {%s}}}\n"
		config  = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: linkerd-config, namespace: linkerd}, data: {values: '%s'}}\n"
	)
	policy := func(more string) string { return fmt.Sprintf(allow, more) }
	pod := func(labels, spec, port string) string { return fmt.Sprintf(pods, labels, spec, port) }
	for name, tt := range map[string]struct {
		same, old, recent string
		quiet             bool
	}{
		"a label of a selector":        {same: policy(""), old: pod("app: web", "", "a"), recent: pod("app: other", "", "a")},
		"a label of a selector goes":   {same: policy(""), old: pod("app: web", "", "a"), recent: pod("", "", "a")},
		"a label of no selector":       {same: policy(""), old: pod("app: web, v: '1'", "", "a"), recent: pod("app: web, v: '2'", "", "a"), quiet: true},
		"another service account":      {same: policy(""), old: pod("app: a", "", "a"), recent: pod("app: a", "serviceAccountName: fe, ", "a")},
		"the network of the host":      {same: policy(""), old: pod("app: web", "", "a"), recent: pod("app: web", "hostNetwork: true, ", "a")},
		"a port that a Server names":   {same: server, old: pod("app: web", "", "http"), recent: pod("app: web", "", "web")},
		"a port that nothing names":    {same: server, old: pod("app: web", "", "a"), recent: pod("app: web", "", "b"), quiet: true},
		"a new workload":               {same: policy(""), recent: pod("app: web", "", "a"), quiet: true},
		"a label of a machine":         {same: policy(""), old: fmt.Sprintf(entry, "app: web"), recent: fmt.Sprintf(entry, "app: z")},
		"the protocol of a port":       {same: policy(""), old: fmt.Sprintf(service, "{port: 80, name: tcp}"), recent: fmt.Sprintf(service, "{port: 80, name: http}")},
		"one port more of a service":   {same: policy(""), old: fmt.Sprintf(service, "{port: 80, name: http}"), recent: fmt.Sprintf(service, "{port: 80, name: http}, {port: 81, name: http2}")},
		"a label of a namespace":       {same: cilium, old: fmt.Sprintf(group, ""), recent: fmt.Sprintf(group, "team: a")},
		"the config of Linkerd":        {same: server, old: fmt.Sprintf(config, "a"), recent: fmt.Sprintf(config, "b")},
		"a NetworkPolicy goes":         {same: policy(""), old: "---\n{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: 'n', namespace: x}, spec: {podSelector: {}}}\n"},
		"a policy of a hook":           {old: policy(""), recent: policy(", annotations: {helm.sh/hook: test}")},
		"a policy of one machine":      {old: policy(""), recent: policy(", annotations: {config.kubernetes.io/local-config: 'true'}")},
		"a policy that Flux passes by": {old: policy(""), recent: policy(", annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}")},
		"an annotation of a person":    {old: policy(""), recent: policy(", annotations: {owner: me}"), quiet: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := differenceOf(t, tt.same+tt.old, tt.same+tt.recent).Unread; (len(got) == 0) != tt.quiet {
				t.Errorf("unread: %q", got)
			}
			if got := differenceOf(t, tt.same+tt.recent, tt.same+tt.recent).Unread; len(got) > 0 {
				t.Errorf("nothing changed, and unread is %q", got)
			}
		})
	}
}
