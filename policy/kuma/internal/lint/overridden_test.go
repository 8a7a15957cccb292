package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

func TestLintOverridden(t *testing.T) {
	t.Parallel()
	// Of two policies that differ only in their names, the policy whose name sorts first is
	// the stronger one and comes later.
	from := func(name, target string, items ...string) string {
		return "{type: MeshTrafficPermission, name: " + name + ", spec: {targetRef: {" + target + "}, from: [" + strings.Join(items, ", ") + "]}}"
	}
	const (
		all     = "kind: Mesh"
		backend = "kind: MeshService, name: backend"
		web     = "{targetRef: {kind: MeshService, name: web}, default: {action: Allow}}"
		api     = "{targetRef: {kind: MeshService, name: api}, default: {action: Allow}}"
		some    = "{targetRef: {kind: MeshSubset, tags: {a: b, c: d}}, default: {action: Allow}}"
		more    = "{targetRef: {kind: MeshSubset, tags: {a: b}}, default: {action: Deny}}"
		nobody  = "{targetRef: {kind: Mesh}, default: {action: Deny}}"
	)
	warning := func(line, item, by string) string {
		return "policies.yaml:" + line + ": spec.from[" + item + "].targetRef: decides about nobody: " + by + " comes later, wins, and names all of these clients"
	}
	ins := fixture.Inbounds()
	for i := range ins {
		ins[i].Tags = map[string]string{"kuma.io/service": ins[i].Workload.Name}
	}
	route := ins[0]
	route.Routes = []policy.InboundRoute{{Name: "r", When: attribute.Method.Exact("GET")}}
	for _, tt := range []struct {
		name     string
		policies []string
		in       []policy.Inbound
		want     []string
	}{
		{"overridden by a stronger policy", []string{from("z", all, web), from("a", all, nobody)}, ins, []string{warning("1", "0", "from[0] of kri_mtp_default___a_")}},
		{"beside a weaker policy", []string{from("a", all, web), from("z", all, nobody)}, ins, nil},
		{"the same clients", []string{from("z", all, web), from("a", all, api, web)}, ins, []string{warning("1", "0", "from[1] of kri_mtp_default___a_")}},
		{"other clients", []string{from("z", all, web), from("a", all, api)}, ins, nil},
		{"fewer tags", []string{from("z", all, some), from("a", all, more)}, ins, []string{warning("1", "0", "from[0] of kri_mtp_default___a_")}},
		{"more tags", []string{from("z", all, more), from("a", all, some)}, ins, nil},
		{"one workload of two", []string{from("z", all, web), from("a", backend, nobody)}, ins, nil},
		{"the only workload", []string{from("z", all, web), from("a", backend, nobody)}, ins[:3], []string{warning("1", "0", "from[0] of kri_mtp_default___a_")}},
		{"no inbound", []string{from("z", all, web), from("a", all, nobody)}, nil, nil},
		{"its own policy, said once", []string{from("z", all, web, nobody), from("b", all, web), from("a", all, some)}, ins,
			[]string{"policies.yaml:1: spec.from[0].targetRef: decides about nobody: from[1] comes later, wins, and names all of these clients"}},
		{"the strongest of several", []string{from("z", all, web), from("b", all, web), from("a", all, web)}, ins,
			[]string{warning("1", "0", "from[0] of kri_mtp_default___a_"), warning("3", "0", "from[0] of kri_mtp_default___a_")}},
		{"a route overrides no proxy", []string{from("z", all, web), from("a", "kind: MeshHTTPRoute, name: r", nobody)}, []policy.Inbound{route}, nil},
		{"a route overrides the same route", []string{from("z", "kind: MeshHTTPRoute, name: r", web), from("a", "kind: MeshHTTPRoute, name: r", nobody)},
			[]policy.Inbound{route}, []string{warning("1", "0", "from[0] of kri_mtp_default___a_")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, w := range lint.Lint(fixture.Parse(t, strings.Join(tt.policies, "\n---\n")), tt.in, permission.Options{}) {
				got = append(got, w.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
