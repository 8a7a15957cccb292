package diff

import (
	"fmt"
	"strings"
	"testing"
)

// A control plane of Kuma writes over the role that a policy states. Where such a policy is on either side and
// anything changes, what the policies decide in the mesh is not compared. Without a change there is nothing to tell.
func TestWideningByStatedRoles(t *testing.T) {
	t.Parallel()
	const everyone = `[{spiffeId: {type: Prefix, value: "spiffe://trust-domain.mesh/"}}]`
	object := func(name, namespace, labels, list string) string {
		return fmt.Sprintf("---\n{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: %s, namespace: %s, labels: {%s}}, spec: {default: {%s: %s}}}\n", name, namespace, labels, list, everyone)
	}
	dataplane := func(namespace string) string {
		return fmt.Sprintf("---\n{type: Dataplane, mesh: default, name: web, labels: {k8s.kuma.io/namespace: %s}, networking: {address: 10.0.0.1, inbound: [{name: in, port: 8080, protocol: http}]}}\n", namespace)
	}
	const system, role = "kuma-system", "kuma.io/policy-role: system"
	allow, deny := object("a", system, "", "allow"), object("d", system, "", "deny")
	stated := object("d", "shop", role, "deny")
	for name, tt := range map[string]struct {
		same, old, recent string
		want              bool
	}{
		"a deny of the system goes to a namespace, and states its role": {allow, deny, stated, true},
		"a stated role goes":                           {allow, stated, object("d", "shop", "", "deny"), true},
		"another policy hides behind a stated role":    {allow + stated, object("e", system, "", "deny"), "", true},
		"a workload of another namespace":              {allow + stated, dataplane("shop"), dataplane("other"), true},
		"nothing changes":                              {allow + stated, dataplane("shop"), dataplane("shop"), false},
		"the role that a control plane gives":          {allow, deny, object("d", system, role, "deny"), false},
		"the role that a control plane gives an owner": {allow, object("d", "shop", "", "deny"), object("d", "shop", "kuma.io/policy-role: workload-owner", "deny"), false},
		"a copy of another zone":                       {allow, deny, strings.Replace(deny, "labels: {", "labels: {k8s.kuma.io/namespace: shop, "+role, 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, recent := sideOf(t, tt.same+tt.old), sideOf(t, tt.same+tt.recent)
			for _, compare := range []func(a, b Side, to string) (*Difference, error){Diff, DiffBeside} {
				d, err := compare(old, recent, "")
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Contains(strings.Join(d.Opens, "; "), "writes workload-owner over it"); got != tt.want {
					t.Errorf("%q, want %t", d.Opens, tt.want)
				}
			}
		})
	}
}

// TestWideningByLostDenies has pairs of the legacy form: released Kuma loses a deny beside another one, and lets its clients in.
func TestWideningByLostDenies(t *testing.T) {
	t.Parallel()
	policy := func(items ...string) string {
		text := "{type: MeshTrafficPermission, name: p, mesh: default, spec: {from: ["
		for i, item := range items {
			kind, action := "{kind: MeshService, name: "+item+"}", "Deny"
			if i == 0 {
				kind, action = "{kind: Mesh}", item
			}
			text += fmt.Sprintf("{targetRef: %s, default: {action: %s}}, ", kind, action)
		}
		return strings.TrimSuffix(text, ", ") + "]}}\n"
	}
	for name, tt := range map[string]struct {
		old, recent string
		// inEither is for two sides that are compared in both directions.
		want, inEither bool
	}{
		"a second deny lets in whom the first one denies": {policy("Allow", "web"), policy("Allow", "web", "api"), true, true},
		"nothing changes":          {policy("Allow", "web", "api"), policy("Allow", "web", "api"), false, false},
		"the second deny goes":     {policy("Allow", "web", "api"), policy("Allow", "web"), false, true},
		"nobody gets in at all":    {policy("Allow", "web"), policy("Deny", "web", "api"), false, false},
		"one deny in the place of": {policy("Allow", "web"), policy("Allow", "api"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, recent := sideOf(t, tt.old), sideOf(t, tt.recent)
			for _, test := range []struct {
				compare func(a, b Side, to string) (*Difference, error)
				a, b    Side
				want    bool
			}{{Diff, old, recent, tt.want}, {DiffBeside, old, recent, tt.inEither}, {DiffBeside, recent, old, tt.inEither}} {
				d, err := test.compare(test.a, test.b, "")
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Contains(strings.Join(d.Opens, "; "), "lets in clients that this item denies"); got != test.want {
					t.Errorf("%q, want %t", d.Opens, test.want)
				}
			}
		})
	}
}

// TestWideningBesideSharedListeners has pairs on a Dataplane with two inbounds: on one port a deny of one of them holds for both.
func TestWideningBesideSharedListeners(t *testing.T) {
	t.Parallel()
	dataplane := func(port int) string {
		return fmt.Sprintf("---\n{type: Dataplane, mesh: default, name: b, networking: {address: 10.0.0.1, inbound: [{name: one, port: 8080}, {name: two, port: %d}]}}\n", port)
	}
	policy := func(section, list string) string {
		return fmt.Sprintf("---\n{type: MeshTrafficPermission, name: p%d, mesh: default, spec: {targetRef: {kind: Dataplane, sectionName: %s}, rules: [{default: {%s: [{spiffeID: {type: Exact, value: spiffe://td/a}}]}}]}}\n", len(list), section, list)
	}
	for name, tt := range map[string]struct {
		old, recent string
		want        bool
	}{
		"the deny of the second inbound goes":  {dataplane(8080) + policy("one", "allow") + policy("two", "deny"), dataplane(8080) + policy("one", "allow"), true},
		"the inbounds have ports of their own": {dataplane(8081) + policy("one", "allow") + policy("two", "deny"), dataplane(8081) + policy("one", "allow"), false},
		"both inbounds have the same policies": {dataplane(8080) + policy("''", "allow"), dataplane(8080) + policy("''", "deny"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Diff(sideOf(t, tt.old), sideOf(t, tt.recent), "")
			if err != nil {
				t.Fatal(err)
			}
			got := len(d.Unasked) > 0 && d.Unasked[0].Policy == "the inbounds b/one and b/two" && len(d.Failures()) > 0
			if got != tt.want {
				t.Errorf("%q, want %t", d.Unasked, tt.want)
			}
		})
	}
}
