package evaluation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// drawn draws one of the texts.
func drawn(r *rapid.T, label string, texts ...string) string {
	return rapid.SampledFrom(texts).Draw(r, label)
}

// drawPolicies draws policies that differ in everything that selects or orders.
func drawPolicies(r *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 8).Draw(r, "policies") {
		var labels []string
		for _, l := range [][]string{
			{"kuma.io/origin", "", "", "global", "zone"}, {"kuma.io/zone", "", "", "z1", "z2"}, {"kuma.io/effect", "", "", "", "", "shadow"},
			{"kuma.io/policy-role", "", "", "system", "producer", "consumer", "workload-owner"},
			{"k8s.kuma.io/namespace", "", "", "", "kuma-system", "ops", "shop"}, {"kuma.io/display-name", "", "", fmt.Sprintf("d%d", i)},
		} {
			if value := drawn(r, l[0], l[1:]...); value != "" {
				labels = append(labels, l[0]+": "+value)
			}
		}
		spec := drawn(r, "spec",
			"targetRef: {}, default: {deny: [{method: GET}]}", "default: {}", "targetRef: {kind: Dataplane}, rules: []",
			"targetRef: {kind: Dataplane, name: web}, default: {allow: [{method: GET}]}", "targetRef: {kind: Dataplane, sectionName: in}, default: {allow: [{method: GET}]}",
			"targetRef: {kind: Dataplane, sectionName: '8080'}, default: {allow: [{method: GET}]}", "targetRef: {kind: Dataplane, labels: {app: a}}, default: {}",
			"targetRef: {kind: Dataplane, labels: {app: a, tier: x}, sectionName: in}, default: {allow: [{method: GET}]}",
			"targetRef: {kind: Dataplane, labels: {kuma.io/display-name: web}}, default: {}", "targetRef: {kind: Dataplane, labels: {k8s.kuma.io/namespace: shop}}, default: {}",
			"targetRef: {kind: Dataplane, labels: {kuma.io/zone: z1}}, default: {}", "targetRef: {kind: Dataplane, labels: {kuma.io/origin: zone}}, default: {}",
			"targetRef: {kind: MeshService, name: web}, from: []", "targetRef: {kind: MeshSubset, tags: {app: a}}, from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]",
			"targetRef: {kind: MeshServiceSubset, name: s, tags: {tier: x}}, from: []", "targetRef: {kind: MeshHTTPRoute, name: r}, from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]",
		)
		head := "mesh: " + drawn(r, "mesh", "default", "default", "other")
		if rapid.Bool().Draw(r, "universal") {
			fmt.Fprintf(&b, "---\n{type: MeshTrafficPermission, name: p%d, %s, labels: {%s}, spec: {%s}}\n", i, head, strings.Join(labels, ", "), spec)
			continue
		}
		labels = append(labels, strings.Replace(head, "mesh", "kuma.io/mesh", 1))
		namespace := drawn(r, "namespace", "kuma-system", "shop", "ops", "default")
		fmt.Fprintf(&b, "---\n{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: p%d, namespace: %s, labels: {%s}}, spec: {%s}}\n", i, namespace, strings.Join(labels, ", "), spec)
	}
	return b.String()
}

func drawInbound(r *rapid.T) policy.Inbound {
	in := policy.Inbound{
		Workload: policy.Workload{
			Name: drawn(r, "workload", "web", "s", "x"), Namespace: drawn(r, "namespace", "", "default", "shop"), Mesh: drawn(r, "mesh", "", "default", "other"),
			Zone: drawn(r, "zone", "", "z1", "z2"), Origin: drawn(r, "origin", "", "zone", "global"), Labels: map[string]string{},
		},
		Name: drawn(r, "inbound", "", "in"), Port: 8080, Protocol: policy.Protocol(rapid.IntRange(0, 3).Draw(r, "protocol")),
	}
	for _, l := range [][]string{{"app", "", "a", "b"}, {"tier", "", "x"}, {"kuma.io/display-name", "", "", "web"}, {"kuma.io/service", "", "s"}} {
		if value := drawn(r, l[0], l[1:]...); value != "" {
			in.Workload.Labels[l[0]] = value
		}
	}
	if rapid.Bool().Draw(r, "tags") {
		in.Tags = map[string]string{"app": "a", "kuma.io/service": drawn(r, "service", "s", "web")}
	}
	if rapid.Bool().Draw(r, "routes") {
		in.Routes = []policy.InboundRoute{{Name: drawn(r, "route", "r", "q"), When: attribute.Path.Segments("/a")}}
	}
	return in
}

// The plain evaluator selects and orders like package selection.
func TestApplyingAgreesWithSelection(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		yaml := drawPolicies(r)
		ps, in := fixture.Parse(t, yaml), drawInbound(r)
		opts := permission.Options{SystemNamespace: drawn(r, "system", "", "ops")}
		selected, applying := []string{}, []string{}
		for _, p := range selection.Select(ps, in, opts).Policies {
			selected = append(selected, p.Origin)
		}
		for _, p := range evaluation.Applying(ps, in, opts) {
			applying = append(applying, p.Origin)
		}
		if d := cmp.Diff(selected, applying); d != "" {
			r.Fatalf("%+v (-selection +evaluation):\n%s\n%s", in, d, yaml)
		}
	})
}
