package diff

import (
	"fmt"
	"testing"
)

// Each row widens access, or may do so, by what stands around the rules of policies: by options, by
// authorizers, by the service behind an inbound, by a case that is gone.
func TestWideningAroundRules(t *testing.T) {
	t.Parallel()
	const (
		every  = `[{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}}]`
		web    = "{name: web, labels: {app: a}, inbounds: [{name: in, port: 8080, protocol: http}]}"
		stream = "{name: web, labels: {app: a}, inbounds: [{name: in, port: 8080, protocol: tcp}]}"
		db     = "{name: db, labels: {app: b}, inbounds: [{name: in, port: 9090, protocol: http}]}"
	)
	caseOf := func(name, options, workloads, policies string) string {
		return fmt.Sprintf("---\ncase: %s\noptions: {%s}\nworkloads: [%s]\npolicies: [%s]\nrequests: [{from: spiffe://trust-domain.mesh/ns/a/sa/b, to: web/in, want: allow}]\n", name, options, workloads, policies)
	}
	mtp := "{type: MeshTrafficPermission, mesh: default, name: p, spec: {default: {allow: " + every + "}}}"
	ap := func(name, spec string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: " + name + ", namespace: default}, spec: {" + spec + "}}"
	}
	asks := func(name, app, provider string) string {
		return ap(name, "selector: {matchLabels: {app: "+app+"}}, action: CUSTOM, provider: {name: "+provider+"}, rules: [{}]")
	}
	const providers = "istio: {extensionProviders: [{name: x, envoyExtAuthzGrpc: {service: a.b, port: 9000}}, {name: 'y', envoyExtAuthzGrpc: {service: c.d, port: 9000}}]}"
	cnp := "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: default}, spec: {endpointSelector: {matchLabels: {app: a}}, ingress: [{fromEndpoints: [{matchLabels: {io.cilium.k8s.namespace.labels.x: 'y'}}]}]}}"
	calls := func(egress string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: default}, spec: {endpointSelector: {}, ingress: [{fromEntities: [all]}]" + egress + "}}"
	}
	gone := caseOf("gone", "", "{name: web, inbounds: [{name: in, port: 8080, protocol: http}]}", ap("d", "action: DENY, rules: [{to: [{operation: {methods: [get]}}]}]"))
	dataplane := func(more string) string {
		return mtp + "\n---\n{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [{port: 8080, protocol: http" + more + "}]}}\n"
	}
	for name, tt := range map[string]struct{ same, old, recent string }{
		"another provider that nobody knows":           {"", ap("p", "action: CUSTOM, provider: {name: x}, rules: [{}]"), ap("p", "action: CUSTOM, provider: {name: 'y'}, rules: [{}]")},
		"two workloads swap their providers":           {"", caseOf("c", providers, web+", "+db, asks("p", "a", "x")+", "+asks("q", "b", "'y'")), caseOf("c", providers, web+", "+db, asks("p", "a", "'y'")+", "+asks("q", "b", "x"))},
		"a CUSTOM becomes a DENY by the lab's header":  {"", caseOf("c", providers, web, asks("p", "a", "x")), caseOf("c", providers, web, ap("p", "action: DENY, rules: [{when: [{key: 'request.headers[X-Ext-Authz]', notValues: [allow]}]}]"))},
		"an ALLOW by the lab's header beside a CUSTOM": {"", caseOf("c", providers, web, asks("p", "a", "x")+", "+ap("q", "rules: [{when: [{key: 'request.headers[x-ext-authz]', values: [deny]}]}]")), caseOf("c", providers, web, asks("p", "a", "x")+", "+ap("q", "rules: [{when: [{key: 'request.headers[x-ext-authz]', values: [deny, other]}]}]"))},
		"a server name more beside a CUSTOM, on tcp":   {"", caseOf("c", providers, stream, asks("p", "a", "x")+", "+ap("q", "rules: [{when: [{key: connection.sni, values: [a.com]}]}]")), caseOf("c", providers, stream, asks("p", "a", "x")+", "+ap("q", "rules: [{when: [{key: connection.sni, values: [a.com, b.com]}]}]"))},
		"options without a policy":                     {"", caseOf("c", "linkerd: {defaultInboundPolicy: deny}", web, ""), caseOf("c", "linkerd: {defaultInboundPolicy: all-unauthenticated}", web, "")},
		"a namespace gets a label":                     {"", caseOf("c", "cilium: {namespaceLabels: {a: {x: 'y'}}}", web, cnp), caseOf("c", "cilium: {namespaceLabels: {a: {x: 'y'}, b: {x: 'y'}}}", web, cnp)},
		"other calls of a workload":                    {"", caseOf("c", "", web, calls(", egress: [{toEndpoints: [{matchLabels: {app: b}}]}]")), caseOf("c", "", web, calls(", egress: [{toEndpoints: [{matchLabels: {app: c}}]}]"))},
		"calls to another group of addresses":          {"", caseOf("c", "", web, calls(", egress: [{toCIDRSet: [{cidrGroupRef: a}]}]")), caseOf("c", "", web, calls(", egress: [{toCIDRSet: [{cidrGroupRef: b}]}]"))},
		"no rules of calls any more":                   {"", caseOf("c", "", web, calls(", egressDeny: [{toEntities: [world]}]")), caseOf("c", "", web, calls(""))},
		"a gone case denied an unsent method":          {caseOf("c", "", web, mtp), gone, ""},
		"another service port":                         {"", dataplane(""), dataplane(", servicePort: 9090")},
		"another service address":                      {"", dataplane(""), dataplane(", serviceAddress: 127.0.0.2")},
		"the service port of another inbound":          {"", dataplane(", servicePort: 80"), dataplane("")},
		"an inbound that discovery ignores":            {"", dataplane(""), dataplane(", state: Ignored")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(differenceOf(t, tt.same+tt.old, tt.same+tt.recent).widenings()) == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", tt.old, tt.recent, tt.same)
			}
			if back := differenceOf(t, tt.same+tt.old, tt.same+tt.old).widenings(); len(back) > 0 {
				t.Errorf("no change widens: %q", back)
			}
		})
	}
	if reasons := differenceOf(t, dataplane(""), dataplane(", servicePort: 8080, state: Ready")).widenings(); len(reasons) > 0 {
		t.Errorf("the service port that an inbound has anyway: %q", reasons)
	}
}
