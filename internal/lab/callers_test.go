package lab_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

func parsed(t *testing.T, yaml, options string) language.Policies {
	t.Helper()
	docs, err := manifest.Parse("p.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	var opts language.Options
	if options != "" {
		read, err := manifest.Parse("options", []byte(options))
		if err != nil {
			t.Fatal(err)
		}
		opts.Document = read[0]
	}
	set, err := dialect.Parse(docs, opts)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestMakeCallers names each made caller by its name, its namespace and its labels.
func TestMakeCallers(t *testing.T) {
	t.Parallel()
	cilium := func(rules ...string) string {
		var out string
		for _, rule := range rules {
			out += "---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p" + strings.Repeat("p", strings.Count(out, "---")) + ", namespace: shop}, spec: {endpointSelector: {}, " + rule + "}}\n"
		}
		return out
	}
	from := func(selectors string) string { return "ingress: [{fromEndpoints: [" + selectors + "]}]" }
	const anyOfShop, anyOther = "workload shop", "workload-2 default"
	for name, tt := range map[string]struct {
		policies, options string
		want              []string
		unnamed           int
	}{
		"another dialect": {policies: "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {}}"},
		"an entity":       {policies: cilium("ingress: [{fromEntities: [cluster]}]"), want: []string{anyOfShop, anyOther}},
		"a label":         {policies: cilium(from("{matchLabels: {app: web}}")), want: []string{anyOfShop, "web shop app=web", anyOther}},
		"two labels": {
			policies: cilium(from("{matchLabels: {app: web, tier: front}}")),
			want:     []string{anyOfShop, "web-front shop app=web tier=front", anyOther},
		},
		"a label that is missed alone": {
			policies: cilium(from("{matchLabels: {app: web}}"), from("{matchLabels: {app: web, tier: front}}")),
			want:     []string{anyOfShop, "web shop app=web", "web-front shop app=web tier=front", anyOther},
		},
		"two that select together": {
			policies: cilium(from("{matchLabels: {app: web}}"), "ingressDeny: [{fromEndpoints: [{matchLabels: {track: canary}}]}]"),
			want:     []string{anyOfShop, "web shop app=web", "canary shop track=canary", anyOther, "web-canary shop app=web track=canary"},
		},
		"a namespace": {
			policies: cilium(from(`{matchLabels: {"k8s:io.kubernetes.pod.namespace": jobs, app: web}}`)),
			want:     []string{anyOfShop, "web jobs app=web", anyOther},
		},
		"every namespace but one": {
			policies: cilium(from(`{matchExpressions: [{key: "k8s:io.kubernetes.pod.namespace", operator: NotIn, values: [default]}]}`)),
			want:     []string{"workload shop", "workload-2 made-value", "workload-3 default"},
		},
		"values": {
			policies: cilium(from("{matchExpressions: [{key: app, operator: In, values: [a, b]}, {key: app, operator: NotIn, values: [a]}]}")),
			want:     []string{anyOfShop, "b shop app=b", anyOther},
		},
		"a value and the lack of it": {
			policies: cilium(from("{matchExpressions: [{key: app, operator: Exists}, {key: app, operator: NotIn, values: [other]}]}")),
			want:     []string{anyOfShop, "made-value shop app=made-value", anyOther},
		},
		"a service account": {
			policies: cilium(from("{matchLabels: {io.cilium.k8s.policy.serviceaccount: ledger}}")),
			want:     []string{anyOfShop, "ledger shop", anyOther},
		},
		"two of one service account": {
			policies: cilium(from("{matchLabels: {io.cilium.k8s.policy.serviceaccount: ledger}}"), from("{matchLabels: {io.cilium.k8s.policy.serviceaccount: ledger, app: web}}")),
			want:     []string{anyOfShop, "ledger shop", "web shop app=web account ledger /ns/shop/sa/ledger/web", anyOther},
		},
		"labels of a namespace": {
			policies: cilium(from("{matchLabels: {io.cilium.k8s.namespace.labels.team: red}}")),
			options:  "cilium: {namespaceLabels: {jobs: {team: red}}}",
			want:     []string{anyOfShop, "workload-2 jobs", "workload-3 default"},
		},
		"labels that no namespace has": {
			policies: cilium(from("{matchLabels: {io.cilium.k8s.namespace.labels.team: red}}")),
			want:     []string{anyOfShop, anyOther}, unnamed: 1,
		},
		"another cluster": {
			policies: cilium(from("{matchLabels: {io.cilium.k8s.policy.cluster: east}}")),
			want:     []string{anyOfShop, anyOther}, unnamed: 1,
		},
		"what is no workload": {
			policies: cilium(from(`{matchLabels: {"reserved:host": ""}}`)),
			want:     []string{anyOfShop, anyOther},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := lab.MakeCallers(spiffeid.TrustDomain{}, parsed(t, tt.policies, tt.options))
			var got []string
			for _, p := range made.Peers {
				w := p.Workload
				text := w.Name + " " + w.Namespace
				for _, key := range []string{"app", "tier", "track"} {
					if value := w.Labels[key]; value != "" {
						text += " " + key + "=" + value
					}
				}
				if w.ServiceAccount != w.Name {
					text += " account " + w.ServiceAccount + " " + p.Identity.Path()
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || made.Truncated {
				t.Errorf("truncated %t (-want +got):\n%s", made.Truncated, diff)
			}
			if len(made.Unnamed) != tt.unnamed {
				t.Errorf("unnamed: %v", made.Unnamed)
			}
		})
	}
}

// TestMakeCallersOfTwoSets has a caller that a selector of each side selects.
func TestMakeCallersOfTwoSets(t *testing.T) {
	t.Parallel()
	one := func(rules string) language.Policies {
		return parsed(t, "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p}, spec: {endpointSelector: {}, "+rules+"}}", "")
	}
	made := lab.MakeCallers(spiffeid.TrustDomain{}, one("ingressDeny: [{fromEndpoints: [{matchLabels: {app: a}}]}]"), one("ingress: [{fromEndpoints: [{matchLabels: {tier: b}}]}]"))
	if text := strings.Join(made.Texts(), "\n"); !strings.Contains(text, "caller a-b: namespace default, label app=a, label tier=b, spiffe://trust-domain.mesh/ns/default/sa/a-b") {
		t.Error(text)
	}
}

// TestMakeCallersIsBounded: more selectors than callers can be made for are sampled.
func TestMakeCallersIsBounded(t *testing.T) {
	t.Parallel()
	var yaml strings.Builder
	for i := range 300 {
		yaml.WriteString("---\n{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p" + strings.Repeat("x", i%200) + string(rune('a'+i/200)) + "}, spec: {endpointSelector: {}, ingress: [{fromEndpoints: [{matchLabels: {app: a" + strings.Repeat("b", i%50) + strings.Repeat("c", i/50) + "}}]}]}}\n")
	}
	if made := lab.MakeCallers(spiffeid.TrustDomain{}, parsed(t, yaml.String(), "")); !made.Truncated || len(made.Peers) != 250 {
		t.Errorf("truncated %t, %d callers", made.Truncated, len(made.Peers))
	}
}
