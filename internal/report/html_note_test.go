package report

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Texts that differ only in the Envoy of their run are one; a run alone says which.
func TestPageNotes(t *testing.T) {
	t.Parallel()
	gate := "it holds from 1.39.3 only; on Envoy %s: the case wants deny"
	for name, tt := range map[string]struct {
		reasons [3]string
		want    []pageNote
	}{
		"alike":       {[3]string{"old", "old", "old"}, []pageNote{{Text: "old"}}},
		"by version":  {[3]string{fmt.Sprintf(gate, "1.37.0"), fmt.Sprintf(gate, "1.38.3")}, []pageNote{{Text: "it holds from 1.39.3 only; on this Envoy: the case wants deny", On: "1.37.0 and 1.38.3"}}},
		"one alone":   {[3]string{fmt.Sprintf(gate, "1.37.0")}, []pageNote{{Text: "it holds from 1.39.3 only; on Envoy 1.37.0: the case wants deny", On: "1.37.0"}}},
		"another too": {[3]string{fmt.Sprintf(gate, "1.37.0"), "Envoy 1.37.0 is old", fmt.Sprintf(gate, "1.40.0")}, []pageNote{{Text: "it holds from 1.39.3 only; on this Envoy: the case wants deny", On: "1.37.0 and 1.40.0"}, {Text: "Envoy 1.37.0 is old", On: "1.38.3"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs []Run
			var labels []string
			var cases []*Case
			for i, version := range []string{"1.37.0", "1.38.3", "1.40.0"} {
				runs, labels, cases = append(runs, Run{Envoy: version}), append(labels, version), append(cases, &Case{Skipped: tt.reasons[i]})
			}
			got := pageNotes("", runs, labels, cases, func(c *Case) []string { return pageText(c.Skipped, true) })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A link to evidence holds when cases, requests and runs are added.
func TestPageEvidenceIDsStay(t *testing.T) {
	t.Parallel()
	ids := func(runs ...Run) map[string]string {
		out := map[string]string{}
		for _, p := range newPageView(runs).Profiles {
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
	before := ids(newRun("1.40.0", newCase("a", "s", "1", allowed("/x"), denied("/y"))))
	after := ids(
		newRun("1.40.0", newCase("new", "r", "1", allowed("/x")), newCase("a", "s", "1", denied("/w"), allowed("/x"), denied("/y"))),
		newRun("1.41.0", newCase("a", "s", "1", denied("/x"))),
	)
	if len(before) != 2 || len(after) != 5 {
		t.Fatalf("there are %v and %v", before, after)
	}
	seen := map[string]bool{}
	for _, id := range after {
		seen[id] = true
	}
	if len(seen) != len(after) {
		t.Errorf("IDs stand twice in %v", after)
	}
	for what, id := range before {
		if after[what] != id {
			t.Errorf("%s was %s, is %s", what, id, after[what])
		}
	}
}
