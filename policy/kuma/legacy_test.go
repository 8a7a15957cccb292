package kuma_test

import (
	"errors"
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
	"github.com/meshproof/meshproof/policy/kuma/internal/legacy"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// fromInbounds have routes. The second route takes a part of the requests of the first.
func fromInbounds() []policy.Inbound {
	ins := fixture.Inbounds()
	ins[0].Routes = []policy.InboundRoute{
		{Name: "r", When: policy.And{attribute.Path.Segments("/a"), attribute.Method.Exact("GET")}},
		{Name: "s", When: attribute.Path.Exact("/a")},
		{Name: "t", When: attribute.Path.Segments("/")},
	}
	return ins
}

func drawTags(t *rapid.T) string {
	return rapid.SampledFrom([]string{"{env: dev}", "{env: prod}", "{env: dev, zone: east}", "{zone: west}", "{kuma.io/service: web}", "{kuma.io/service: api, env: dev}"}).Draw(t, "tags")
}

func drawFromItem(t *rapid.T) string {
	mesh := rapid.SampledFrom([]string{"", "", ", mesh: td", ", mesh: other"}).Draw(t, "mesh")
	var target string
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		target = "kind: Mesh"
	case 1:
		target = "kind: MeshSubset, tags: " + drawTags(t)
	case 2:
		target = "kind: MeshService, name: " + rapid.SampledFrom([]string{"web", "api"}).Draw(t, "service")
	default:
		target = "kind: MeshServiceSubset, name: web, tags: {env: " + rapid.SampledFrom([]string{"dev", "prod"}).Draw(t, "env") + "}"
	}
	action := rapid.SampledFrom([]string{"ALLOW", "Allow", "DENY", "Deny", "ALLOW_WITH_SHADOW_DENY", "DenyWithShadowAllow"}).Draw(t, "action")
	return fmt.Sprintf("{targetRef: {%s%s}, default: {action: %s}}", target, mesh, action)
}

// drawFromPolicies draws policies of mesh td. Few of them have rules.
func drawFromPolicies(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 5).Draw(t, "policies") {
		spec := "rules: [{default: {allow: [{spiffeId: {type: Prefix, value: spiffe://td/w}}]}}]"
		if rapid.IntRange(0, 9).Draw(t, "form") > 0 {
			target := rapid.SampledFrom([]string{
				"{}", "{kind: Mesh}", "{kind: Dataplane, sectionName: http-port}", "{kind: MeshSubset, tags: {app: backend}}", "{kind: MeshService, name: backend}",
				"{kind: MeshServiceSubset, name: backend, tags: {app: frontend}}", "{kind: MeshHTTPRoute, name: r}", "{kind: MeshGatewayRoute, name: s}",
			}).Draw(t, "target")
			spec = fmt.Sprintf("targetRef: %s, from: [%s]", target, strings.Join(rapid.SliceOfN(rapid.Custom(drawFromItem), 0, 4).Draw(t, "from"), ", "))
		}
		fmt.Fprintf(&b, "---\n{type: MeshTrafficPermission, mesh: td, name: p%d, spec: {%s}}\n", i, spec)
	}
	return b.String()
}

// TestFromAgrees holds the second opinion against the program of each compiler,
// also for certificates that no control plane issues.
func TestFromAgrees(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		yaml := drawFromPolicies(r)
		ps := fixture.Parse(t, yaml)
		request := policy.Request{
			URIs: rapid.SliceOfDistinct(rapid.SampledFrom([]string{
				"spiffe://td/web", "spiffe://td/api", "spiffe://other/web", "spiffe://td", "kuma://env/dev", "kuma://env/prod", "kuma://zone/east", "kuma://zone/west",
			}), func(s string) string { return s }).Draw(r, "uris"),
			Method: rapid.SampledFrom([]string{"GET", "POST"}).Draw(r, "method"),
			Path:   rapid.SampledFrom([]string{"/", "/a", "/a/b", "/ab", "/a?x", "*"}).Draw(r, "path"),
		}
		for _, in := range fromInbounds() {
			in.Workload.Mesh = "td"
			request := request
			if in.Protocol == policy.TCP {
				request.Method, request.Path = "", ""
			}
			for _, opts := range []permission.Options{{}, {ShadowForm: permission.Precise}, {LegacyCompiler: legacy.Full}, {LegacyCompiler: legacy.Full, ShadowForm: permission.Precise}} {
				sel := selection.Select(ps, in, opts)
				if err := lowering.Check(sel, in, opts); err != nil {
					r.Fatal(err)
				}
				program := lowering.Lower(sel, in, opts)
				if err := program.Check(); err != nil {
					r.Fatal(err)
				}
				want, got := evaluation.ForInbound(ps, in, opts)(request), policy.Decide(program, request)
				if diff := cmp.Diff(want, got); diff != "" {
					r.Fatalf("%s %+v %+v (-text +program):\n%s\n%s\n%s", in, opts, request, diff, yaml, program)
				}
			}
		}
	})
}

// TestSelectGivesRulesTheInbound has no legacy policy pass in silence.
func TestSelectGivesRulesTheInbound(t *testing.T) {
	t.Parallel()
	const from = "{targetRef: {kind: %s}, from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}"
	ps := fixture.Parse(t, fmt.Sprintf(`
{type: MeshTrafficPermission, name: a, spec: %s}
---
{type: MeshTrafficPermission, name: b, spec: {targetRef: {kind: Dataplane, name: backend}, default: {deny: [{spiffeId: {type: Exact, value: spiffe://td/x}}]}}}
---
{type: MeshTrafficPermission, name: c, spec: %s}
---
{type: MeshTrafficPermission, name: d, spec: {from: []}}
---
{type: MeshTrafficPermission, name: e, spec: {default: {deny: []}}}
`, fmt.Sprintf(from, "Mesh"), fmt.Sprintf(from, "MeshHTTPRoute, name: r")))
	ins := fromInbounds()
	const reason = ": its from has no effect beside the rules of kri_mtp_default___b_: an inbound is governed by rules or by from"
	for _, tt := range []struct {
		inbound           policy.Inbound
		selected, ignored []string
	}{
		{ins[0], []string{"e", "b"}, []string{"a" + reason, "c" + reason, "d" + reason}},
		{ins[2], []string{"e", "b"}, []string{"a" + reason, `c: targetRef names the route "r", but a tcp inbound has no routes`, "d" + reason}},
		{ins[3], []string{"e", "d", "a"}, []string{
			`b: targetRef.name is "backend"`, `c: targetRef names the route "r", which the inbound does not have`,
		}},
	} {
		sel := selection.Select(ps, tt.inbound, permission.Options{})
		var selected, ignored []string
		for _, p := range sel.Policies {
			selected = append(selected, p.ID.Name)
		}
		for _, i := range sel.Ignored {
			ignored = append(ignored, i.Policy.ID.Name+": "+i.Reason)
		}
		if diff := cmp.Diff([][]string{tt.selected, tt.ignored}, [][]string{selected, ignored}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.inbound, diff)
		}
	}
}

// TestCheckRefusesALargeView counts the tags of one inbound, and of one route.
func TestCheckRefusesALargeView(t *testing.T) {
	t.Parallel()
	var items []string
	for i := range 13 {
		items = append(items, fmt.Sprintf("{targetRef: {kind: MeshSubset, tags: {key-%d: v}}, default: {action: Allow}}", i))
	}
	ps := fixture.Parse(t, fmt.Sprintf(`
{type: MeshTrafficPermission, name: a, spec: {targetRef: {kind: Dataplane, name: backend}, from: [%s]}}
---
{type: MeshTrafficPermission, name: b, spec: {targetRef: {kind: MeshHTTPRoute, name: r}, from: [%s]}}
`, strings.Join(items[:12], ", "), items[12]))
	ins := fromInbounds()
	opts := permission.Options{LegacyCompiler: legacy.Full}
	err := lowering.Check(selection.Select(ps, ins[0], opts), ins[0], opts)
	const want = "policy/kuma: route r of inbound backend/http-port: kuma/legacy: compile the full rule view: 13 tags make 8192 combinations, the limit is 4096: use the compact compiler"
	if !errors.As(err, new(*legacy.SizeError)) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := lowering.Check(selection.Select(ps, ins[1], opts), ins[1], opts); err != nil {
		t.Errorf("an inbound without the route: %v", err)
	}
	if err := lowering.Check(selection.Select(ps, ins[0], permission.Options{}), ins[0], permission.Options{}); err != nil {
		t.Errorf("compact: %v", err)
	}
}

// TestSelectOrdersFromByKind holds the order of concatenation, from the weakest to
// the strongest, for policies whose names say where they belong.
func TestSelectOrdersFromByKind(t *testing.T) {
	t.Parallel()
	var yaml strings.Builder
	for name, target := range map[string]string{
		"1-mesh":                "{kind: Mesh}",
		"2-dataplane":           "{kind: Dataplane, labels: {app: backend}}",
		"3-section":             "{kind: Dataplane, sectionName: http-port}",
		"4-mesh-subset":         "{kind: MeshSubset, tags: {app: backend}}",
		"5-mesh-service":        "{kind: MeshService, name: backend}",
		"6-mesh-service-subset": "{kind: MeshServiceSubset, name: backend, tags: {app: backend}}",
		"7-route-z":             "{kind: MeshHTTPRoute, name: r}",
		"7-route-a":             "{kind: MeshGatewayRoute, name: r}",
	} {
		fmt.Fprintf(&yaml, "---\n{type: MeshTrafficPermission, name: %s, spec: {targetRef: %s, from: []}}\n", name, target)
	}
	var got []string
	for _, p := range selection.Select(fixture.Parse(t, yaml.String()), fromInbounds()[0], permission.Options{}).Policies {
		got = append(got, p.ID.Name)
	}
	want := []string{"1-mesh", "2-dataplane", "3-section", "4-mesh-subset", "5-mesh-service", "6-mesh-service-subset", "7-route-z", "7-route-a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWorkloadsAreSelectedByTags has a workload that names its service, and one
// that is its service.
func TestWorkloadsAreSelectedByTags(t *testing.T) {
	t.Parallel()
	named := policy.Workload{Name: "pod-1", Zone: "east", Labels: map[string]string{"kuma.io/service": "backend", "version": "v1"}}
	plain := policy.Workload{Name: "backend", Labels: map[string]string{"version": "v1"}}
	for target, want := range map[string][2]string{
		"{kind: MeshService, name: backend}":                                      {"", ""},
		"{kind: MeshService, name: pod-1}":                                        {`targetRef asks for kuma.io/service="pod-1", the workload has "backend"`, `targetRef asks for kuma.io/service="pod-1", the workload has "backend"`},
		"{kind: MeshSubset, tags: {kuma.io/service: backend, version: v1}}":       {"", ""},
		"{kind: MeshSubset, tags: {kuma.io/zone: east}}":                          {"", `targetRef asks for kuma.io/zone="east", the workload has none`},
		"{kind: MeshServiceSubset, name: backend, tags: {version: v2}}":           {`targetRef asks for version="v2", the workload has "v1"`, `targetRef asks for version="v2", the workload has "v1"`},
		"{kind: MeshServiceSubset, name: backend, tags: {version: v1, tier: db}}": {`targetRef asks for tier="db", the workload has none`, `targetRef asks for tier="db", the workload has none`},
	} {
		ps := fixture.Parse(t, "{type: MeshTrafficPermission, name: a, spec: {targetRef: "+target+", from: []}}")
		var got [2]string
		for i, w := range []policy.Workload{named, plain} {
			if sel := selection.Select(ps, policy.Inbound{Workload: w, Port: 80}, permission.Options{}); len(sel.Ignored) > 0 {
				got[i] = sel.Ignored[0].Reason
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
}
