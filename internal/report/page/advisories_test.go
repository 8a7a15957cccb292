package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// TestPageAdvisories holds the table of advisories: Envoy's own first, a column for each run.
func TestPageAdvisories(t *testing.T) {
	t.Parallel()
	show := func(id, product string, edit func(*report.Case)) report.Case {
		return reporttest.Changed(reporttest.NewCase(id, id, "1", reporttest.Allowed("/")), func(c *report.Case) {
			c.Advisory = &report.Advisory{ID: id, Product: product, Loses: "a deny"}
			if edit != nil {
				edit(c)
			}
		})
	}
	gated := func(c *report.Case) { c.Passed, c.Skipped, c.NotApplicable = false, "it holds where …", true }
	unclaimed := func(c *report.Case) { gated(c); c.Requests = nil }
	wrong := func(c *report.Case) { c.Passed = false }
	v := newView([]report.Run{
		reporttest.NewRun("1.36.4", show("CVE-2-1", "Istio", wrong), show("CVE-1-1", "Envoy", gated), show("CVE-1-2", "Envoy", nil)),
		reporttest.NewRun("1.40.0", show("CVE-2-1", "Istio", unclaimed), show("CVE-1-1", "Envoy", nil)),
	})
	var got [][]string
	for _, a := range v.Advisories {
		got = append(got, []string{a.ID, a.Cells[0].Words(), a.Cells[0].Class(), a.Cells[1].Words(), a.Cells[1].Class()})
	}
	want := [][]string{
		{"CVE-1-1", "✗ has the flaw", "failed", "✓ not affected", "passed"},
		{"CVE-1-2", "✓ not affected", "passed", "unknown", "absent"},
		{"CVE-2-1", "✗ failed", "failed", "unknown", "absent"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
