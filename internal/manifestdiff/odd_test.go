package manifestdiff_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Values of other types than an API server takes are compared too: nothing of them stops a comparison.
func TestOddValues(t *testing.T) {
	t.Parallel()
	base := together(policy, deployment, service, serviceAccount, meshes["Istio"].cluster("6d5f", "shop/web:1", 2),
		"apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: v, namespace: shop}\nspec: {hosts: [a], gateways: [g], http: [{route: [{headers: {request: {}}}]}]}\n",
		"apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: k}\nspec: {rules: [{match: {any: [{resources: {annotations: {'team*': a}}}]}}]}\n",
		"apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c, namespace: shop}\nspec: {secretName: a, dnsNames: [b], issuerRef: {name: d}}\n",
		"apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: e, namespace: shop, labels: {a: b}}\nspec: {target: {name: a, template: {type: Opaque}}}\n",
		"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: r, namespace: shop}\nspec: {strategy: {canary: {stableMetadata: {labels: {a: b}}}}, template: {spec: {containers: [{name: a}]}}}\n",
		"apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: vm, namespace: shop}\nspec: {address: 10.0.0.1, locality: r/z1, labels: {app: web}}\n",
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s, namespace: shop}\nspec: {volumeClaimTemplates: [{metadata: {name: a}}], template: {spec: {hostNetwork: true, automountServiceAccountToken: false, containers: [{name: a, ports: [{containerPort: 1}], volumeMounts: [{name: a}]}], volumes: [{name: b, hostPath: {path: /}}]}}}\n")
	docs, err := manifest.Parse("f.yaml", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	documents := make([]map[string]any, len(docs))
	for i, doc := range docs {
		if err := doc.Decode(&documents[i]); err != nil {
			t.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(7, 9))
	odd := []any{nil, true, 7, "text", "", []any{}, []any{nil}, []any{[]any{1}, map[string]any{"name": []any{}}}, map[string]any{}, map[string]any{"name": map[string]any{"a": 1}}}
	var change func(value any, chance int) any
	change = func(value any, chance int) any {
		if random.IntN(chance) == 0 {
			return odd[random.IntN(len(odd))]
		}
		switch value := value.(type) {
		case map[string]any:
			out := map[string]any{}
			for key, item := range value {
				out[key] = change(item, chance)
			}
			return out
		case []any:
			var out []any
			for _, item := range value {
				out = append(out, change(item, chance))
			}
			return out
		default:
			return value
		}
	}
	side := func(chance int) (out manifestdiff.Side) {
		for _, document := range documents {
			text, err := json.Marshal(change(document, chance))
			if err != nil {
				t.Fatal(err)
			}
			docs, err := manifest.Parse("f.yaml", text)
			if err != nil {
				continue // no document at all
			}
			for _, doc := range docs {
				if strings.Contains(fmt.Sprint(document), "AuthorizationPolicy") {
					out.Policies = append(out.Policies, doc)
				} else {
					out.Others = append(out.Others, doc)
				}
			}
		}
		return out
	}
	for range 25 {
		old, recent := side(40), side(25)
		manifestdiff.Compare(old, recent, random.IntN(2) == 0)
		if got := manifestdiff.Changes(recent, recent); len(got) > 0 {
			t.Fatalf("nothing has changed, and %s", textOf(got))
		}
	}
}
