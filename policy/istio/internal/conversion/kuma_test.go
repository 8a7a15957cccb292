package conversion_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/policy/istio/internal/conversion"
	"github.com/meshproof/meshproof/policy/manifest"
)

const nothing = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: allow-nothing, namespace: istio-system}, spec: {}}"

func policies(t *testing.T, all ...string) []manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("a.yaml", []byte(strings.Join(all, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func policy(spec string) string {
	return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: " + spec + "}"
}

// TestToKuma holds what each list, field and target becomes.
func TestToKuma(t *testing.T) {
	t.Parallel()
	trial := strings.Replace(policy(`{action: DENY, rules: [{from: [{source: {principals: [td/a]}}]}]}`), "namespace: shop", `namespace: shop, annotations: {istio.io/dry-run: "true"}`, 1)
	for name, tt := range map[string]struct {
		docs []string
		want string
		mesh spiffeid.TrustDomain
	}{
		"callers, methods and paths": {
			[]string{nothing, policy(`{selector: {matchLabels: {app: web}}, rules: [{from: [{source: {principals: [td/a, "td/ns/b/*"]}}], to: [{operation: {methods: [GET], paths: [/a, "/a/*", /b]}}], when: [{key: connection.sni, values: [s.example]}]}]}`)},
			`{name: p, namespace: shop} {Dataplane map[app:web]} allow: Exact spiffe://td/a GET Prefix /a s.example; Exact spiffe://td/a GET Exact /b s.example; Prefix spiffe://td/ns/b/ GET Prefix /a s.example; Prefix spiffe://td/ns/b/ GET Exact /b s.example`,
			spiffeid.TrustDomain{},
		},
		"a deny of the root namespace": {
			[]string{nothing, strings.Replace(policy(`{action: DENY, rules: [{to: [{operation: {paths: ["/*"]}}]}]}`), "shop", "istio-system", 1)},
			`{name: p, namespace: kuma-system} <nil> deny: Prefix /`,
			spiffeid.TrustDomain{},
		},
		"a dry run": {
			[]string{nothing, trial, strings.Replace(policy(`{rules: [{from: [{source: {principals: [td/a]}}]}]}`), "name: p", "name: q", 1)},
			`{name: p, namespace: shop} <nil> allowWithShadowDeny: Exact spiffe://td/a | {name: q, namespace: shop} <nil> allow: Exact spiffe://td/a`,
			spiffeid.TrustDomain{},
		},
		"the mesh's own trust domain, which stands for a whole principal alone": {
			[]string{nothing, policy(`{rules: [{from: [{source: {principals: [cluster.local/ns/a/sa/b, "cluster.local/ns/a/sa/c*", "cluster.local/ns/d/*", td/ns/a/sa/e]}}]}]}`)},
			`{name: p, namespace: shop} <nil> allow: Exact spiffe://my.mesh/ns/a/sa/b; Prefix spiffe://my.mesh/ns/a/sa/c; Prefix spiffe://cluster.local/ns/d/; Exact spiffe://td/ns/a/sa/e`,
			spiffeid.RequireTrustDomainFromString("my.mesh"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := conversion.ToKuma(policies(t, tt.docs...), tt.mesh)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, briefly(t, got.YAML)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, got.YAML)
			}
		})
	}
}

// briefly writes MeshTrafficPermissions on one line.
func briefly(t *testing.T, text []byte) string {
	t.Helper()
	docs, err := manifest.Parse("made.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	type match struct {
		Type  string `yaml:"type"`
		Value string `yaml:"value"`
	}
	var all []string
	for _, doc := range docs {
		var of struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string `yaml:"kind"`
			Metadata   struct {
				Name      string            `yaml:"name"`
				Namespace string            `yaml:"namespace"`
				Labels    map[string]string `yaml:"labels"`
			} `yaml:"metadata"`
			Spec struct {
				TargetRef *struct {
					Kind   string            `yaml:"kind"`
					Labels map[string]string `yaml:"labels"`
				} `yaml:"targetRef"`
				Rules []struct {
					Default map[string][]struct {
						SPIFFEID *match `yaml:"spiffeID"`
						Path     *match `yaml:"path"`
						SNI      *match `yaml:"sni"`
						Method   string `yaml:"method"`
					} `yaml:"default"`
				} `yaml:"rules"`
			} `yaml:"spec"`
		}
		if err := doc.Decode(&of); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("{name: %s, namespace: %s} ", of.Metadata.Name, of.Metadata.Namespace)
		if of.Spec.TargetRef == nil {
			line += "<nil>"
		} else {
			line += fmt.Sprint(*of.Spec.TargetRef)
		}
		for list, matchers := range of.Spec.Rules[0].Default {
			var items []string
			for _, m := range matchers {
				var words []string
				if m.SPIFFEID != nil {
					words = append(words, m.SPIFFEID.Type, m.SPIFFEID.Value)
				}
				if m.Method != "" {
					words = append(words, m.Method)
				}
				if m.Path != nil {
					words = append(words, m.Path.Type, m.Path.Value)
				}
				if m.SNI != nil {
					words = append(words, m.SNI.Value)
				}
				items = append(items, strings.Join(words, " "))
			}
			line += " " + list + ": " + strings.Join(items, "; ")
		}
		all = append(all, line)
	}
	return strings.Join(all, " | ")
}

// TestToKumaRefuses holds the field and the reason of what Kuma cannot say.
func TestToKumaRefuses(t *testing.T) {
	t.Parallel()
	trial := strings.Replace(policy(`{action: DENY, rules: [{from: [{source: {principals: [td/a]}}]}]}`), "namespace: shop", `namespace: shop, annotations: {istio.io/dry-run: "true"}`, 1)
	source := func(fields string) string { return policy(`{rules: [{from: [{source: {` + fields + `}}]}]}`) }
	operation := func(fields string) string { return policy(`{rules: [{to: [{operation: {` + fields + `}}]}]}`) }
	for name, tt := range map[string]struct{ doc, want string }{
		"every caller":                 {policy(`{rules: [{}]}`), "spec.rules[0]: kuma cannot say it: no matcher meets every caller"},
		"a label of Kuma's own":        {policy(`{selector: {matchLabels: {k8s.kuma.io/namespace: a}}, rules: [{from: [{source: {principals: [td/a]}}]}]}`), "spec.selector: kuma cannot say it: no pod has the label k8s.kuma.io/namespace"},
		"an empty label":               {policy(`{selector: {matchLabels: {tier: ""}}, rules: [{from: [{source: {principals: [td/a]}}]}]}`), "spec.selector: kuma cannot say it: an empty value of tier selects the workloads without the label too"},
		"a server name in capitals":    {policy(`{rules: [{from: [{source: {principals: [td/a]}}], when: [{key: connection.sni, values: [A.example]}]}]}`), "spec.rules[0].when[0].values[0]: kuma cannot say it: Envoy compares server names in lower case"},
		"AUDIT":                        {policy(`{action: AUDIT, rules: [{}]}`), "spec.action: kuma cannot say it: it has ALLOW, DENY"},
		"CUSTOM":                       {policy(`{action: CUSTOM, provider: {name: opa}, rules: [{}]}`), "spec.action: kuma cannot say it"},
		"a dry run of ALLOW":           {strings.Replace(trial, "DENY", "ALLOW", 1), "spec.action: kuma cannot say it"},
		"a dry run without its ALLOW":  {trial, "spec.rules[0]: kuma cannot say it: its dry run of a deny lets the same requests in"},
		"tokens":                       {"{apiVersion: security.istio.io/v1, kind: RequestAuthentication, metadata: {name: p, namespace: shop}, spec: {}}", "kuma cannot say it: a MeshTrafficPermission says"},
		"the system namespace":         {strings.Replace(source(`principals: [td/a]`), "shop", "kuma-system", 1), "metadata.namespace: kuma cannot say it"},
		"namespaces":                   {source(`namespaces: [a]`), "spec.rules[0].from[0].source.namespaces: kuma cannot say it"},
		"service accounts":             {source(`serviceAccounts: [a]`), "source.serviceAccounts: kuma cannot say it"},
		"other callers":                {source(`notPrincipals: [td/a]`), "source.notPrincipals: kuma cannot say it"},
		"addresses":                    {source(`ipBlocks: [10.0.0.0/8]`), "source.ipBlocks: kuma cannot say it"},
		"the end of a name":            {source(`principals: ["*/sa/a"]`), "source.principals[0]: kuma cannot say it: a SPIFFE ID is compared as a whole"},
		"any name":                     {source(`principals: ["*"]`), "source.principals[0]: kuma cannot say it"},
		"a part of a trust domain":     {source(`principals: ["td*"]`), "source.principals[0]: kuma cannot say it"},
		"the trust domain by alias":    {source(`principals: [cluster.local/ns/a/sa/b]`), "source.principals[0]: kuma cannot say it: cluster.local stands for"},
		"no SPIFFE ID":                 {source(`principals: [td/]`), "source.principals[0]: kuma cannot say it"},
		"hosts":                        {operation(`hosts: [a.example]`), "spec.rules[0].to[0].operation.hosts: kuma cannot say it"},
		"ports":                        {operation(`ports: ["80"]`), "operation.ports: kuma cannot say it"},
		"other paths":                  {operation(`notPaths: [/a]`), "operation.notPaths: kuma cannot say it"},
		"the beginning of a path":      {operation(`paths: ["/a*"]`), "operation.paths[0]: kuma cannot say it: a path is compared as a whole"},
		"the end of a path":            {operation(`paths: ["*/a"]`), "operation.paths[0]: kuma cannot say it"},
		"below a path alone":           {operation(`paths: ["/a/*"]`), "operation.paths[0]: kuma cannot say it: a Prefix of Kuma takes the path /a too"},
		"below a slash at the end":     {operation(`paths: ["/a/", "/a//*"]`), "operation.paths[1]: kuma cannot say it: Kuma merges"},
		"two slashes at the beginning": {operation(`paths: ["/", "//*"]`), "operation.paths[1]: kuma cannot say it: Kuma merges"},
		"two slashes":                  {operation(`paths: ["/a//b"]`), "operation.paths[0]: kuma cannot say it: Kuma merges"},
		"a template":                   {operation(`paths: ["/a/{*}"]`), "operation.paths[0]: kuma cannot say it"},
		"any method":                   {operation(`methods: ["*"]`), "operation.methods[0]: kuma cannot say it"},
		"a method in small letters":    {operation(`methods: [get]`), "operation.methods[0]: kuma cannot say it"},
		"a path with a space":          {operation(`paths: ["/a b"]`), "operation.paths[0]: kuma cannot say it"},
		"a method with a space":        {operation(`methods: ["A B"]`), "operation.methods[0]: kuma cannot say it"},
		"a header":                     {policy(`{rules: [{when: [{key: "request.headers[a]", values: [b]}]}]}`), "spec.rules[0].when[0].key: kuma cannot say it"},
		"other server names":           {policy(`{rules: [{when: [{key: connection.sni, notValues: [b]}]}]}`), "spec.rules[0].when[0].notValues: kuma cannot say it"},
		"two server names":             {policy(`{rules: [{when: [{key: connection.sni, values: [a]}, {key: connection.sni, values: [b]}]}]}`), "spec.rules[0].when[1]: kuma cannot say it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := conversion.ToKuma(policies(t, nothing, tt.doc), spiffeid.TrustDomain{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q\n%s", err, tt.want, got.YAML)
			}
		})
	}
	if _, err := conversion.ToKuma(policies(t, source(`principals: [td/a]`)), spiffeid.TrustDomain{}); err == nil || !strings.Contains(err.Error(), "where no ALLOW applies, Istio lets every caller in and Kuma none") {
		t.Error(err)
	}
}
