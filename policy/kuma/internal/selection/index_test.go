package selection_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// The candidates of an inbound come to the same selection as all policies.
func TestIndexLosesNoPolicy(t *testing.T) {
	t.Parallel()
	text := ""
	for i, target := range []string{
		"{kind: Mesh}", "{kind: Dataplane}", "{kind: Dataplane, name: backend}", "{kind: Dataplane, sectionName: http-port}",
		"{kind: Dataplane, labels: {app: a}}", "{kind: Dataplane, labels: {app: b}}", "{kind: Dataplane, labels: {app: a, env: x}}",
		"{kind: Dataplane, labels: {env: x}}", "{kind: Dataplane, labels: {lacks: ''}}", "{kind: Dataplane, labels: {kuma.io/display-name: backend}}",
		"{kind: Dataplane, labels: {kuma.io/mesh: default}}", "{kind: Dataplane, labels: {k8s.kuma.io/namespace: default}}", "{kind: Dataplane, labels: {kuma.io/zone: east}}",
	} {
		text += fmt.Sprintf("---\n{type: MeshTrafficPermission, mesh: default, name: p%d, spec: {targetRef: %s, default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/a}}]}}}\n", i, target)
	}
	ps := fixture.Parse(t, text)
	index := selection.NewIndex(ps)
	narrower := false
	for _, labels := range []map[string]string{nil, {"app": "a"}, {"app": "a", "env": "x"}, {"app": "c", "lacks": ""}, {"lacks": "no"}, {"kuma.io/display-name": "other"}, {"kuma.io/zone": "east"}} {
		in := policy.Inbound{Name: "http-port", Port: 8080, Workload: fixture.Backend()}
		in.Workload.Labels = labels
		names := func(of []permission.Policy) (out []string) {
			for _, p := range of {
				out = append(out, p.Origin)
			}
			return out
		}
		candidates := index.Candidates(in)
		narrower = narrower || len(candidates) < len(ps)
		want, got := selection.Select(ps, in, permission.Options{}), selection.Select(candidates, in, permission.Options{})
		if diff := cmp.Diff(names(want.Policies), names(got.Policies)); diff != "" {
			t.Errorf("%v (-all +candidates):\n%s", labels, diff)
		}
	}
	if !narrower {
		t.Error("every policy is always a candidate")
	}
}
