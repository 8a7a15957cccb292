package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/meshproof/meshproof/plugins/istio/internal/output"
)

// ask answers one request: inbound and policies are YAML.
func ask(t *testing.T, inbound, policies string) answer {
	t.Helper()
	question, err := yaml.YAMLToJSON([]byte(fmt.Sprintf("{id: 7, inbound: %s, policies: %s, options: %s, peers: []}", inbound, policies,
		"{trustDomain: td, istio: {rootNamespace: root, trustDomainAliases: [old-td], extensionProviders: [{name: opa, envoyExtAuthzGrpc: {service: opa.opa.svc, port: 1}, unreachable: true}]}}")))
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

const backend = "{port: 8080, protocol: %s, workload: {namespace: shop, labels: {app: backend}}}"

func policyOf(metadata, spec string) string {
	return fmt.Sprintf("{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {%s}, spec: {%s}}", metadata, spec)
}

// TestFilters names the policies in each filter that Istio makes.
func TestFilters(t *testing.T) {
	t.Parallel()
	deny := policyOf("name: d, namespace: root", "action: DENY, rules: [{to: [{operation: {methods: [GET]}}]}]")
	allow := policyOf("name: a, namespace: shop", "selector: {matchLabels: {app: backend}}, rules: [{from: [{source: {principals: [td/ns/a/sa/b]}}]}, {to: [{operation: {paths: [/a]}}]}]")
	custom := policyOf("name: c, namespace: shop", "action: CUSTOM, provider: {name: opa}, rules: [{}]")
	unknown := policyOf("name: u, namespace: shop", "action: CUSTOM, provider: {name: none}, rules: [{}]")
	for name, tt := range map[string]struct {
		protocol string
		policies []string
		want     []string
	}{
		"none":              {"http", nil, nil},
		"another namespace": {"http", []string{policyOf("name: a, namespace: other", "rules: [{}]")}, nil},
		"the default one":   {"http", []string{policyOf("name: a", "rules: [{}]")}, nil},
		"deny first":        {"http", []string{allow, deny}, []string{"ns[root]-policy[d]-rule[0]", "ns[shop]-policy[a]-rule[0] ns[shop]-policy[a]-rule[1]"}},
		"tcp":               {"tcp", []string{allow, deny}, []string{"ns[root]-policy[d]-rule[0]", "ns[shop]-policy[a]-rule[0]"}},
		"CUSTOM in front":   {"http", []string{deny, custom}, []string{"shadow istio-ext-authz-opa-ns[shop]-policy[c]-rule[0]", "asks", "ns[root]-policy[d]-rule[0]"}},
		"CUSTOM on tcp":     {"tcp", []string{custom}, []string{"shadow istio-ext-authz-opa-ns[shop]-policy[c]-rule[0]", "asks"}},
		"unknown provider":  {"tcp", []string{unknown}, []string{"istio-ext-authz-none-ns[shop]-policy[u]-rule[0]-deny-due-to-bad-CUSTOM-action"}},
		"dry run":           {"http2", []string{policyOf(`name: a, namespace: shop, annotations: {istio.io/dry-run: "true"}`, "rules: [{}]")}, []string{"shadow ns[shop]-policy[a]-rule[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := ask(t, fmt.Sprintf(backend, tt.protocol), "["+strings.Join(tt.policies, ", ")+"]")
			if a.Error != "" {
				t.Fatal(a.Error)
			}
			own, other := a.Filters.HTTP, a.Filters.Network
			if tt.protocol == "tcp" {
				own, other = other, own
			}
			var got []string
			for _, text := range own {
				got = append(got, names(t, text))
			}
			if !slices.Equal(got, tt.want) || other != nil {
				t.Errorf("got %q and %d filters of the other layer, want %q", got, len(other), tt.want)
			}
		})
	}
}

// names returns the names of the policies of a filter, in order.
func names(t *testing.T, filter json.RawMessage) string {
	t.Helper()
	type rules struct{ Policies map[string]any }
	var read struct {
		Type               string `json:"@type"`
		Rules, ShadowRules *rules
	}
	if err := json.Unmarshal(filter, &read); err != nil {
		t.Fatal(err)
	}
	if read.Type != "" {
		return "asks"
	}
	kind, of := "", read.Rules
	if read.ShadowRules != nil {
		kind, of = "shadow ", read.ShadowRules
	}
	return kind + strings.Join(slices.Sorted(maps.Keys(of.Policies)), " ")
}

// TestListener shows what istiod says of callers, paths and tokens.
func TestListener(t *testing.T) {
	t.Parallel()
	peer := func(mode string) string {
		return "{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: m, namespace: shop}, spec: {mtls: {mode: " + mode + "}}}"
	}
	for mode, want := range map[string]string{"": "permissive", "STRICT": "strict", "PERMISSIVE": "permissive", "DISABLE": "disable"} {
		policies := "[]"
		if mode != "" {
			policies = "[" + peer(mode) + "]"
		}
		for _, protocol := range []string{"http", "http2", "grpc", "tcp"} {
			if a := ask(t, fmt.Sprintf(backend, protocol), policies); a.Filters == nil || a.Filters.MTLS != want {
				t.Errorf("%s, %q: got %+v, want %s", protocol, mode, a, want)
			} else if hasPaths := a.Filters.Paths != nil; hasPaths != (protocol != "tcp") {
				t.Errorf("%s: the paths are %s", protocol, a.Filters.Paths)
			}
		}
	}
	const rule = "{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: t, namespace: shop}, spec: {jwtRules: [{issuer: %s}]}}"
	a := ask(t, fmt.Sprintf(backend, "http"), "["+fmt.Sprintf(rule, "https://a.example")+"]")
	if a.Filters == nil || !strings.Contains(string(a.Filters.Tokens), "https://a.example/.well-known/openid-configuration") {
		t.Errorf("got %+v, want a filter with the place of the keys", a)
	}
}

// TestOptions shows that an alias of the trust domain reaches Istio's compiler.
func TestOptions(t *testing.T) {
	t.Parallel()
	a := ask(t, fmt.Sprintf(backend, "tcp"), "["+policyOf("name: a, namespace: shop", "rules: [{from: [{source: {principals: [td/ns/a/sa/b]}}]}]")+"]")
	if len(a.Filters.Network) != 1 || !strings.Contains(string(a.Filters.Network[0]), "spiffe://old-td/ns/a/sa/b") {
		t.Errorf("got %s, want a rule about old-td", a.Filters.Network)
	}
}

// TestRefusals has a refusal of each of the three readers: the API server, the webhook and the
// strict decoder.
func TestRefusals(t *testing.T) {
	t.Parallel()
	sound := policyOf("name: a", "rules: [{}]")
	for name, tt := range map[string]struct{ policy, want string }{
		"no name":            {policyOf("namespace: a", ""), "metadata.name: Required value"},
		"a bad namespace":    {policyOf("name: a, namespace: a.b", ""), "metadata.namespace: Invalid value"},
		"an unknown kind":    {"{apiVersion: security.istio.io/v1, kind: Policy, metadata: {name: a}}", "no validator found"},
		"another version":    {"{apiVersion: security.istio.io/v9, kind: AuthorizationPolicy, metadata: {name: a}}", "no validator found"},
		"a misspelt field":   {policyOf("name: a", "rules: [{to: [{operation: {pathss: [/a], methods: [GET]}}]}]"), "pathss"},
		"a wrong type":       {policyOf("name: a", "rules: [{to: [{operation: {ports: [80]}}]}]"), "ports"},
		"an unknown action":  {policyOf("name: a", "action: allow"), "spec.action: Unsupported value"},
		"CEL":                {policyOf("name: a", "selector: {matchLabels: {app: x}}, targetRefs: [{kind: Service, name: s}]"), "only one of targetRefs or selector can be set"},
		"the webhook":        {policyOf("name: a", "action: DENY"), "DENY action without `rules`"},
		"PeerAuthentication": {"{apiVersion: security.istio.io/v1, kind: PeerAuthentication, metadata: {name: a}, spec: {portLevelMtls: {80: {mode: STRICT}}}}", "portLevelMtls"},
		"RequestAuthentication": {"{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: a}, spec: {jwtRules: [{issuer: \"\"}]}}",
			"issuer"},
		"the same twice": {sound, "exists already"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a := ask(t, fmt.Sprintf(backend, "http"), "["+sound+", "+tt.policy+"]"); !strings.Contains(a.Error, tt.want) || a.Filters != nil {
				t.Errorf("got %+v, want a refusal with %q", a, tt.want)
			}
		})
	}
}

// TestNulls shows that a field without a value is absent, and that an item without one is
// refused.
func TestNulls(t *testing.T) {
	t.Parallel()
	if a := ask(t, fmt.Sprintf(backend, "http"), "["+policyOf("name: a, namespace: shop", "selector: null, rules: [{from: null}]")+"]"); a.Error != "" || len(a.Filters.HTTP) != 1 {
		t.Errorf("got %+v, want a filter", a)
	}
	if a := ask(t, fmt.Sprintf(backend, "http"), "["+policyOf("name: a", "rules: [null]")+"]"); a.Error == "" {
		t.Error("a rule without a value is accepted")
	}
}

// TestBrokenLine shows that a line that is no request is no refusal.
func TestBrokenLine(t *testing.T) {
	t.Parallel()
	if err := serve(strings.NewReader("{\"protocol\": 2}\n{\"id\": \"x\"}\n"), &bytes.Buffer{}); err == nil {
		t.Error("a line that is no request was read")
	}
}

// TestAnswersAreAlone shows that a library cannot write among the answers.
func TestAnswersAreAlone(t *testing.T) {
	t.Parallel()
	if os.Stdout == output.Answers || os.Stdout != os.Stderr {
		t.Error("standard output is open to libraries")
	}
}
