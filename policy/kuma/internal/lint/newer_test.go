package lint_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/lint"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Kuma 3.0 loses the name of a target, and with it the bound of the policy. Older forms it refuses.
func TestNewerTargets(t *testing.T) {
	t.Parallel()
	const rules = "rules: [{default: {allow: [{spiffeID: {type: Exact, value: spiffe://td/a}}]}}]"
	for name, test := range map[string]struct {
		spec string
		want []string
	}{
		"labels":             {"{targetRef: {kind: Dataplane, labels: {app: a}}, " + rules + "}", nil},
		"the mesh":           {"{targetRef: {kind: Mesh}, " + rules + "}", nil},
		"no target":          {"{" + rules + "}", nil},
		"a name":             {"{targetRef: {kind: Dataplane, name: a}, " + rules + "}", []string{"Kuma 3.0 has no name in a targetRef: the field is lost, and the policy is for every Dataplane"}},
		"an empty name":      {"{targetRef: {kind: Dataplane, name: \"\"}, " + rules + "}", nil},
		"a name and a port":  {"{targetRef: {kind: Dataplane, name: a, sectionName: http}, " + rules + "}", []string{"Kuma 3.0 has no name in a targetRef"}},
		"a subset":           {"{targetRef: {kind: MeshSubset, tags: {app: a}}, from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}", []string{"Kuma 3.0 takes no targetRef of kind MeshSubset", "Kuma 3.0 has no from"}},
		"the legacy form":    {"{targetRef: {kind: Mesh}, from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}", []string{"Kuma 3.0 has no from"}},
		"a service by name":  {"{to: [{targetRef: {kind: MeshService, name: a}, default: {idleTimeout: 1s}}]}", []string{"Kuma 3.0 has no name in a targetRef of to: the field is lost, and what is left is refused"}},
		"a service by label": {"{to: [{targetRef: {kind: MeshService, labels: {app: a}}, default: {idleTimeout: 1s}}]}", nil},
		"a service by the label of its name": {"{to: [{targetRef: {kind: MeshService, labels: {kuma.io/display-name: a}}, default: {idleTimeout: 1s}}]}",
			[]string{"Kuma 3.0 takes a policy whose items ask for kuma.io/display-name alone for a producer's"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := manifest.Parse("policies.yaml", []byte("{type: MeshTimeout, name: p, spec: "+test.spec+"}\n"))
			if err != nil {
				t.Fatal(err)
			}
			got := lint.NewerTargets(docs)
			if len(got) != len(test.want) {
				t.Fatalf("got  %q\nwant %q", got, test.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], "policies.yaml:1: spec.") || !strings.Contains(got[i], ": "+test.want[i]) {
					t.Errorf("got  %q\nwant %q", got[i], test.want[i])
				}
			}
		})
	}
}
