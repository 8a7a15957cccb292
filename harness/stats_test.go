package harness

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

func TestParseCounters(t *testing.T) {
	t.Parallel()
	read, err := parseCounters(strings.Join([]string{
		"http.mesh1_inbound0.rbac.allowed: 1",
		"http.mesh1_inbound0.rbac.denied: 2",
		"http.mesh1_inbound0.rbac.shadow_allowed: 3",
		"http.mesh1_inbound0.rbac.shadow_denied: 18446744073709551615",
		"mesh1_inbound0.rbac.allowed: 10",
		"mesh1_inbound1.rbac.denied: 5",
		"mesh1_inbound1.rbac.policy: 7",
		"http.mesh1_inbound2.rbac.log0_.allowed: 9",
		"http.mesh1_inbound2.rbac.effective_log0_.shadow_allowed: 5",
		"mesh1_inbound2_filter1.rbac.denied: 4",
		"mesh1_inbound2_filter1.rbac.filter1_.shadow_denied: 6",
		"", "no counter at all",
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := countFilters(read)
	filters, sums := map[string][]evidence.FilterCounters{}, map[string]evidence.Counters{}
	for key, counters := range got {
		filters[key.stat] = append(filters[key.stat], counters)
		slices.SortFunc(filters[key.stat], func(a, b evidence.FilterCounters) int { return int(a.Layer) - int(b.Layer) })
		sums[key.stat] = evidence.Sum(filters[key.stat])
	}
	if diff := cmp.Diff([]evidence.FilterCounters{
		{FilterPlace: xds.FilterPlace{Index: 1}, Counters: evidence.Counters{Denied: 4, ShadowDenied: 6}},
		{FilterPlace: xds.FilterPlace{Layer: policy.L7, Logs: true}, Counters: evidence.Counters{Allowed: 9}, Logged: 5},
	}, filters["mesh1_inbound2"]); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
	want := map[string]evidence.Counters{
		"mesh1_inbound0": {Allowed: 11, Denied: 2, ShadowAllowed: 3, ShadowDenied: 1<<64 - 1},
		"mesh1_inbound1": {Denied: 5},
		"mesh1_inbound2": {Denied: 4, ShadowDenied: 6},
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	for _, page := range []string{"mesh1_inbound0.rbac.allowed: many", "mesh1_inbound0.rbac.allowed: -1"} {
		if got, err := parseCounters(page); err == nil || !strings.Contains(err.Error(), "mesh1_inbound0.rbac.allowed") {
			t.Errorf("%q gives %v, %v; want an error that names the counter", page, got, err)
		}
	}
}
