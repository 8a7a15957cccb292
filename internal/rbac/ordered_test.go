package rbac

import (
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/meshproof/meshproof/policy"
)

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
