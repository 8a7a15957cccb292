package rbac

import (
	"slices"
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/semver"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestEveryAttributeHasARow names each attribute that lacks a row or a column here. The
// forms of a row are the forms that package policy lets ask for the attribute.
func TestEveryAttributeHasARow(t *testing.T) {
	t.Parallel()
	for _, a := range attribute.All() {
		r := rowOf(a)
		if r == nil {
			t.Errorf("attribute %s has no row in package xds: how does Envoy ask?", a.Name)
			continue
		}
		for column, wrong := range map[string]bool{
			"since":     !semver.IsValid("v" + r.since),
			"predicate": (r.predicate != nil) != slices.Contains(a.Forms, policy.Ordered),
			"principal": (r.principal != nil || r.permission != nil) != slices.Contains(a.Forms, policy.Named),
			"route":     (r.route != nil) != a.Routable,
		} {
			if wrong {
				t.Errorf("attribute %s: its row in package xds says otherwise than the attribute in the column %s, or lacks it", a.Name, column)
			}
		}
	}
	if n := len(rows) + len(families); n != len(attribute.All()) {
		t.Errorf("package xds has %d rows for %d attributes", n, len(attribute.All()))
	}
}

// TestPackedAction compares the bytes written by hand with the bytes of the library.
func TestPackedAction(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[policy.Verdict]*rbacv3.Action{
		{Effect: policy.Allow, Origin: "a"}:             {Name: "a", Action: rbacv3.RBAC_ALLOW},
		{Effect: policy.Deny, Origin: "kri_mtp_ü___a_"}: {Name: "kri_mtp_ü___a_", Action: rbacv3.RBAC_DENY},
	} {
		if diff := cmp.Diff(mustAny(want), packedAction(verdict), protocmp.Transform()); diff != "" {
			t.Errorf("(-library +ours):\n%s", diff)
		}
	}
}
