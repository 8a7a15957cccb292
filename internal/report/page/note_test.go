package page

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// Texts that differ only in the Envoy of their run are one; a run alone says which.
func TestPageNotes(t *testing.T) {
	t.Parallel()
	gate := "it holds from 1.39.3 only; on Envoy %s: the case wants deny"
	for name, tt := range map[string]struct {
		reasons [3]string
		want    []note
	}{
		"alike":       {[3]string{"old", "old", "old"}, []note{{Text: "old"}}},
		"by version":  {[3]string{fmt.Sprintf(gate, "1.37.0"), fmt.Sprintf(gate, "1.38.3")}, []note{{Text: "it holds from 1.39.3 only; on this Envoy: the case wants deny", On: "1.37.0 and 1.38.3"}}},
		"one alone":   {[3]string{fmt.Sprintf(gate, "1.37.0")}, []note{{Text: "it holds from 1.39.3 only; on Envoy 1.37.0: the case wants deny", On: "1.37.0"}}},
		"another too": {[3]string{fmt.Sprintf(gate, "1.37.0"), "Envoy 1.37.0 is old", fmt.Sprintf(gate, "1.40.0")}, []note{{Text: "it holds from 1.39.3 only; on this Envoy: the case wants deny", On: "1.37.0 and 1.40.0"}, {Text: "Envoy 1.37.0 is old", On: "1.38.3"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs []report.Run
			var labels []string
			var cases []*report.Case
			for i, version := range []string{"1.37.0", "1.38.3", "1.40.0"} {
				runs, labels, cases = append(runs, report.Run{Envoy: version}), append(labels, version), append(cases, &report.Case{Skipped: tt.reasons[i]})
			}
			got := collectNotes("", runs, labels, cases, func(c *report.Case) []string { return textList(c.Skipped, true) })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A link to evidence stays valid when cases, requests and runs are added.
func TestPageEvidenceIDsStay(t *testing.T) {
	t.Parallel()
	ids := func(runs ...report.Run) map[string]string {
		out := map[string]string{}
		for _, p := range newView(runs).Profiles {
			for _, s := range p.Stories {
				for _, c := range s.Cases {
					for _, e := range c.Evidence {
						out[c.Name+" "+e.Asked+" "+e.Outcome] = e.ID
					}
				}
			}
		}
		return out
	}
	before := ids(reporttest.NewRun("1.40.0", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/x"), reporttest.Denied("/y"))))
	after := ids(
		reporttest.NewRun("1.40.0", reporttest.NewCase("new", "r", "1", reporttest.Allowed("/x")), reporttest.NewCase("a", "s", "1", reporttest.Denied("/w"), reporttest.Allowed("/x"), reporttest.Denied("/y"))),
		reporttest.NewRun("1.41.0", reporttest.NewCase("a", "s", "1", reporttest.Denied("/x"))),
	)
	if len(before) != 2 || len(after) != 5 {
		t.Fatalf("there are %v and %v", before, after)
	}
	seen := map[string]bool{}
	for _, id := range after {
		seen[id] = true
	}
	if len(seen) != len(after) {
		t.Errorf("IDs appear twice in %v", after)
	}
	for what, id := range before {
		if after[what] != id {
			t.Errorf("%s was %s, is %s", what, id, after[what])
		}
	}
}
