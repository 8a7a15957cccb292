package harness

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/harness/evidence"
)

func TestParseCounters(t *testing.T) {
	t.Parallel()
	got, err := parseCounters(strings.Join([]string{
		"http.mesh1_inbound0.rbac.allowed: 1",
		"http.mesh1_inbound0.rbac.denied: 2",
		"http.mesh1_inbound0.rbac.shadow_allowed: 3",
		"http.mesh1_inbound0.rbac.shadow_denied: 18446744073709551615",
		"mesh1_inbound0.rbac.allowed: 10",
		"mesh1_inbound1.rbac.denied: 5",
		"mesh1_inbound1.rbac.policy: 7",
		"", "no counter at all",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]evidence.Counters{
		"mesh1_inbound0": {Allowed: 11, Denied: 2, ShadowAllowed: 3, ShadowDenied: 1<<64 - 1},
		"mesh1_inbound1": {Denied: 5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	for _, page := range []string{"mesh1_inbound0.rbac.allowed: many", "mesh1_inbound0.rbac.allowed: -1"} {
		if got, err := parseCounters(page); err == nil || !strings.Contains(err.Error(), "mesh1_inbound0.rbac.allowed") {
			t.Errorf("%q gives %v, %v; want an error that names the counter", page, got, err)
		}
	}
}
