package permission_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

func TestDraftsNamesWhatNoReleaseHas(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec string
		want []string
	}{
		"all that Kuma 2.14 has": {"{targetRef: {kind: Dataplane}, rules: [{default: {allow: [{spiffeID: {type: Exact, value: spiffe://td/a}, sni: {type: Exact, value: a}}], deny: []}}]}", nil},
		"the legacy form":        {"{from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}", nil},
		"path": {
			"{rules: [{default: {allow: [{path: {type: Exact, value: /a}}]}}]}",
			[]string{"spec.rules[0].default.allow[0].path: no release of Kuma up to 2.14 has path"},
		},
		"method in two lists": {
			"{rules: [{default: {allow: [{method: GET}], deny: [{method: PUT}]}}]}",
			[]string{"spec.rules[0].default.deny[0].method and 1 more: no release of Kuma up to 2.14 has method"},
		},
		"the spelling of the design": {
			"{rules: [{default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/a}}]}}]}",
			[]string{"spec.rules[0].default.allow[0].spiffeId: no release of Kuma up to 2.14 has spiffeId"},
		},
		"a slash at the end": {
			"{rules: [{default: {allow: [{spiffeID: {type: Prefix, value: spiffe://td/a/}}]}}]}",
			[]string{"spec.rules[0].default.allow[0]: no release of Kuma up to 2.14 has a prefix that ends in a slash"},
		},
		"default alone": {
			"{default: {deny: [{spiffeID: {type: Exact, value: spiffe://td/a}}]}}",
			[]string{"spec.default: no release of Kuma up to 2.14 has default without rules"},
		},
		"conditions": {
			"{rules: [{conditions: [{spiffeID: {type: Exact, value: spiffe://td/a}}], default: {action: Allow}}, {default: {action: Deny}}]}",
			[]string{"spec.rules[0] and 1 more: no release of Kuma up to 2.14 has conditions"},
		},
		"actions in capitals": {
			"{from: [{targetRef: {kind: Mesh}, default: {action: Allow}}, {targetRef: {kind: MeshService, name: a}, default: {action: DENY}}, {targetRef: {kind: MeshService, name: b}, default: {action: ALLOW_WITH_SHADOW_DENY}}]}",
			[]string{"spec.from[1].default.action and 1 more: no release of Kuma from 2.3 to 2.14 has an action in capitals"},
		},
		"an action of the design alone": {
			"{from: [{targetRef: {kind: Mesh}, default: {action: DenyWithShadowAllow}}]}",
			[]string{"spec.from[0].default.action: no release of Kuma from 2.3 to 2.14 has DenyWithShadowAllow"},
		},
		"clients of a mesh, on a route": {
			"{targetRef: {kind: MeshHTTPRoute, name: r}, from: [{targetRef: {kind: Mesh, mesh: other}, default: {action: Allow}}]}",
			[]string{"spec.from[0].targetRef.mesh: no release of Kuma from 2.3 to 2.14 has the mesh of a client", "spec.targetRef: no release of Kuma from 2.3 to 2.14 has a route in the targetRef"},
		},
		"an empty target": {
			"{targetRef: {}, rules: []}",
			[]string{"spec.targetRef: no release of Kuma up to 2.14 has an empty targetRef"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := permission.Drafts(fixture.Parse(t, "{type: MeshTrafficPermission, name: x, spec: "+test.spec+"}"))
			if len(got) != len(test.want) {
				t.Fatalf("got  %q\nwant %q", got, test.want)
			}
			for i, text := range got {
				if !strings.Contains(text, test.want[i]) {
					t.Errorf("got  %q\nwant %q", text, test.want[i])
				}
			}
		})
	}
}
