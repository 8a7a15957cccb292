package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ask answers one request: inbound and policies are YAML. The callers are frontend and batch.
func ask(t *testing.T, inbound, policies, options string) answer {
	t.Helper()
	const peer = "{identity: spiffe://td/%[1]s, address: 10.0.0.1, workload: {name: %[1]s, namespace: shop, labels: {app: %[1]s}}}"
	question, err := yaml.YAMLToJSON([]byte(fmt.Sprintf("{id: 7, inbound: %s, policies: %s, options: {cilium: {clusterName: default, policyEnforcement: default%s}}, peers: [%s, %s]}",
		inbound, policies, options, fmt.Sprintf(peer, "frontend"), fmt.Sprintf(peer, "batch"))))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := serve(strings.NewReader("{\"protocol\": 2}\n"+string(question)+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	greeted, answered, _ := strings.Cut(out.String(), "\n")
	if !strings.Contains(greeted, `"protocol":2`) {
		t.Errorf("the greeting is %s", greeted)
	}
	var a answer
	if err := json.Unmarshal([]byte(answered), &a); err != nil || a.ID != 7 || strings.Count(answered, "\n") != 1 {
		t.Fatalf("%q: %v", answered, err)
	}
	return a
}

const backend = "{name: web, port: 8080, protocol: %s, workload: {name: backend, namespace: shop, labels: {app: backend}}}"

func policyOf(rest string) string {
	return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: shop}, " + rest + "}"
}

// names returns the action and the callers of each policy of the filters.
func names(t *testing.T, all []json.RawMessage) (out []string) {
	t.Helper()
	type rules struct {
		Action   string
		Policies map[string]any
	}
	for _, text := range all {
		var read struct{ Rules, ShadowRules *rules }
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		for kind, of := range map[string]*rules{"": read.Rules, "shadow ": read.ShadowRules} {
			if of == nil {
				continue
			}
			var callers []string
			for p := range of.Policies {
				_, spiffe, found := strings.Cut(p, " spiffe://td/")
				if !found {
					spiffe = p
				}
				callers = append(callers, spiffe)
			}
			slices.Sort(callers)
			out = append(out, kind+strings.TrimSpace(of.Action+" "+strings.Join(callers, " ")))
		}
	}
	slices.Sort(out)
	return out
}

// TestFilters names the callers in each filter that is made of Cilium's answer. The options of an
// agent are variables of Cilium's packages, so no test of this package is parallel.
func TestFilters(t *testing.T) {
	const (
		subject = "spec: {endpointSelector: {matchLabels: {app: backend}}, "
		rules   = `toPorts: [{ports: [{port: web, protocol: TCP}], rules: {http: [{path: /a}]}}]`
		peer    = "fromEndpoints: [{matchLabels: {app: frontend}}]"
		world   = "0.0.0.0/0 ::/0"
	)
	for name, tt := range map[string]struct {
		protocol, policy, options string
		network, http             []string
	}{
		"no policy":                {"http", "", "", nil, nil},
		"always":                   {"http", "", ", policyEnforcement: always", []string{""}, nil},
		"another workload":         {"http", "spec: {endpointSelector: {matchLabels: {app: x}}, ingress: [{}]}", "", nil, nil},
		"a peer":                   {"tcp", subject + "ingress: [{" + peer + "}]}", "", []string{"frontend"}, nil},
		"never":                    {"tcp", subject + "ingress: [{" + peer + "}]}", ", policyEnforcement: never", nil, nil},
		"only a deny":              {"tcp", subject + "enableDefaultDeny: {ingress: false}, ingressDeny: [{" + peer + "}]}", "", []string{"DENY frontend"}, nil},
		"the world":                {"tcp", subject + "ingress: [{fromEntities: [world]}]}", "", []string{world}, nil},
		"a block":                  {"tcp", subject + "ingress: [{fromCIDRSet: [{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}]}]}", "", []string{"10.0.0.0/8"}, nil},
		"HTTP rules":               {"http", subject + "ingress: [{" + peer + ", " + rules + "}]}", "", []string{"frontend"}, []string{"frontend"}},
		"HTTP rules on tcp":        {"tcp", subject + "ingress: [{" + rules + "}, {" + peer + "}]}", "", []string{""}, nil},
		"a proof":                  {"tcp", subject + "ingress: [{fromEntities: [all], authentication: {mode: required}}]}", "", []string{"batch frontend"}, nil},
		"audit":                    {"tcp", subject + "ingress: [{" + peer + "}]}", ", policyAuditMode: true", []string{"shadow frontend"}, nil},
		"audit and HTTP rules":     {"http", subject + "ingress: [{" + peer + ", " + rules + "}]}", ", policyAuditMode: true", []string{"shadow frontend"}, []string{world + " batch frontend"}},
		"audit and HTTP on tcp":    {"tcp", subject + "ingress: [{" + peer + ", " + rules + "}]}", ", policyAuditMode: true", []string{"DENY frontend", "shadow frontend"}, nil},
		"audit and a broken proof": {"http", subject + "ingress: [{" + peer + ", " + rules + ", authentication: {mode: test-always-fail}}]}", ", policyAuditMode: true", []string{"shadow "}, nil},
		"egress with secrets":      {"tcp", subject + `egress: [{toPorts: [{ports: [{port: "443"}], originatingTLS: {secret: {name: a}}}]}]}`, "", nil, nil},
		"a namespace by its name":  {"tcp", subject + "ingress: [{fromEndpoints: [{matchLabels: {io.cilium.k8s.namespace.labels.kubernetes.io/metadata.name: shop}}]}]}", "", []string{"batch frontend"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			policies := "[]"
			if tt.policy != "" {
				policies = "[" + policyOf(tt.policy) + "]"
			}
			a := ask(t, fmt.Sprintf(backend, tt.protocol), policies, tt.options)
			if a.Error != "" {
				t.Fatal(a.Error)
			}
			if network, http := names(t, a.Filters.Network), names(t, a.Filters.HTTP); !slices.Equal(network, tt.network) || !slices.Equal(http, tt.http) {
				t.Errorf("got %q and %q, want %q and %q", network, http, tt.network, tt.http)
			}
		})
	}
}

// TestRefusals has a refusal of each reader: the API server and the agent.
func TestRefusals(t *testing.T) {
	const sound = "spec: {endpointSelector: {}, ingress: [{}]}"
	for name, tt := range map[string]struct{ policies, want string }{
		"an unknown kind":      {"{apiVersion: cilium.io/v2, kind: Policy, metadata: {name: a}}", "Cilium has no kind"},
		"another version":      {"{apiVersion: cilium.io/v1, kind: CiliumNetworkPolicy, metadata: {name: a}}", "Cilium has no kind"},
		"no name":              {"{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {}, " + sound + "}", "metadata.name: Required value"},
		"a namespace too much": {"{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: a, namespace: b}, " + sound + "}", "metadata.namespace: Forbidden"},
		"an unknown field":     {policyOf("spec: {endpointSelector: {}, ingres: [{}]}"), "unknown fields: spec.ingres"},
		"the schema":           {policyOf("spec: {endpointSelector: {}, ingress: [{fromEntities: [internet]}]}"), "Unsupported value"},
		"a list of names":      {policyOf(`spec: {endpointSelector: {}, ingress: [{toPorts: [{ports: [{port: "80"}], serverNames: [a, a]}]}]}`), "Duplicate value"},
		"the agent":            {policyOf("spec: {endpointSelector: {}, ingress: [{fromEndpoints: [{}], fromEntities: [world]}]}"), "combining"},
		"two modes":            {policyOf("spec: {endpointSelector: {}, ingress: [{fromEndpoints: [{}], authentication: {mode: disabled}}, {fromEndpoints: [{}], authentication: {mode: required}}]}"), "conflicting authentication types"},
		"the same twice":       {policyOf(sound) + ", " + policyOf(sound), "exists already"},
	} {
		if a := ask(t, fmt.Sprintf(backend, "http"), "["+tt.policies+"]", ""); !strings.Contains(a.Error, tt.want) || a.Filters != nil {
			t.Errorf("%s: got %+v, want a refusal with %q", name, a, tt.want)
		}
	}
	if a := ask(t, fmt.Sprintf(backend, "http"), "[]", ", policyEnforcement: sometimes"); !strings.Contains(a.Error, "sometimes") {
		t.Errorf("got %+v, want a refusal of the mode", a)
	}
}

// TestBrokenLine shows that a line that is no request is no refusal.
func TestBrokenLine(t *testing.T) {
	if err := serve(strings.NewReader("{\"protocol\": 2}\n{\"id\": \"x\"}\n"), &bytes.Buffer{}); err == nil {
		t.Error("a line that is no request was read")
	}
}
