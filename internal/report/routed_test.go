package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// Times, and what an answer had before it was cut, are no evidence: two runs have the same hash.
func TestRoutedHash(t *testing.T) {
	t.Parallel()
	other := reporttest.TimedOut(260)
	other.Bytes, other.Protocol, other.Window, other.Tries = 7, "", nil, 3
	a, b := reporttest.NewRoutedCase("a", "s", reporttest.TimedOut(201)), reporttest.NewRoutedCase("a", "s", other)
	if a.EvidenceSHA256 == "" || a.EvidenceSHA256 != b.EvidenceSHA256 {
		t.Errorf("%s and %s", a.EvidenceSHA256, b.EvidenceSHA256)
	}
	other.Route = "another"
	if c := reporttest.NewRoutedCase("a", "s", other); c.EvidenceSHA256 == a.EvidenceSHA256 {
		t.Error("another route has the same hash")
	}
}

// A request that takes another way in another run is a difference, and a decision.
func TestRoutedDifferences(t *testing.T) {
	t.Parallel()
	lost := reporttest.TimedOut(240)
	lost.Cause, lost.Limit, lost.By, lost.Place, lost.Outcome = "answered", "", "", "", "HTTP 200 with 5 bytes, whole"
	lost.Got = "200"
	moved := reporttest.Answered(85)
	moved.Route = "kri_other"
	before := reporttest.NewRun("1.38.3", reporttest.NewRoutedCase("a", "s", reporttest.TimedOut(201), reporttest.Answered(81)))
	after := reporttest.NewRun("1.40.0", reporttest.NewRoutedCase("a", "s", lost, moved))
	const first, second = "MeshService/backend:80 GET /slow as web with x-version: 2, answered never", "MeshService/backend:80 as web"
	want := []report.Difference{
		{Case: "a", Story: "s", Place: "cases/s.yaml:1", Request: first, Values: []string{
			"requestTimeout 200ms: 504, route kri_mhttpr_default__ns_slow_, backend backend/main",
			"answered: 200, route kri_mhttpr_default__ns_slow_, backend backend/main",
		}},
		{Case: "a", Story: "s", Place: "cases/s.yaml:1", Request: second, Values: []string{
			"answered: 200, route kri_mhttpr_default__ns_slow_", "answered: 200, route kri_other",
		}},
	}
	if diff := cmp.Diff(want, report.Differences([]report.Run{before, after})); diff != "" {
		t.Error(diff)
	}
	var got []string
	for _, c := range report.Compare(before, after).Decisions().Changed {
		got = append(got, c.Request+": "+c.What)
	}
	if diff := cmp.Diff([]string{first + ": outcome", second + ": route"}, got); diff != "" {
		t.Error(diff)
	}
	if all := report.Compare(before, before); !all.Empty() {
		t.Errorf("a run differs from itself: %+v", all.Changed)
	}
}
